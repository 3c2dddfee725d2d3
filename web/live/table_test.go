package live_test

import (
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
)

// A game of people is shown as a match is, without hands, and is listed only if listed is set. Its watchers
// are counted and learn its end.
func TestTable(t *testing.T) {
	inWorld(t, teeko, quick(), func(t *testing.T, w *world) {
		w.begun()
		v := refereetest.Variant(t, "brisca", "")
		var moved atomic.Int64
		table := w.hub.ShowTable("LISTED", v, []string{"anna", ladder.GuestName}, true, func() { moved.Add(1) })
		w.hub.ShowTable("ALONE", v, []string{"anna", "@random"}, false, func() {})
		list := w.hub.Games()
		if len(list) != 2 || list[1].ID == 0 || !slices.Equal(list[0].Bots, []string{"anna", "guest"}) || !slices.Equal(list[0].Sides, []int{0, 1}) ||
			list[0].Topic != "table/LISTED" || list[0].URL != "/play/LISTED" || list[0].Title != "Brisca" {
			t.Errorf("the list is %+v", list)
		}
		c, lost := w.dial(""), w.dial("")
		for _, one := range []*client{c, lost} {
			one.say(`{"watch":"table/LISTED"}`)
		}
		m := match.Match{Variant: v, Seed: referee.NewSeed(), Clock: referee.Clock{Move: time.Minute, Startup: time.Minute}}
		m.Observer.Watch = table.Position
		moves := make(chan struct{})
		for _, name := range []string{"anna", ladder.GuestName} {
			m.Bots = append(m.Bots, match.Contestant{Name: name, Hash: bundle, Serve: func(in io.Reader, out io.Writer) error {
				return house.Run("random", in, gated{out, moves})
			}})
		}
		played := make(chan error, 1)
		go func() {
			_, err := m.PlayGame(t.Context())
			played <- err
		}()
		moves <- struct{}{}
		var all collected
		for len(all.at) == 0 || len(all.moves[all.at[0]]) == 0 {
			w.Must(all.add(c.page("table/LISTED")))
		}
		lost.page("table/LISTED")
		turn := time.Now()
		time.Sleep(5 * time.Second)
		late := w.dial("")
		late.say(`{"watch":"table/LISTED"}`)
		if d := late.page("table/LISTED"); len(d.Left) != 2 || d.Left[0] != time.Minute.Milliseconds() || !time.UnixMilli(d.Since).Add(time.Second).After(turn) || time.UnixMilli(d.Since).After(turn) {
			t.Errorf("who comes during a turn reads the clocks %v since %d, want since %d", d.Left, d.Since, turn.UnixMilli())
		}
		late.Close()
		bubble.Settle()
		if n := w.hub.WatcherCount("LISTED"); n != 2 || moved.Load() != 4 {
			t.Errorf("%d watch, after %d have come or gone", n, moved.Load())
		}
		lost.Close()
		bubble.Settle()
		close(moves)
		w.Must(<-played)
		table.End(ladder.PlayFinished)
		for all.over == "" {
			w.Must(all.add(c.page("table/LISTED")))
		}
		frames := all.frames[all.at[0]]
		if len(all.at) != 1 || len(frames) != 41 || all.over != "finished" || moved.Load() != 5 {
			t.Errorf("what has come is %d games, %d positions and %q; %d have come or gone", len(all.at), len(frames), all.over, moved.Load())
		}
		for _, f := range frames {
			if hand := f.Common["hand"]; strings.Trim(hand, "?,-") != "" || f.PerSeat != nil {
				t.Fatalf("a position has an open hand: %+v", f)
			}
		}
		late = w.dial("")
		late.say(`{"watch":"table/LISTED"}`)
		if d := late.page("table/LISTED"); d.Over == nil || w.hub.WatcherCount("LISTED") != 0 {
			t.Errorf("who comes later gets %+v", d)
		}
	})
}

// bundle is the hash of a test's program.
const bundle = "0000000000000000000000000000000000000000000000000000000000000000"

// A game that cannot be shown does no harm, and the next game of its match is shown.
func TestNotShown(t *testing.T) {
	inWorld(t, teeko, quick(), func(t *testing.T, w *world) {
		w.begun()
		v := refereetest.Variant(t, "brisca", "")
		table := w.hub.ShowTable("TABLE", v, []string{"one", "two"}, true, func() {})
		games := 0
		var c *client
		m := match.Match{
			Variant: v, Deals: 2, OnlyRotations: []int{0, 1}, Seed: referee.NewSeed(),
			Clock: referee.Clock{Move: time.Minute, Startup: time.Minute},
		}
		m.Observer.Watch = func(g *referee.Game) {
			shown := *g
			if games == 0 && len(g.Record.Moves) > 0 {
				shown.Record.Moves = slices.Clone(g.Record.Moves)
				shown.Record.Moves[0].Move = "none"
			}
			if games == 0 && len(g.Record.Moves) == 5 { // until then nobody watches
				c = w.dial("")
				c.say(`{"watch":"table/TABLE"}`)
			}
			table.Position(&shown)
			bubble.Settle()
		}
		for _, name := range []string{"one", "two"} {
			m.Bots = append(m.Bots, match.Contestant{Name: name, Hash: bundle, Serve: func(in io.Reader, out io.Writer) error {
				return house.Run("random", in, out)
			}})
		}
		w.Must(m.Play(t.Context(), func(*referee.GameResult) error { games++; return nil }))
		table.End(ladder.PlayFinished)
		last := 0
		for {
			d := c.page("table/TABLE")
			if d.Over != nil {
				break
			}
			last = d.Ply + len(d.Frames) - 1
		}
		if last != 40 {
			t.Errorf("the last position of the second game that is shown is %d", last)
		}
	})
}
