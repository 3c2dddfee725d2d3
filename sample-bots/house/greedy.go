package house

import (
	"math"
	"strconv"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// judge estimates the values of moves in one game. It must use only what its seat can know of a position. The
// hidden cards of a position are random guesses.
type judge interface {
	// read sets the position s, in which seat is to move. Later calls of worth refer to this position.
	read(s rules.State, seat int)
	// worth returns the value of a move for the seat. Higher is better; the unit depends on the game.
	worth(rules.Move) float64
}

// greedyPlayer plays the move to which the judge of the game gives the highest value, and a random one of several
// equal moves. It makes random moves in a game without a judge, and otherwise in the percentage of turns that noise
// says. With these moves it reports that they are random.
type greedyPlayer struct {
	dice
	positions
	noise  int              // percentage of random moves
	judges map[string]judge // by name of the game
	legal  []rules.Move     // legal moves of the turn
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
			if ties++; r.Below(ties) == 0 { // all best moves are equally likely
				best = move
			}
		}
		i++
	}
	g.info = strconv.AppendFloat(append(g.info[:0], "score="...), top, 'f', 2, 64)
	return protocol.Answer{Move: best, Info: g.info}
}

// read sets the position of turn t in j, and the legal moves of t in g. It returns false if it cannot derive a
// position from t, for example because the game is unknown.
func (g *greedyPlayer) read(t *protocol.Turn, j judge) bool {
	s, err := g.positionAt(t)
	if err != nil {
		return false
	}
	g.legal = s.Legal(g.legal[:0])
	j.read(s, t.Game.Seat)
	return true
}
