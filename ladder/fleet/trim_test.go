package fleet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee"
)

func TestCutLog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ log, want string }{
		{"", ""},
		{"0123456789", "0123456789"},
		{"0123456789a", "01234\n[1 bytes cut]\n6789a"},
		{strings.Repeat("x", 20) + "end", "xxxxx\n[13 bytes cut]\nxxend"},
	} {
		if got := string(cutLog([]byte(test.log), 10)); got != test.want {
			t.Errorf("%q: %q, want %q", test.log, got, test.want)
		}
	}
}

// A game with a fault keeps its log, however much the games before it wrote.
func TestLogShare(t *testing.T) {
	t.Parallel()
	s := logShare{left: keepMatchLog}
	flood, kept := bytes.Repeat([]byte("x"), 1<<20), 0
	for range 20 {
		kept += len(s.take(flood, false))
	}
	if kept < keepMatchLog || kept > keepMatchLog+20*100 {
		t.Errorf("%d bytes are kept of a match, want %d and the notes", kept, keepMatchLog)
	}
	if got := s.take([]byte("why it failed"), true); string(got) != "why it failed" {
		t.Errorf("of a game with a fault %q is kept", got)
	}
}

func TestCutInfo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", keepInfo/2)
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

// What an honest worker hands in stays as it is; more than that is cut, and seats that there are not
// do no harm.
func TestTrim(t *testing.T) {
	t.Parallel()
	game := func(log int) *referee.Result {
		return &referee.Result{Bots: []int{0, 1}, Logs: [][]byte{bytes.Repeat([]byte("x"), log), nil}}
	}
	honest := Result{}
	share := logShare{left: keepMatchLog}
	for range 20 {
		g := game(1 << 20)
		g.Logs[0] = share.take(g.Logs[0], false)
		honest.Games = append(honest.Games, g)
	}
	before := 0
	for _, g := range honest.Games {
		before += len(g.Logs[0])
	}
	honest.Trim(2)
	after := 0
	for _, g := range honest.Games {
		after += len(g.Logs[0])
	}
	if before != after {
		t.Errorf("of %d honest bytes %d are left", before, after)
	}
	flood := Result{}
	for range 100 {
		flood.Games = append(flood.Games, game(1<<20))
	}
	flood.Games[3].Bots = []int{-1, 99}
	flood.Trim(2)
	sum := 0
	for _, g := range flood.Games {
		sum += len(g.Logs[0])
	}
	if most := keepMatchLog + referee.MaxFaults*keepGameLog + 100*note; sum > most || sum < keepMatchLog {
		t.Errorf("%d bytes are left of a flood, want %d at most", sum, most)
	}
}
