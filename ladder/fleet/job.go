package fleet

import (
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
)

// NewJob returns the job of an attempt at a match. versions are those of its slots. Core and
// Together are left to the caller.
func NewJob(m *ladder.Match, versions []ladder.Version, attempt int, seed referee.Hex) Job {
	j := Job{
		Match: m.ID, Attempt: attempt, Seed: seed,
		Game: m.Game, Options: m.Options, Deals: m.Deals, Rated: m.Rated, Clock: m.Clock,
		Core: cores.Any,
	}
	taken := map[string]bool{}
	for _, v := range versions {
		b := Bot{Version: v.ID, Name: uniqueName(v, taken), Label: v.Label}
		switch {
		case v.House():
			b.House = v.Bot
		case v.Remote:
			b.Remote = true
		default:
			b.Hash, b.Command, b.Language = v.Hash, v.Command, v.Language
		}
		if b.Label == "" {
			b.Label = fmt.Sprint(v.Number)
		}
		j.Bots = append(j.Bots, b)
	}
	return j
}

// uniqueName returns the bot's name, with the version's number if another version of the bot
// plays, too.
func uniqueName(v ladder.Version, taken map[string]bool) string {
	name := v.Bot
	if taken[name] {
		name = fmt.Sprintf("%s/%d", v.Bot, v.Number)
	}
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s/%d#%d", v.Bot, v.Number, n)
	}
	taken[name] = true
	return name
}
