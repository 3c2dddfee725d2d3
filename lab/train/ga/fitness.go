package ga

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Fitness is what an individual has reached in its games.
type Fitness struct {
	Won    int `json:"won"`    // twice the games won, and the games in which it shared the most points
	Points int `json:"points"` // of the games
	Games  int `json:"games"`
}

func (f *Fitness) add(other Fitness) {
	f.Won += other.Won
	f.Points += other.Points
	f.Games += other.Games
}

// Share returns the part of the games won, with a half for those shared.
func (f Fitness) Share() float64 {
	if f.Games == 0 {
		return 0
	}
	return float64(f.Won) / float64(2*f.Games)
}

// Mean returns the points of a game.
func (f Fitness) Mean() float64 { return float64(f.Points) / float64(max(1, f.Games)) }

// compareFitness orders by games won, then by points, the best first.
func compareFitness(a, b Fitness) int {
	return cmp.Or(cmp.Compare(b.Won, a.Won), cmp.Compare(b.Points, a.Points))
}

// rank returns the individuals' numbers, the fittest first; of equal ones the lower number.
func rank(fit []Fitness) []int {
	order := numbers(len(fit))
	slices.SortStableFunc(order, func(i, j int) int { return compareFitness(fit[i], fit[j]) })
	return order
}

// table is where games of a mode are played.
type table[S any, P cards.Position[S]] struct {
	mode  cards.Mode
	rules []baraja.TableRules // of which each deal draws one
	state S
	watch cards.Watch
	legal [rules.MaxMoves]rules.Move
	src   rules.Stream
	rand  *rules.Rand // of the agents
}

// play plays the deal of a seed: agent i sits at (i + rotation) modulo the number of seats. The
// deal and its rules are the same for all rotations.
func (t *table[S, P]) play(agents []Agent[S], seed uint64, rotation int) *baraja.Table {
	*t.rand = *rules.NewRand(seed)
	rule := t.rules[t.rand.Below(len(t.rules))]
	t.src = rules.FastStream(t.rand)
	p := P(&t.state)
	p.Begin(t.mode, rule, &t.src)
	t.watch = cards.Watch{}
	*t.rand = *rules.NewRand(t.rand.Uint64() + uint64(rotation))
	for _, a := range agents {
		a.Begin(t.mode, t.rand)
	}
	n := len(agents)
	for seat := p.Turn(); seat >= 0; seat = p.Turn() {
		agent := agents[(seat-rotation%n+n)%n]
		cards.Step(p, &t.watch, agent.Choose(&t.state, &t.watch, p.Legal(t.legal[:0])))
	}
	return p.Board()
}

// match plays games between agents, each deal once in every rotation as far as the games go. Game
// g has the deal of seeds[g/players]. The fitness is by agent.
func (t *table[S, P]) match(agents []Agent[S], games int, seeds []uint64) (fit [baraja.TableSeats]Fitness) {
	n := len(agents)
	for g := range games {
		board := t.play(agents, seeds[g/n], g%n)
		for _, a := range agents {
			if a, ok := a.(ender); ok {
				a.end(board)
			}
		}
		for i := range agents {
			seat := (i + g) % n
			fit[i].Won += 1 + cards.Standing(board, t.mode.Teams, seat)
			fit[i].Points += int(board.Points[seat])
			fit[i].Games++
		}
	}
	return fit
}

// ender is an agent that is told the end of a game.
type ender interface{ end(*baraja.Table) }
