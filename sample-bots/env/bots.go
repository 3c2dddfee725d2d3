package env

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// bots are the house bots of a batch, one for each of their seats in each game.
type bots struct {
	config  *Config
	players []house.Player   // by game and seat, nil for the client
	told    []*protocol.Game // what each knows of its game
}

// newBots returns nil if the client plays all seats.
func newBots(c *Config) (*bots, error) {
	if n, _ := c.countBots(); n == 0 {
		return nil, nil
	}
	n := c.Variant.Players
	b := &bots{config: c, players: make([]house.Player, c.Games*n), told: make([]*protocol.Game, c.Games*n)}
	for i := range b.players {
		spec := c.Bots[i%n]
		if spec == "" {
			continue
		}
		p, err := house.Find(spec)
		if err != nil {
			return nil, err
		}
		b.players[i] = p
	}
	return b, nil
}

// begin tells the bots of a game what the referee would in rotation 0 of the match.
func (b *bots) begin(game int, seed rules.Seed, deal int) {
	v := b.config.Variant
	n := v.Players
	for seat := range n {
		if b.players[game*n+seat] == nil {
			continue
		}
		old, number := b.told[game*n+seat], 1
		if old != nil {
			number = old.Number + 1
		}
		b.told[game*n+seat] = &protocol.Game{
			Name: v.Game.Name, Number: number, Settings: protocol.Pairs(v.Settings.String()),
			Seat: seat, Players: n, Seed: referee.BotSeed(seed, deal, 0, seat),
		}
	}
}

// move lets the bot at a seat move.
func (b *bots) move(game, seat int, s rules.State) error {
	i := game*b.config.Variant.Players + seat
	o := rules.Observe(s, seat)
	answer := b.players[i].Answer(&protocol.Turn{Game: b.told[i], Ply: o.Ply, Time: b.config.MoveTime, View: o.View, Moves: o.Moves})
	m, err := s.ParseMove(string(answer.Move))
	if err == nil {
		err = rules.Play(s, m, nil)
	}
	if err != nil {
		return fmt.Errorf("env: game %d: house bot %q: %w", game, b.config.Bots[seat], err)
	}
	return nil
}
