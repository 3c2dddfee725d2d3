package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// dice is a random source that restarts with each game's seed.
type dice struct {
	game *protocol.Game
	rand rules.Rand
}

// of returns the dice for a turn.
func (d *dice) of(t *protocol.Turn) *rules.Rand {
	if d.game != t.Game {
		d.game, d.rand = t.Game, *rules.NewRand(t.Game.Seed)
	}
	return &d.rand
}

// guess is the answer of a bot that plays at random, and says so.
func (d *dice) guess(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(d.of(t).Below(t.Moves.Len())), Info: guessed}
}

var guessed = []byte("play=random")

// random plays a legal move; all are equally likely.
type random struct{ dice }

func newRandom(*params) Player { return &random{} }

func (r *random) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(r.of(t).Below(t.Moves.Len()))}
}

// first plays the first legal move.
type first struct{}

func newFirst(*params) Player { return first{} }

func (first) Answer(t *protocol.Turn) protocol.Answer {
	return protocol.Answer{Move: t.Moves.Token(0)}
}
