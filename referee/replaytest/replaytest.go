// Package replaytest makes replays for tests, without a referee or bots.
package replaytest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

var bots = []string{"alfil", "bruna", "carmela", "duque", "estoque", "farol", "gitana", "hidalgo", "infanta", "jota", "kermes", "lucero"}

// Play makes the replay of deal 0 of a match: all moves are random, the bots' scores
// wander, and fault, if not nil, comes at its ply, of the seat to move there. What
// is the same in two calls gives the same replay.
func Play(t testing.TB, game *rules.Game, options map[string]string, number uint64, fault *referee.Fault) *referee.Replay {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(game.Resolve(options))
	var match rules.Seed
	binary.BigEndian.PutUint64(match[24:], number)
	seed := match.Derive("deal/0")
	inc := int64(0)
	r := &referee.Replay{
		Timba: 1, Game: game.Name, Options: map[string]string{}, Seed: referee.Hex(seed), Commitment: referee.Commitment(match),
		Clock: referee.ClockMS{Bank: 60000, Inc: &inc, Margin: 50}, Faults: []referee.Fault{},
	}
	r.Reveal(match)
	for _, o := range v.Settings {
		r.Options[o.Name] = o.Value
	}
	for seat := range v.Players {
		own := match.Derive(fmt.Sprintf("bot/0/0/%d", seat))
		r.Seats = append(r.Seats, referee.ReplaySeat{
			Name: bots[seat], Version: fmt.Sprintf("1.%d", seat), SHA256: referee.Hex(own).String(), Seed: binary.BigEndian.Uint64(own[:8]) >> 11,
		})
	}
	stream := rules.NewStream(seed)
	state := v.Deal(&stream)
	random := rules.NewRand(number)
	standIn := rules.NewStream(seed.Derive("standin"))
	scores := make([]int, v.Players)
	var legal []rules.Move
	for state.Turn() != rules.Over {
		if fault != nil && state.Ply() == fault.Ply {
			f := *fault
			f.Seat = state.Turn()
			r.Faults = append(r.Faults, f)
			if v.Sides == 2 {
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
	r.Points = state.Points()
	r.Ranks = v.Ranks(r.Points)
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
