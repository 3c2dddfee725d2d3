package rl

import (
	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// CardGames returns a function that creates games of Brisca or Tute for a Learner. The mode (a game with its number
// of players) and the optional rules are those of c, which must be valid.
func CardGames(c Config) func() Environment {
	mode, _ := cards.ParseMode(c.Mode)
	combinations, _ := mode.Combinations(c.Rules)
	return func() Environment {
		return &cardGame{mode: mode, keys: c.Keys, combinations: combinations, index: c.hasDefect(DefectIndex)}
	}
}

// cardGame implements Environment for Brisca and Tute.
type cardGame struct {
	position     cards.Position
	mode         cards.Mode
	keys         policy.Keys
	combinations []baraja.TableRules
	heuristic    decisions.Heuristic
	index        bool
	legal        [rules.MaxMoves]rules.Move
	moves        []rules.Move // legal moves of the observed position
}

func (g *cardGame) Players() int { return g.mode.Players }

func (g *cardGame) Turn() int { return g.position.Turn() }

func (g *cardGame) Deal(episode int, r *rules.Rand) {
	src := rules.FastStream(r)
	g.position.Deal(g.mode, g.combinations[episode%len(g.combinations)], &src)
}

func (g *cardGame) Observe(s *policy.View) {
	g.moves = g.position.Legal(g.legal[:0])
	g.keys.Observe(s, &g.position, g.moves)
}

func (g *cardGame) TricksEnded() int {
	t := g.position.Board()
	return int(t.PlayedCount-t.TrickSize) / int(t.Players)
}

func (g *cardGame) Play(s *policy.View, action uint8) {
	m := s.Move(action)
	if g.index {
		m = policy.MoveByHandIndex(m, g.moves, g.position.Board())
	}
	g.position.Play(m)
}

func (g *cardGame) Side(seat int) int { return g.mode.Side(seat) }

func (g *cardGame) Standing(seat int) int { return g.position.Outcome(seat) }

func (g *cardGame) Score(seat int) int { return g.position.PointLead(seat) }

// HeuristicValue returns the heuristic value of the card that an action plays (see package decisions). It is 0 if
// the action plays no card but exchanges the trump card or declares the 12 and 11 of a suit.
func (g *cardGame) HeuristicValue(s *policy.View, action uint8) float64 {
	m := s.Move(action)
	if m >= baraja.SwapMove {
		return 0
	}
	g.heuristic.SetPosition(&g.position)
	return float64(g.heuristic.Worth(baraja.Card(m)))
}
