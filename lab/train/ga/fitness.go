package ga

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Fitness is the total result of an individual in its games.
type Fitness struct {
	HalfWins int `json:"won"`    // 2 for each win and 1 for each game in which it shared the highest score
	Points   int `json:"points"` // total points in the games
	Games    int `json:"games"`
}

func (f *Fitness) add(other Fitness) {
	f.HalfWins += other.HalfWins
	f.Points += other.Points
	f.Games += other.Games
}

// WinShare returns the share of games won, from 0 to 1. A game in which several sides share the highest score
// counts as half a win. Without games it returns 0.
func (f Fitness) WinShare() float64 {
	if f.Games == 0 {
		return 0
	}
	return float64(f.HalfWins) / float64(2*f.Games)
}

// MeanPoints returns the mean points of a game. Without games it returns 0.
func (f Fitness) MeanPoints() float64 { return float64(f.Points) / float64(max(1, f.Games)) }

// compareFitness compares two results by wins, then by points. It returns a negative number if a is better, and a
// positive one if b is better.
func compareFitness(a, b Fitness) int {
	return cmp.Or(cmp.Compare(b.HalfWins, a.HalfWins), cmp.Compare(b.Points, a.Points))
}

func rank(fit []Fitness) []int {
	order := indices(len(fit))
	slices.SortStableFunc(order, func(i, j int) int { return compareFitness(fit[i], fit[j]) })
	return order
}

// cardTable plays games of Brisca or Tute between agents. It reuses its memory and serves one goroutine.
type cardTable struct {
	mode     cards.Mode
	rules    []baraja.TableRules // each deal draws one of these combinations
	position cards.Position
	legal    [rules.MaxMoves]rules.Move
	src      rules.Stream
	rand     *rules.Rand // random numbers of the agents
}

// play plays one game with the cards and the optional rules that seed determines. Agent i has seat (i + rotation)
// modulo the number of seats. It returns the final position, which is valid until the next game.
func (t *cardTable) play(agents []Agent, seed uint64, rotation int) *cards.Position {
	*t.rand = *rules.NewRand(seed)
	rule := t.rules[t.rand.Below(len(t.rules))]
	t.src = rules.FastStream(t.rand)
	p := &t.position
	p.Deal(t.mode, rule, &t.src)
	*t.rand = *rules.NewRand(t.rand.Uint64() + uint64(rotation))
	for _, a := range agents {
		a.Begin(t.rand)
	}
	n := len(agents)
	for seat := p.Turn(); seat >= 0; seat = p.Turn() {
		agent := agents[(seat-rotation%n+n)%n]
		p.Play(agent.Choose(p, p.Legal(t.legal[:0])))
	}
	return p
}

// match plays the given number of games and returns the fitness of each agent. It plays the same deal (shuffle)
// with every seating of the agents before the next deal: game g has the deal of seeds[g/len(agents)].
func (t *cardTable) match(agents []Agent, games int, seeds []uint64) (fit [baraja.TableSeats]Fitness) {
	n := len(agents)
	for g := range games {
		p := t.play(agents, seeds[g/n], g%n)
		for _, a := range agents {
			if a, ok := a.(endObserver); ok {
				a.observeEnd(p)
			}
		}
		for i := range agents {
			seat := (i + g) % n
			fit[i].HalfWins += 1 + p.Outcome(seat)
			fit[i].Points += int(p.Board().Points[seat])
			fit[i].Games++
		}
	}
	return fit
}

// endObserver is implemented by an agent that must be told the final position of each game.
type endObserver interface{ observeEnd(*cards.Position) }
