package house

import (
	"math"
	"strconv"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

var greedyOptions = []rules.Option{
	{Name: "noise", Min: 0, Max: 100, Default: 0, Help: "of a hundred moves, how many are random: a weaker opponent"},
}

// judge says what moves are worth in one game. It knows the protocol's view and
// nothing else.
type judge interface {
	// read takes in a turn; false when the view is not as it should be.
	read(*protocol.Turn) bool
	// worth is what a move is worth to this seat: more is better. The unit is the
	// game's own.
	worth(move []byte) float64
}

// greedy plays the move that its game's judge likes best, one of the best at
// random. A game that it has no judge for it plays at random.
type greedy struct {
	dice
	noise  int // of a hundred moves
	judges map[string]judge
	info   []byte
}

func newGreedy(s rules.Settings) Player {
	return &greedy{noise: s.Int("noise"), judges: map[string]judge{
		"brisca":  &briscaJudge{w: briscaWeights},
		"tute":    &tuteJudge{briscaJudge: briscaJudge{w: tuteWeights, forced: true}},
		"podrida": &podridaJudge{},
		"tebes":   &tebesJudge{},
		"teeko":   &teekoJudge{},
	}}
}

func (g *greedy) Answer(t *protocol.Turn) protocol.Answer {
	r := g.of(t)
	j, ok := g.judges[t.Game.Name]
	if !ok || g.noise > r.Below(100) || !j.read(t) {
		return protocol.Answer{Move: t.Moves.At(r.Below(t.Moves.Len()))}
	}
	var best []byte
	top, ties := math.Inf(-1), 0
	for move := range t.Moves.All() {
		switch w := j.worth(move); {
		case w > top:
			best, top, ties = move, w, 1
		case w == top:
			if ties++; r.Below(ties) == 0 { // each of the best is as likely
				best = move
			}
		}
	}
	g.info = strconv.AppendFloat(append(g.info[:0], "score="...), top, 'f', 2, 64)
	return protocol.Answer{Move: best, Info: g.info}
}
