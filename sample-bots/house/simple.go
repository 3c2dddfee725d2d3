package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// dice is a random source that is seeded again for each game, with the seed of the game.
type dice struct {
	game *protocol.GameLine
	rand rules.Rand
}

// randFor returns the random source for the game of a turn.
func (d *dice) randFor(t *protocol.Turn) *rules.Rand {
	if d.game != t.Game {
		d.game, d.rand = t.Game, *rules.NewRand(t.Game.Seed)
	}
	return &d.rand
}

// randomAnswer returns a random move, with an info that says that it is random.
func (d *dice) randomAnswer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(d.randFor(t).Below(t.Moves.Len())), Info: randomInfo}
}

var randomInfo = []byte("play=random")

// randomPlayer plays a random legal move. All moves are equally likely.
type randomPlayer struct{ dice }

func newRandom(*params) Player { return &randomPlayer{} }

func (r *randomPlayer) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(r.randFor(t).Below(t.Moves.Len()))}
}

// firstPlayer plays the first legal move.
type firstPlayer struct{}

func newFirst(*params) Player { return firstPlayer{} }

func (firstPlayer) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(0)}
}
