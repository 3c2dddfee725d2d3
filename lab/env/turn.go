package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// ObserveTurn sets the arrays of the state frame to what a learner would see in a position of a match: the
// observation and the legal moves. payload is the seat that has to move as a byte, followed by the lines "view" and
// "turn" of the protocol, separated by LF. The batch must have one game, and must be reset before that game is
// played.
func (b *Batch) ObserveTurn(ctx context.Context, payload []byte) error {
	if len(b.slots) != 1 {
		return fmt.Errorf("env: a turn can be observed in a batch of one game, not of %d", len(b.slots))
	}
	o, err := parseTurn(payload)
	if err != nil {
		return err
	}
	if o.Seat >= b.layout.Players || b.bots[o.Seat] != nil {
		return fmt.Errorf("env: seat %d of a turn is not the client's: try %d", o.Seat, b.firstSeat())
	}
	s, err := b.config.Variant.FromView(o, rules.NewRand(0)) // what the seat cannot see changes no observation
	if err != nil {
		return err
	}
	b.slots[0] = slot{seat: int8(o.Seat), moveCount: b.slots[0].moveCount}
	b.games.set(0, s)
	err = b.forEach(ctx, func(i int, w *worker) error {
		b.writeScores(i, w, b.games.state(i), false)
		return b.writeObservation(i, w, b.games.state(i))
	})
	b.isReset = false
	return err
}

// firstSeat returns the lowest seat that the client plays, as opposed to a bot.
func (b *Batch) firstSeat() int {
	for seat, bots := range b.bots {
		if bots == nil {
			return seat
		}
	}
	return 0 // cannot be reached: ParseConfig leaves the client a seat
}

// parseTurn parses the payload of ObserveTurn.
func parseTurn(payload []byte) (rules.Observation, error) {
	if len(payload) == 0 {
		return rules.Observation{}, errors.New("env: a turn frame is empty: send the seat, and the lines view and turn")
	}
	first, second, _ := bytes.Cut(payload[1:], []byte("\n"))
	view, err := protocol.ParseReferee(first)
	if err != nil {
		return rules.Observation{}, err
	}
	turn, err := protocol.ParseReferee(second)
	if err != nil {
		return rules.Observation{}, err
	}
	if view.Verb != protocol.RefView || turn.Verb != protocol.RefTurn {
		return rules.Observation{}, fmt.Errorf("env: a turn frame has the lines %q and %q: send view and turn", view.Verb, turn.Verb)
	}
	seat := int(payload[0])
	return rules.Observation{Seat: seat, Turn: seat, Ply: turn.Ply, View: view.Pairs, Moves: turn.Moves}, nil
}
