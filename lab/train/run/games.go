package run

import (
	"fmt"
	"time"

	"github.com/timba-arena/timba/referee"
)

// Clock is that of games for a training or an experiment. It is longer than any bot thinks: depth,
// nodes and their own time limit them.
var Clock = referee.Clock{Move: 10 * time.Minute, Margin: time.Second, Startup: time.Minute}

// FirstFault returns the first fault of a bot in a game as an error, nil for none. What a game with a fault
// came to means nothing.
func FirstFault(g *referee.GameResult) error {
	if len(g.Faults) == 0 {
		return nil
	}
	f := g.Faults[0]
	return fmt.Errorf("%s had a fault: %s", g.Seats[f.Seat].Name, f.Text)
}
