//go:build soak && !unix

package house

import "time"

var begun = time.Now()

// cpuTime returns the elapsed time on systems where the CPU time is not available.
func cpuTime() time.Duration { return time.Since(begun) }
