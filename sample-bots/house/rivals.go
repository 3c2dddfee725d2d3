package house

import (
	"bytes"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/ga"
)

// Rivals makes rivals of genetic searches from the specs of house bots.
var Rivals = ga.Rivals{Brisca: newRival[learn.Brisca], Tute: newRival[learn.Tute]}

// viewed is what a bot of the protocol is told of a position.
type viewed[S any] interface {
	learn.Position[S]
	rules.State
}

// rival is a house bot that plays in the process of its rivals. It sees no more of a position than
// the protocol would tell it, and never runs out of time.
type rival[S any, P viewed[S]] struct {
	spec  string
	mode  learn.Mode
	rand  *rules.Rand
	seats []rivalSeat
	text  []byte // the view, then the moves
	move  []byte
}

// rivalSeat is a bot of its own for each seat.
type rivalSeat struct {
	player Player
	game   *protocol.Game // nil before the first turn of a game
}

func newRival[S any, P viewed[S]](spec string, m learn.Mode) (ga.Agent[S], error) {
	spec = strings.TrimPrefix(spec, "@")
	if _, err := Find(spec); err != nil {
		return nil, err
	}
	b := &rival[S, P]{spec: spec}
	return b, b.try(m)
}

// try returns why the bot cannot play a mode: it may lack a model for it.
func (b *rival[S, P]) try(m learn.Mode) error {
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var s S
	P(&s).Begin(m, m.Rules()[0], &src)
	b.Begin(m, r)
	_, err := b.ask(&s, P(&s).Legal(nil))
	return err
}

// Begin starts a game.
func (b *rival[S, P]) Begin(m learn.Mode, r *rules.Rand) {
	b.mode, b.rand = m, r
	for len(b.seats) < m.Players {
		player, _ := Find(b.spec) // newRival has found it
		b.seats = append(b.seats, rivalSeat{player: player})
	}
	for i := range b.seats {
		b.seats[i].game = nil
	}
}

// Choose returns the bot's move.
func (b *rival[S, P]) Choose(s *S, _ *learn.Watch, legal []rules.Move) rules.Move {
	m, _ := b.ask(s, legal) // a bot that can play the mode, as try has found, can play on
	return m
}

// ask returns the bot's move, or an error and the first move.
func (b *rival[S, P]) ask(s *S, legal []rules.Move) (rules.Move, error) {
	p := P(s)
	number := p.Turn()
	seat := &b.seats[number]
	if seat.game == nil {
		v := b.mode.Variant(p.Options())
		seat.game = &protocol.Game{
			Name: v.Game.Name, Number: 1, Settings: protocol.Pairs(v.Settings.String()),
			Seat: number, Players: b.mode.Players, Seed: b.rand.Uint64() & protocol.MaxSeed,
		}
	}
	b.text = p.View(b.text[:0], number)
	end := len(b.text)
	for i, m := range legal {
		if i > 0 {
			b.text = append(b.text, ' ')
		}
		b.text = p.MoveText(b.text, m)
	}
	turn := protocol.Turn{Game: seat.game, Ply: p.Ply(), View: protocol.Pairs(b.text[:end:end]), Moves: protocol.Words(b.text[end:])}
	answer := seat.player.Answer(&turn)
	for _, m := range legal {
		if b.move = p.MoveText(b.move[:0], m); bytes.Equal(b.move, answer.Move) {
			return m, answer.Err
		}
	}
	return legal[0], answer.Err
}
