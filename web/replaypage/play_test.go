package replaypage

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/podrida"
	"github.com/timba-arena/timba/referee/rules/tebes"
	"github.com/timba-arena/timba/referee/rules/teeko"
	"github.com/timba-arena/timba/referee/rules/tute"
)

// sample is a game to be played at random.
type sample struct {
	name    string
	game    rules.Game
	options map[string]string
	match   uint64 // its seed
	fault   *referee.Fault
}

var bots = []string{"alfil", "bruna", "carmela", "duque", "estoque", "farol", "gitana", "hidalgo", "infanta", "jota", "kermes", "lucero"}

var samples = []sample{
	{name: "brisca", game: brisca.Game{}, options: map[string]string{"players": "4", "teams": "yes", "exchange": "yes"}, match: 31},
	{name: "brisca-three", game: brisca.Game{}, options: map[string]string{"players": "3"}, match: 5},
	{name: "tute", game: tute.Game{}, options: map[string]string{"exchange": "yes"}, match: 17602},
	{name: "tute-four", game: tute.Game{}, options: map[string]string{"players": "4"}, match: 8},
	{name: "podrida", game: podrida.Game{}, match: 4},
	{name: "podrida-twelve", game: podrida.Game{}, options: map[string]string{"players": "12"}, match: 1},
	{
		name: "podrida-fault", game: podrida.Game{}, options: map[string]string{"players": "5"}, match: 9,
		fault: &referee.Fault{Seat: 2, Ply: 22, Code: "illegal", Text: `"7o" is not one of the listed moves`},
	},
	{name: "tebes", game: tebes.Game{}, match: 2},
	{name: "tebes-fault", game: tebes.Game{}, options: map[string]string{"board": "random"}, match: 3, fault: &referee.Fault{Seat: 1, Ply: 7, Code: "timeout", Text: "no move within 1000 ms and the margin of 50 ms"}},
	{name: "teeko", game: teeko.Game{}, match: 551},
	{name: "teeko-drop", game: teeko.Game{}, options: map[string]string{"start": "drop"}, match: 552},
}

// find is a sample by its name.
func find(t testing.TB, name string) sample {
	i := slices.IndexFunc(samples, func(s sample) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("there is no sample %q", name)
	}
	return samples[i]
}

// play makes the replay of a sample: deal 0 of a match, all moves at random,
// scores that wander, and the fault where there is one.
func play(t testing.TB, c sample) *referee.Replay {
	t.Helper()
	v, err := rules.Settle(c.game, c.options)
	if err != nil {
		t.Fatal(err)
	}
	var match rules.Seed
	binary.BigEndian.PutUint64(match[24:], c.match)
	seed := match.Derive("deal/0")
	inc := int64(0)
	r := &referee.Replay{
		Timba: 1, Game: c.game.Name(), Options: map[string]string{}, Seed: referee.Hex(seed), Commitment: referee.Commitment(match),
		Clock: referee.ReplayClock{Bank: 60000, Inc: &inc, Margin: 50}, Faults: []referee.Fault{},
	}
	r.Reveal(match)
	for _, o := range v.Settings() {
		r.Options[o.Name] = o.Value
	}
	for seat := range v.Players() {
		own := match.Derive(fmt.Sprintf("bot/0/0/%d", seat))
		r.Seats = append(r.Seats, referee.ReplaySeat{
			Name: bots[seat], Version: fmt.Sprintf("1.%d", seat), SHA256: referee.Hex(own).String(), Seed: binary.BigEndian.Uint64(own[:8]) >> 11,
		})
	}
	stream := rules.NewStream(seed)
	state := v.Deal(&stream)
	random := rules.NewRand(c.match)
	standIn := rules.NewStream(seed.Derive("standin"))
	scores := make([]int, v.Players())
	var legal []rules.Move
	for state.Turn() != rules.Over {
		if c.fault != nil && state.Ply() == c.fault.Ply {
			f := *c.fault
			f.Seat = state.Turn()
			r.Faults = append(r.Faults, f)
			if rules.Sides(v) == 2 {
				break
			}
		}
		seat := state.Turn()
		legal = state.Legal(legal[:0])
		m := legal[random.Below(len(legal))]
		rec := referee.ReplayMove{Seat: seat, MS: 0.125 + float64(random.Below(4000))/1000}
		if len(r.Faults) > 0 && r.Faults[0].Seat == seat {
			shuffled := slices.Clone(legal)
			rules.Shuffle(&standIn, shuffled)
			m, rec = shuffled[0], referee.ReplayMove{Seat: seat, StandIn: true}
		} else if seat != 1 {
			scores[seat] += random.Below(21) - 10
			rec.Info = []string{
				fmt.Sprintf("score=%d depth=3", scores[seat]-1),
				fmt.Sprintf("score=%d depth=4 nodes=%d pv=%s", scores[seat], 1000+random.Below(90000), state.MoveText(nil, m)),
			}
		}
		rec.Move = string(state.MoveText(nil, m))
		r.Moves = append(r.Moves, rec)
		state.Apply(m, nil)
	}
	result := state.Result()
	r.Ranks, r.Points = result.Ranks, result.Points
	if len(r.Faults) > 0 {
		r.Ranks = forfeited(r.Ranks, r.Faults[0].Seat)
	}
	return r
}

// forfeited puts one seat last, where every seat is a side.
func forfeited(ranks []int, seat int) []int {
	after := make([]int, len(ranks))
	for i := range ranks {
		after[i] = 1
		for j := range ranks {
			if j != seat && (i == seat || ranks[j] < ranks[i]) {
				after[i]++
			}
		}
	}
	return after
}

// rebuilt is a sample's game.
func rebuilt(t testing.TB, c sample, r *referee.Replay) *Game {
	t.Helper()
	g, err := NewGame(r, c.game)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
