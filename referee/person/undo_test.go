package person

import (
	"context"
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

// typed is a Prompter that types lines, and then the first move again and again.
type typed []string

func (l *typed) Ask(context.Context, Question) (string, error) {
	if len(*l) == 0 {
		return "1", nil
	}
	line := (*l)[0]
	*l = (*l)[1:]
	return line, nil
}

func (l *typed) Close() {}

// After several moves the last one is taken back, and those before it are made again.
func TestUndo(t *testing.T) {
	t.Parallel()
	greedy := kit.Get[house.Player](t)(house.Find("greedy"))
	serve := func(in io.Reader, out io.Writer) error { return protocol.Serve(in, out, "", "", greedy.Answer) }
	var out strings.Builder
	lines := &typed{"1", "1", "1", "1", "undo", "undo", "2"}
	p := &Person{
		Match: match.Match{
			Variant: refereetest.Variant(t, "brisca", ""), Deals: 1, Only: []int{0}, Clock: referee.DefaultClock,
			Bots: []match.Bot{{Name: "you", Untimed: true}, {Name: "@greedy", Untimed: true, Serve: serve}},
		},
		In: lines, Out: &out, Repeats: true,
	}
	p.Match.Clock.Startup = time.Minute
	kit.Get[*referee.Result](t)(p.Play(t.Context()))
	if n := strings.Count(out.String(), "you take back"); n != 2 || strings.Contains(out.String(), "differently") {
		t.Errorf("%d moves are taken back:\n%s", n, out.String())
	}
}
