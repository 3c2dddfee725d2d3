package playback

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/terminal/draw"
)

func TestScreen(t *testing.T) {
	illegal := &referee.Fault{Ply: 5, Reason: fault.Reason{Kind: fault.IllegalMove, Move: "7o", Detail: "is not in the list of the turn"}}
	timeout := &referee.Fault{Ply: 4, Reason: fault.Reason{Kind: fault.LateBank, Margin: 50}, Credit: 340}
	three := map[string]string{"players": "3"}
	small := map[string]string{"size": "4"}
	beginning := func(s *Screen) {
		s.head()
		for i := range 4 {
			s.ShowFrame(i)
		}
	}
	for name, c := range map[string]struct {
		replay *referee.Replay
		show   func(*Screen)
		screen Screen
	}{
		"own-clock":     {ownClock(refereetest.Replay(t, teeko.Game, nil, 7, nil)), (*Screen).head, Screen{Seat: -1}},
		"brisca-all":    {refereetest.Replay(t, brisca.Game, nil, 7, nil), beginning, Screen{Seat: -1, All: true}},
		"brisca-seat":   {refereetest.Replay(t, brisca.Game, nil, 7, nil), beginning, Screen{Seat: 1}},
		"tebes-forfeit": {refereetest.Replay(t, tebes.Game, small, 2, timeout), (*Screen).ShowGame, Screen{Seat: -1}},
		"brisca-stand-in": {refereetest.Replay(t, brisca.Game, three, 3, illegal), func(s *Screen) {
			s.ShowFrame(5)
			s.ShowFrame(len(s.Game.Frames) - 1)
		}, Screen{Seat: -1}},
		"podrida-plain": {refereetest.Replay(t, podrida.Game, three, 3, illegal), func(s *Screen) {
			for i := range 9 {
				s.ShowFrame(i)
			}
		}, Screen{Seat: -1, Plain: true, All: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			s := c.screen
			s.Writer, s.Style, s.Game = &got, draw.Style{Unicode: true}, gameOf(t, c.replay)
			c.show(&s)
			kit.Golden(t, name+".txt", got.String())
		})
	}
}

// ownClock returns a replay in which seat 1 has its own clock.
func ownClock(r *referee.Replay) *referee.Replay {
	r.Seats[1].Clock = &referee.ClockMS{Movetime: 50, Margin: 50}
	return r
}

// gameOf returns the positions of a replay.
func gameOf(t *testing.T, r *referee.Replay) *Walk {
	t.Helper()
	g, err := games.Find(r.Game)
	if err != nil {
		t.Fatal(err)
	}
	game, err := New(r, g)
	if err != nil {
		t.Fatal(err)
	}
	return game
}

// TestFaultAfterTheEnd checks that a fault that comes after the last move of the replay is shown at the end.
func TestFaultAfterTheEnd(t *testing.T) {
	r := refereetest.Replay(t, brisca.Game, nil, 7, nil)
	r.Faults = []referee.Fault{{Seat: 0, Ply: 2}, {Seat: 1, Ply: 99}}
	for i, fr := range gameOf(t, r).Frames {
		if want := map[int]int{2: 1, len(r.Moves): 1}[i]; len(fr.Faults) != want {
			t.Errorf("frame %d has the faults %v, want %d", i, fr.Faults, want)
		}
	}
}

// TestNewRefuses checks that New returns an error for a replay that breaks the rules.
func TestNewRefuses(t *testing.T) {
	r := refereetest.Replay(t, brisca.Game, nil, 7, nil)
	r.Moves[3].Move = r.Moves[0].Move
	if _, err := New(r, brisca.Game); err == nil || !strings.HasPrefix(err.Error(), "replay: move 3 of seat ") {
		t.Errorf("got %v", err)
	}
	if _, err := New(r, tebes.Game); err == nil {
		t.Error("a replay of another game is shown")
	}
}
