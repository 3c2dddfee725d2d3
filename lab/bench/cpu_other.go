//go:build !unix

package bench

import "time"

// cpu returns 0: the processor time is not known.
func cpu() time.Duration { return 0 }
