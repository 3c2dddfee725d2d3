package ga

import (
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// rival is a house bot that plays against the individuals of a search. It has no time limit.
type rival struct {
	rand    *rules.Rand
	seats   []*house.LocalSeat // by seat
	playing []bool             // whether the seat has had a turn in this game
}

// newRival returns an agent that plays the moves of a house bot (part of timba). spec is the name of the bot with
// its parameters. It returns an error if the bot cannot play m, for example because it has no model for m.
func newRival(spec string, m cards.Mode) (Agent, error) {
	b := &rival{playing: make([]bool, m.Players)}
	for range m.Players {
		seat, err := house.NewSeat(strings.TrimPrefix(spec, "@"))
		if err != nil {
			return nil, err
		}
		b.seats = append(b.seats, seat)
	}
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var p cards.Position
	p.Deal(m, m.Rules()[0], &src)
	b.Begin(r)
	_, err := b.requestMove(&p)
	return b, err
}

func (b *rival) Begin(r *rules.Rand) {
	b.rand = r
	clear(b.playing)
}

// Choose returns the house bot's move.
func (b *rival) Choose(p *cards.Position, legal []rules.Move) rules.Move {
	m, err := b.requestMove(p)
	if err != nil {
		return legal[0] // should not happen: newRival has checked that the bot can play the mode
	}
	return m
}

// requestMove returns the house bot's move. On the first turn of a seat in a game, it also starts the game there.
func (b *rival) requestMove(p *cards.Position) (rules.Move, error) {
	seat := p.Turn()
	if !b.playing[seat] {
		b.playing[seat] = true
		b.seats[seat].StartGame(p.Mode.Variant(p.Options()), seat, b.rand.Uint64()&protocol.MaxSeed, 0)
	}
	return b.seats[seat].Move(p.State())
}
