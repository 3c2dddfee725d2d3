package rl

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/features"
)

// Cards returns what makes games of cards to learn. The config is valid.
func Cards(c Config) func() Game {
	mode, _ := learn.ParseMode(c.Mode)
	combinations, _ := mode.Combinations(c.Rules)
	if mode.Tute {
		return func() Game { return newCards[learn.Tute](c, mode, combinations) }
	}
	return func() Game { return newCards[learn.Brisca](c, mode, combinations) }
}

// cards is a game of Brisca or Tute.
type cards[S any, P learn.Position[S]] struct {
	state        S
	watch        learn.Watch
	mode         learn.Mode
	keys         Keys
	combinations []baraja.TableRules
	judge        features.Judge
	index        bool
	legal        [rules.MaxMoves]rules.Move
	moves        []rules.Move // legal ones
}

func newCards[S any, P learn.Position[S]](c Config, m learn.Mode, combinations []baraja.TableRules) *cards[S, P] {
	return &cards[S, P]{mode: m, keys: c.Keys, combinations: combinations, index: c.has(Index)}
}

func (g *cards[S, P]) Players() int { return g.mode.Players }

func (g *cards[S, P]) Turn() int { return P(&g.state).Turn() }

func (g *cards[S, P]) Deal(episode int, r *rules.Rand) {
	src := rules.FastStream(r)
	P(&g.state).Begin(g.mode, g.combinations[episode%len(g.combinations)], &src)
	g.watch = learn.Watch{}
}

func (g *cards[S, P]) Look(s *Sight) {
	g.moves = P(&g.state).Legal(g.legal[:0])
	Look(g.keys, s, P(&g.state), &g.watch, g.moves)
}

func (g *cards[S, P]) Trick() int {
	t := P(&g.state).Board()
	return int(t.Played-t.InTrick) / int(t.Players)
}

func (g *cards[S, P]) Play(s *Sight, action uint8) {
	m := s.Move(action)
	if g.index {
		m = indexed(m, g.moves, P(&g.state).Board())
	}
	learn.Step(P(&g.state), &g.watch, m)
}

// indexed returns the card of the hand that has the place of a card among the legal moves. It
// may not be legal in Tute: the state plays any card in hand.
func indexed(m rules.Move, legal []rules.Move, t *baraja.Table) rules.Move {
	if m >= baraja.SwapMove {
		return m
	}
	var memory [baraja.TableCards]rules.Move
	hand := t.Hands[t.Mover].Moves(memory[:0])
	for i, l := range legal {
		if l == m {
			return hand[i]
		}
	}
	return m
}

func (g *cards[S, P]) Side(seat int) int { return g.mode.Side(seat) }

func (g *cards[S, P]) Standing(seat int) int {
	return learn.Standing(P(&g.state).Board(), g.mode.Teams, seat)
}

func (g *cards[S, P]) Score(seat int) int { return learn.Lead(P(&g.state).Board(), g.mode, seat) }

// Value returns the heuristic value of a card as package features has it; the exchange and songs
// have none.
func (g *cards[S, P]) Value(s *Sight, action uint8) float64 {
	m := s.Move(action)
	if m >= baraja.SwapMove {
		return 0
	}
	p := P(&g.state)
	songs := p.Songs()
	g.judge.Read(g.mode, p.Board(), p.Playable(), &songs, &g.watch)
	return float64(g.judge.Worth(baraja.Card(m)))
}
