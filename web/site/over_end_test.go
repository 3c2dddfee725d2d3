package site

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/web/messages"
)

// The result of a board game says how it ended, unless the game is of another module.
func TestOverEnd(t *testing.T) {
	who := speaker{&visit{language: kit.Get[[]*messages.Language](t)(messages.All())[0]}, 0, nil}
	for name, want := range map[string]string{"teeko": "Four pieces form a line or a square.", "tictactoe": ""} {
		g, o := *teeko.Game, resultCard{}
		g.Name = name
		if o.setEnding(who, &referee.Replay{Ranks: []int{1, 2}}, &g, nil); o.Ending != want {
			t.Errorf("%s ends with %q, want %q", name, o.Ending, want)
		}
	}
}
