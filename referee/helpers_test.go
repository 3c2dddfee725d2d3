package referee

import (
	"fmt"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/refereetest"
)

// variant is a game with options from "key=value key=value".
var variant = refereetest.Variant

// alone is a variant of which only the seats matter: each plays for itself.
var alone = refereetest.Alone

// patient is a clock that no test runs down.
var patient = Clock{Move: time.Minute, Margin: 50 * time.Millisecond, Startup: time.Minute}

// identities returns the seats of bots that nobody starts.
func identities(n int) (seats []ReplaySeat) {
	for i := range n {
		seats = append(seats, ReplaySeat{Name: fmt.Sprintf("bot%d", i), SHA256: strings.Repeat("0", 64)})
	}
	return seats
}

// raced reports whether the race detector is in this test binary.
var raced = kit.Raced
