package env

import (
	"fmt"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// bots are the house bots of a batch, one for each of their seats in each game.
type bots struct {
	config *Config
	seats  []*house.Seat // by game and seat, nil for the client
}

// newBots returns nil if the client plays all seats.
func newBots(c *Config) (*bots, error) {
	if n, _ := c.countBots(); n == 0 {
		return nil, nil
	}
	n := c.Variant.Players
	b := &bots{config: c, seats: make([]*house.Seat, c.Games*n)}
	for i := range b.seats {
		if spec := c.Bots[i%n]; spec != "" {
			var err error
			if b.seats[i], err = house.NewSeat(spec); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// begin tells the bots of a game what the referee would in rotation 0 of the match.
func (b *bots) begin(game int, seed rules.Seed, deal int) {
	v := b.config.Variant
	for seat := range v.Players {
		if s := b.seats[game*v.Players+seat]; s != nil {
			s.Begin(v, seat, referee.BotSeed(seed, deal, 0, seat), b.config.MoveTime)
		}
	}
}

// move lets the bot at a seat move.
func (b *bots) move(game, seat int, s rules.State) error {
	m, err := b.seats[game*b.config.Variant.Players+seat].Move(s)
	if err != nil {
		return fmt.Errorf("env: game %d: %w", game, err)
	}
	s.Apply(m, nil)
	return nil
}
