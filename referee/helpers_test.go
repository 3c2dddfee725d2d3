package referee

import (
	"fmt"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// variant is refereetest.Variant, which this package cannot import.
func variant(t kit.T, game, options string) *rules.Variant {
	g := kit.Get[*rules.Game](t)(games.Find(game))
	return kit.Get[*rules.Variant](t)(g.Resolve(protocol.Pairs(options).Map()))
}

// alone returns a variant in which each seat is a side. It has nothing else.
func alone(players int) *rules.Variant { return &rules.Variant{Players: players, Sides: players} }

// patient is a clock that no test exceeds.
var patient = Clock{Move: time.Minute, Margin: 50 * time.Millisecond, Startup: time.Minute}

// identities returns the seats of bots that are not started.
func identities(n int) (seats []ReplaySeat) {
	for i := range n {
		seats = append(seats, ReplaySeat{Name: fmt.Sprintf("bot%d", i), SHA256: strings.Repeat("0", 64)})
	}
	return seats
}

// raced reports whether the test binary has the race detector.
var raced = kit.HasRaceDetector
