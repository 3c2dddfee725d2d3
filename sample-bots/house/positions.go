package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// positions converts turns of the protocol to positions of a game, with hidden cards dealt at random. The zero
// value is ready for use.
type positions struct {
	game    *protocol.GameLine
	variant *rules.Variant
	err     error
	hidden  rules.Rand // draws the cards that the seat cannot see
}

// positionAt returns a position that agrees with everything that the bot has been told in t. Hidden cards are dealt
// at random. The seed of the random numbers comes from the game line. It returns an error if the game is unknown or
// t does not fit the game.
func (p *positions) positionAt(t *protocol.Turn) (rules.State, error) {
	if p.game != t.Game {
		p.game, p.hidden = t.Game, *rules.NewRand(t.Game.Seed)
		p.variant, p.err = variantOf(t.Game)
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.variant.FromView(rules.Observation{
		Seat: t.Game.Seat, Turn: t.Game.Seat, Ply: t.Ply, View: t.View, Moves: t.Moves,
	}, &p.hidden)
}

// variantOf returns the game with the options that a game line of the protocol describes. It ignores keys
// that are not options of the game.
func variantOf(g *protocol.GameLine) (*rules.Variant, error) {
	game, err := games.Find(g.Name)
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	for _, o := range game.Options {
		if value, ok := g.Settings.Lookup(o.Name); ok {
			given[o.Name] = string(value)
		}
	}
	return game.Resolve(given)
}
