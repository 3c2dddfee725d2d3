package house

import (
	"math"
	"strconv"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// judge estimates the value of moves in one game. It uses only what its seat may know of the
// position; the rest of the position is random.
type judge interface {
	// read sets the position, in which a seat is to move.
	read(s rules.State, seat int)
	// worth returns the value of a move for this seat: more is better. The unit depends on
	// the game.
	worth(rules.Move) float64
}

// greedyPlayer plays the move that its game's judge values most, with ties broken at random. It plays
// at random if the game has no judge, and says so.
type greedyPlayer struct {
	dice
	positions
	noise  int // of a hundred moves
	judges map[string]judge
	legal  []rules.Move // of the turn
	info   []byte
}

func newGreedy(p *params) Player {
	noise := p.readInt("noise", 0, 100, 0, "how many of a hundred moves are random, for a weaker opponent")
	return &greedyPlayer{noise: noise, judges: map[string]judge{
		"brisca":  &briscaJudge{w: briscaWeights},
		"tute":    &tuteJudge{briscaJudge: briscaJudge{w: tuteWeights, mustWin: true}},
		"podrida": &podridaJudge{},
		"tebes":   &tebesJudge{},
		"teeko":   &teekoJudge{},
	}}
}

func (g *greedyPlayer) Answer(t *protocol.Turn) protocol.Answer {
	r := g.randFor(t)
	j, ok := g.judges[t.Game.Name]
	if !ok || g.noise > r.Below(100) || !g.read(t, j) {
		return g.randomAnswer(t)
	}
	var best []byte
	top, ties, i := math.Inf(-1), 0, 0
	for move := range t.Moves.All() {
		switch w := j.worth(g.legal[i]); {
		case w > top:
			best, top, ties = move, w, 1
		case w == top:
			if ties++; r.Below(ties) == 0 { // each of the best is equally likely
				best = move
			}
		}
		i++
	}
	g.info = strconv.AppendFloat(append(g.info[:0], "score="...), top, 'f', 2, 64)
	return protocol.Answer{Move: best, Info: g.info}
}

// read passes a turn's position to the judge and sets its moves. It returns false if the turn
// does not fit a known game.
func (g *greedyPlayer) read(t *protocol.Turn, j judge) bool {
	s, err := g.positionAt(t)
	if err != nil {
		return false
	}
	g.legal = s.Legal(g.legal[:0])
	j.read(s, t.Game.Seat)
	return true
}
