package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// dice is a random source that restarts with each game's seed.
type dice struct {
	game *protocol.GameLine
	rand rules.Rand
}

// randFor returns the dice for a turn.
func (d *dice) randFor(t *protocol.Turn) *rules.Rand {
	if d.game != t.Game {
		d.game, d.rand = t.Game, *rules.NewRand(t.Game.Seed)
	}
	return &d.rand
}

// randomAnswer is the answer of a bot that plays at random, and says so.
func (d *dice) randomAnswer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(d.randFor(t).Below(t.Moves.Len())), Info: randomInfo}
}

var randomInfo = []byte("play=random")

// randomPlayer plays a legal move; all are equally likely.
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
