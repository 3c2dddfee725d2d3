package person

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
)

// TestUndo checks that after several moves the last one is taken back, and that those before it are made again.
func TestUndo(t *testing.T) {
	t.Parallel()
	greedy := kit.Get[house.Player](t)(house.NewPlayer("greedy"))
	serve := func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", greedy.Answer) }
	var out strings.Builder
	typed := "1\n1\n1\n1\nundo\nundo\n2\n" + strings.Repeat("1\n", 40) // a hand of Brisca has fewer moves
	p := &Person{
		Match: match.Match{
			Variant: refereetest.Variant(t, "brisca", ""), Clock: referee.DefaultClock,
			Bots: []match.Contestant{{Name: "you", Untimed: true}, {Name: "@greedy", Untimed: true, Serve: serve}},
		},
		Prompter: kit.Get[Prompter](t)(NewPrompter(strings.NewReader(typed), &out)), Out: &out, Repeats: true,
	}
	p.Match.Clock.Startup = time.Minute
	kit.Get[*referee.GameResult](t)(p.Play(t.Context()))
	if n := strings.Count(out.String(), "you take back"); n != 2 || strings.Contains(out.String(), "differently") {
		t.Errorf("%d moves are taken back:\n%s", n, out.String())
	}
}
