package rl

import (
	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Cards returns what makes games of cards to learn. The config is valid.
func Cards(c Config) func() Game {
	mode, _ := cards.ParseMode(c.Mode)
	combinations, _ := mode.Combinations(c.Rules)
	if mode.Tute {
		return func() Game { return newTable[cards.Tute](c, mode, combinations) }
	}
	return func() Game { return newTable[cards.Brisca](c, mode, combinations) }
}

// table is a game of Brisca or Tute.
type table[S any, P cards.Position[S]] struct {
	state        S
	watch        cards.Watch
	mode         cards.Mode
	keys         policy.Keys
	combinations []baraja.TableRules
	judge        decisions.Judge
	index        bool
	legal        [rules.MaxMoves]rules.Move
	moves        []rules.Move // legal ones
}

func newTable[S any, P cards.Position[S]](c Config, m cards.Mode, combinations []baraja.TableRules) *table[S, P] {
	return &table[S, P]{mode: m, keys: c.Keys, combinations: combinations, index: c.has(Index)}
}

func (g *table[S, P]) Players() int { return g.mode.Players }

func (g *table[S, P]) Turn() int { return P(&g.state).Turn() }

func (g *table[S, P]) Deal(episode int, r *rules.Rand) {
	src := rules.FastStream(r)
	P(&g.state).Begin(g.mode, g.combinations[episode%len(g.combinations)], &src)
	g.watch = cards.Watch{}
}

func (g *table[S, P]) Look(s *policy.View) {
	g.moves = P(&g.state).Legal(g.legal[:0])
	policy.Look(g.keys, s, P(&g.state), &g.watch, g.moves)
}

func (g *table[S, P]) Trick() int {
	t := P(&g.state).Board()
	return int(t.Played-t.InTrick) / int(t.Players)
}

func (g *table[S, P]) Play(s *policy.View, action uint8) {
	m := s.Move(action)
	if g.index {
		m = policy.Indexed(m, g.moves, P(&g.state).Board())
	}
	cards.Step(P(&g.state), &g.watch, m)
}

func (g *table[S, P]) Side(seat int) int { return g.mode.Side(seat) }

func (g *table[S, P]) Standing(seat int) int {
	return cards.Standing(P(&g.state).Board(), g.mode.Teams, seat)
}

func (g *table[S, P]) Score(seat int) int { return cards.Lead(P(&g.state).Board(), g.mode, seat) }

// Value returns the heuristic value of a card as package features has it; the exchange and songs
// have none.
func (g *table[S, P]) Value(s *policy.View, action uint8) float64 {
	m := s.Move(action)
	if m >= baraja.SwapMove {
		return 0
	}
	p := P(&g.state)
	songs := p.Songs()
	g.judge.Read(g.mode, p.Board(), p.Playable(), &songs, &g.watch)
	return float64(g.judge.Worth(baraja.Card(m)))
}
