package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// dice is the source of a bot's random numbers. At the first turn of each game, it is set to the seed in the game
// line.
type dice struct {
	game *protocol.GameLine
	rand rules.Rand
}

// randFor returns the source of random numbers for the game of t. It seeds the source again if t belongs to another
// game than the last call.
func (d *dice) randFor(t *protocol.Turn) *rules.Rand {
	if d.game != t.Game {
		d.game, d.rand = t.Game, *rules.NewRand(t.Game.Seed)
	}
	return &d.rand
}

func (d *dice) randomAnswer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(d.randFor(t).Below(t.Moves.Len())), Info: randomInfo}
}

var randomInfo = []byte("play=random")

type randomPlayer struct{ dice }

func newRandom(*params) Player { return &randomPlayer{} }

func (r *randomPlayer) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(r.randFor(t).Below(t.Moves.Len()))}
}

type firstPlayer struct{}

func newFirst(*params) Player { return firstPlayer{} }

func (firstPlayer) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(0)}
}
