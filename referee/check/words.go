package check

import (
	"fmt"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

// CommandArgs returns the arguments with which timba checks a bot under the conditions of a match: "check", the bot,
// and flags. c is the clock of the match, and l has its limits. If game is "", the bot is checked in all games. A
// value in c or l that is zero or the default gets no flag.
func CommandArgs(bot, game string, c referee.Clock, l sandbox.Limit) []string {
	words := []string{"check", bot}
	if game != "" {
		words = append(words, "--games", game)
	}
	set := func(flag string, value, usual int64, unit string) {
		if value != 0 && value != usual {
			words = append(words, flag, fmt.Sprint(value)+unit)
		}
	}
	d := Defaults().Clock
	set("--movetime", c.Move.Milliseconds(), d.Move.Milliseconds(), "")
	set("--margin", c.Margin.Milliseconds(), d.Margin.Milliseconds(), "")
	set("--startup", c.Startup.Milliseconds(), d.Startup.Milliseconds(), "")
	set("--memory", l.Memory>>20, sandbox.DefaultLimit.Memory>>20, "m")
	set("--processes", int64(l.Processes), int64(sandbox.DefaultLimit.Processes), "")
	return words
}
