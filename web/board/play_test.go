package board_test

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/web/board"
)

// sample is a game to be played at random.
type sample struct {
	name    string
	game    *rules.Game
	options map[string]string
	match   uint64 // its seed
	fault   *referee.Fault
}

var samples = []sample{
	{name: "brisca", game: brisca.Game, options: map[string]string{"players": "4", "teams": "yes", "exchange": "yes"}, match: 31},
	{name: "brisca-three", game: brisca.Game, options: map[string]string{"players": "3"}, match: 5},
	{name: "tute", game: tute.Game, options: map[string]string{"exchange": "yes"}, match: 17602},
	{name: "tute-four", game: tute.Game, options: map[string]string{"players": "4"}, match: 8},
	{name: "podrida", game: podrida.Game, match: 4},
	{name: "podrida-twelve", game: podrida.Game, options: map[string]string{"players": "12"}, match: 1},
	{
		name: "podrida-fault", game: podrida.Game, options: map[string]string{"players": "5"}, match: 9,
		fault: &referee.Fault{Ply: 22, Reason: fault.Reason{Kind: fault.IllegalMove, Move: "7o", Detail: "is not in the list of the turn"}},
	},
	{name: "tebes", game: tebes.Game, match: 2},
	{
		name: "tebes-fault", game: tebes.Game, options: map[string]string{"board": "random"}, match: 3,
		fault: &referee.Fault{Ply: 7, Reason: fault.Reason{Kind: fault.LateBank, Margin: 50}},
	},
	{name: "teeko", game: teeko.Game, match: 551},
	{name: "teeko-drop", game: teeko.Game, options: map[string]string{"start": "drop"}, match: 552},
}

// find returns a sample by its name.
func find(t testing.TB, name string) sample {
	i := slices.IndexFunc(samples, func(s sample) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("sample %q does not exist", name)
	}
	return samples[i]
}

// play makes the replay of a sample.
func play(t testing.TB, c sample) *referee.Replay {
	t.Helper()
	return refereetest.Replay(t, c.game, c.options, c.match, c.fault)
}

// rebuilt returns a sample's game.
func rebuilt(t testing.TB, c sample, r *referee.Replay) *board.Recording {
	t.Helper()
	return kit.Get[*board.Recording](t)(board.NewRecording(r, c.game))
}
