package run

import (
	"fmt"
	"time"

	"github.com/timba-arena/timba/referee"
)

// Clock is the clock of games in trainings and experiments. It gives bots more time than they use, because their
// options limit their depth, nodes or time.
var Clock = referee.Clock{Move: 10 * time.Minute, Margin: time.Second, Startup: time.Minute}

// FirstFault returns the first fault of a bot in a game as an error, or nil if there was none. The outcome of a
// game with a fault should not be used.
func FirstFault(g *referee.GameResult) error {
	if len(g.Faults) == 0 {
		return nil
	}
	f := g.Faults[0]
	return fmt.Errorf("%s had a fault: %s", g.Seats[f.Seat].Name, f.Text)
}
