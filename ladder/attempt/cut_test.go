package attempt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/referee"
)

func TestCutInfo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxInfo/2-InfoSize(""))
	r := referee.Replay{Seats: make([]referee.ReplaySeat, 2), Moves: []referee.ReplayMove{
		{Seat: 0, Info: []string{long, long}}, {Seat: 1, Info: []string{"a", "b"}},
		{Seat: 0, Info: []string{"no room"}}, {Seat: 1, Info: []string{"c"}},
	}}
	cutInfo(&r)
	for i, want := range []int{2, 2, 0, 1} {
		if got := len(r.Moves[i].Info); got != want {
			t.Errorf("move %d has %d infos, want %d", i, got, want)
		}
	}
}

// Info is kept from the first games on, up to the limit. Cutting twice has the same result as cutting once.
func TestCutMatchInfo(t *testing.T) {
	t.Parallel()
	var games []*referee.GameResult
	for i := range 5 {
		g := new(referee.GameResult)
		g.Match.Deal = i
		g.Moves = []referee.ReplayMove{{Info: []string{"1234567", "1234567"}}}
		games = append(games, g)
	}
	for range 2 {
		cut(games, 2, 4*InfoSize("1234567"))
		for i, g := range games {
			if kept := len(g.Moves[0].Info); (kept > 0) != (i < 2) {
				t.Errorf("of game %d %d infos are kept", i, kept)
			}
		}
	}
}

// All logs of a bot in a match share one limit, but the log of a game with a fault is kept whatever the
// earlier games wrote. Cutting twice has the same result as cutting once.
func TestCutLogs(t *testing.T) {
	t.Parallel()
	var games []*referee.GameResult
	for i := range 100 {
		g := &referee.GameResult{Bots: []int{0, 1}, Logs: [][]byte{bytes.Repeat([]byte("x"), 1<<20), []byte("why it failed")}}
		g.Match.Deal = i
		if i == 99 {
			g.Faults = []referee.Fault{{Seat: 1}}
		}
		games = append(games, g)
	}
	games[98].Logs[1] = bytes.Repeat([]byte("x"), 1<<20)
	sum := func() (n int) {
		for _, g := range games {
			n += len(g.Logs[0])
		}
		return n
	}
	Cut(games, 2)
	once := sum()
	if once > maxMatchLog+100*cutlog.MaxNote || once < maxMatchLog {
		t.Errorf("%d bytes are left of a flood", once)
	}
	if got := string(games[99].Logs[1]); got != "why it failed" {
		t.Errorf("of a game with a fault %q is kept", got)
	}
	if Cut(games, 2); sum() != once {
		t.Errorf("of %d bytes %d are left", once, sum())
	}
}
