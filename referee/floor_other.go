//go:build !linux

package referee

import (
	"errors"
	"time"
)

// Floor is measured on Linux only.
func Floor(Bot, int, []Traffic, int) (time.Duration, error) {
	return 0, errors.New("referee: the floor of a turn is measured on Linux only")
}
