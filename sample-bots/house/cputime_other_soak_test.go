//go:build soak && !unix

package house

import "time"

var begun = time.Now()

// cpuTime returns the time that has passed, where the processor time cannot be had.
func cpuTime() time.Duration { return time.Since(begun) }
