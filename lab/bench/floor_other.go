//go:build !linux

package bench

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

func floorTime(match.Contestant, int, []referee.Traffic, int) (time.Duration, error) {
	return 0, errors.New("the floor of a turn is measured on Linux only")
}
