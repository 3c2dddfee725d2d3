//go:build !linux

package bench

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// floorTime returns an error: it is implemented on Linux only.
func floorTime(match.Contestant, int, []referee.Traffic, int) (time.Duration, error) {
	return 0, errors.New("the floor of a turn is measured on Linux only")
}
