package referee

import (
	"fmt"
	"iter"
	"maps"

	"github.com/timba-arena/timba/referee/rules"
)

// Step is one position of a replay.
type Step struct {
	State  rules.State // read-only, and valid until the next step
	Faults []Fault     // before Move; at the last step, including later ones
	Move   rules.Move  // made here, unless Record is nil
	Record *ReplayMove // of Move; nil at the last step
}

// Resolve returns the variant of a replay, after checking the replay's head against the
// game. A replay has every option.
func (r *Replay) Resolve(g *rules.Game) (*rules.Variant, error) {
	if g.Name != r.Game {
		return nil, fmt.Errorf("replay: the game is %q, not %q", r.Game, g.Name)
	}
	v, err := g.Resolve(r.Options)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if want := v.Settings.Map(); !maps.Equal(want, r.Options) {
		return nil, fmt.Errorf("replay: options are %v where the game has %v", r.Options, want)
	}
	if len(r.Seats) != v.Players {
		return nil, fmt.Errorf("replay: %d seats in a game for %d players", len(r.Seats), v.Players)
	}
	return v, nil
}

// Walk replays a game by the rules of v, the result of Resolve. It yields every position
// in order, from the first to the one after the last move.
//
// At each step log has the events that led to the position: those of the start, or those
// of the previous move. With a nil log no events are made.
//
// The walk ends with an error if the replay and the rules differ.
func (r *Replay) Walk(v *rules.Variant, log *rules.Log) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		stream := rules.NewStream(rules.Seed(r.Seed))
		state := v.Deal(&stream)
		if log != nil {
			log.Reset()
			state.Start(log)
		}
		faults := r.Faults
		var text []byte
		for i := range r.Moves {
			m, err := r.move(state, i, &text)
			if err != nil {
				yield(Step{}, err)
				return
			}
			n := 0
			for n < len(faults) && faults[n].Ply <= state.Ply() {
				n++
			}
			if !yield(Step{state, faults[:n], m, &r.Moves[i]}, nil) {
				return
			}
			faults = faults[n:]
			if log != nil {
				log.Reset()
			}
			state.Apply(m, log)
		}
		yield(Step{State: state, Faults: faults}, nil)
	}
}

// move returns move i, or an error if it is illegal or not in canonical form. It reuses the
// memory of text.
func (r *Replay) move(state rules.State, i int, text *[]byte) (rules.Move, error) {
	rec := &r.Moves[i]
	if turn := state.Turn(); turn == rules.Over {
		return 0, fmt.Errorf("replay: move %d, %q: the game is over before it", i, rec.Move)
	} else if turn != rec.Seat {
		return 0, fmt.Errorf("replay: move %d, %q: it is the turn of seat %d, not of seat %d", i, rec.Move, turn, rec.Seat)
	}
	m, err := state.ParseMove(rec.Move)
	if err == nil {
		err = state.Check(m)
	}
	if err != nil {
		return 0, fmt.Errorf("replay: move %d of seat %d: %w", i, rec.Seat, err)
	}
	if *text = state.MoveText((*text)[:0], m); string(*text) != rec.Move {
		return 0, fmt.Errorf("replay: move %d of seat %d: %q is written %q", i, rec.Seat, rec.Move, *text)
	}
	return m, nil
}
