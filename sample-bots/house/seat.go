package house

import (
	"bytes"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// LocalSeat is a house bot (part of timba) that plays games within this process, one after another; StartGame
// starts each. The bot sees no more of a position than the protocol would send it.
type LocalSeat struct {
	spec   string
	player Player
	game   *protocol.GameLine
	clock  time.Duration
	legal  [rules.MaxMoves]rules.Move
	text   []byte // text of the view, followed by the legal moves
	move   []byte
}

// NewSeat returns a LocalSeat for the bot of spec, which is NAME or NAME:key=value,key=value. StartGame must be
// called before Move.
func NewSeat(spec string) (*LocalSeat, error) {
	p, err := NewPlayer(spec)
	return &LocalSeat{spec: spec, player: p}, err
}

// StartGame starts a game in which the bot has the given seat and seed. clock is the time for each move; 0
// means no limit.
func (s *LocalSeat) StartGame(v *rules.Variant, seat int, seed uint64, clock time.Duration) {
	number := 1
	if s.game != nil {
		number = s.game.Number + 1
	}
	s.game = &protocol.GameLine{
		Name: v.Game.Name, Number: number, Settings: protocol.Pairs(v.Settings.String()),
		Seat: seat, Players: v.Players, Seed: seed,
	}
	s.clock = clock
}

// Move returns the bot's move in p, in which the seat given to StartGame must be to move. It returns an error
// if the bot fails or its move is not legal.
func (s *LocalSeat) Move(p rules.State) (rules.Move, error) {
	legal := p.Legal(s.legal[:0])
	s.text = p.View(s.text[:0], s.game.Seat)
	end := len(s.text)
	for i, m := range legal {
		if i > 0 {
			s.text = append(s.text, ' ')
		}
		s.text = p.MoveText(s.text, m)
	}
	answer := s.player.Answer(&protocol.Turn{
		Game: s.game, Ply: p.Ply(), Time: s.clock, View: protocol.Pairs(s.text[:end:end]), Moves: protocol.Words(s.text[end:]),
	})
	if answer.Err != nil {
		return 0, fmt.Errorf("house bot %q: %w", s.spec, answer.Err)
	}
	for _, m := range legal {
		if s.move = p.MoveText(s.move[:0], m); bytes.Equal(s.move, answer.Move) {
			return m, nil
		}
	}
	return 0, fmt.Errorf("house bot %q: move %q is not legal", s.spec, answer.Move)
}
