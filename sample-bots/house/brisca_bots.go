package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
)

// The agents of G. Pinar for Brisca. They are made for two players. With more players, a card counts as
// winning if it, or a partner's card, is the best of the trick so far.

// studyMaxLead is a number of card points. As the first card of a trick, a card with at most this many points is
// played before any trump, as in Pinar's study of Brisca bots. An example is a 12, which has 4 points.
const studyMaxLead = 4

// appraiser estimates the value of each card that a seat can play in a position of Brisca.
type appraiser interface {
	// read sets the position s and the seat, which is to move in it. Later calls of worth refer to this position.
	read(s rules.State, seat int)
	// worth returns the estimated value of playing c. Higher is better; the unit depends on the appraiser.
	worth(c baraja.Card) float64
}

// briscaAgent plays the card to which its appraiser gives the highest value. If several cards have this value, it
// plays the weakest of them, and a random one if several are equally weak. It exchanges the trump card whenever
// that is legal.
type briscaAgent struct {
	appraiser
	ending *endgame.Solver[briscaTree, *briscaTree] // exact solver of the last tricks of two players; nil if the agent does not solve them
	legal  []rules.Move
}

func newBriscaBasic(*params) Player {
	return newBriscaPlayer(&briscaAgent{appraiser: &studyAppraiser{gain: 1, maxLead: baraja.AllPoints}})
}

func newBriscaWeighted(p *params) Player {
	return newBriscaPlayer(&briscaAgent{appraiser: newStudyAppraiser(p)})
}

func newBriscaMinimax(p *params) Player {
	return newBriscaPlayer(&briscaAgent{appraiser: newStudyAppraiser(p), ending: newBriscaEnding()})
}

func newBriscaPlayer(a *briscaAgent) Player {
	return &thinkerBot{thinkers: map[string]thinker{"brisca": a}}
}

// newBriscaEnding returns an exact solver of endings that keeps no table of solved positions. There are so few
// positions that a table would make the solver slower.
func newBriscaEnding() *endgame.Solver[briscaTree, *briscaTree] {
	return endgame.New[briscaTree](0)
}

func (a *briscaAgent) startGame(*rules.Variant, rules.State, int) error { return nil }

func (a *briscaAgent) think(_ *protocol.Turn, state rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	s := state.(*brisca.State)
	if a.ending != nil && openHands(&s.Table) {
		found := a.ending.Solve(&briscaTree{State: *s}, search.Budget{}, r)
		return found.Move, appendSolved(info, s, found)
	}
	m, worth := a.choose(s, r)
	if m >= baraja.SwapMove {
		return m, info
	}
	return m, appendScore(info, worth)
}

// choose returns the agent's move in s, and the value that the agent's appraiser gives to this move. If the
// exchange of the trump card is legal, it is the move; its value is 0.
func (a *briscaAgent) choose(s *brisca.State, r *rules.Rand) (best rules.Move, top float64) {
	a.legal = s.Legal(a.legal[:0])
	if last := a.legal[len(a.legal)-1]; last >= baraja.SwapMove {
		return last, 0
	}
	a.read(s, s.Turn())
	ties := 0
	for i, m := range a.legal {
		worth := a.worth(baraja.Card(m))
		step := baraja.Strength(baraja.Card(m)) - baraja.Strength(baraja.Card(best))
		switch {
		case i == 0 || worth > top || worth == top && step < 0:
			best, top, ties = m, worth, 1
		case worth == top && step == 0:
			if ties++; r.Below(ties) == 0 {
				best = m
			}
		}
	}
	return best, top
}

// appendSolved appends the result of an endgame solver to info, the text that the bot reports with its move, and
// returns the extended text. The reported score is the final difference in points, from the view of the seat to
// move in s.
func appendSolved(info []byte, s rules.State, found endgame.Solution) []byte {
	margin := found.Margin
	if s.Turn() != 0 {
		margin = -margin
	}
	info = appendScore(info, float64(margin))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return appendLine(info, s, found.Line)
}

// studyAppraiser values cards as Pinar's study of Brisca bots does. It values the first card of a trick by its
// points, and a later card by its strength and by the points that it gains or loses in the trick.
type studyAppraiser struct {
	gain, cost float64
	maxLead    int // a card with at most this many points is led before any trump
	seat       int
	teams      bool
	table      *baraja.Table
}

func newStudyAppraiser(p *params) *studyAppraiser {
	return &studyAppraiser{
		gain:    p.readFloat("gain", 0, 1000, 9.5, "weight of the points that a card wins or loses"),
		cost:    p.readFloat("cost", 0, 1000, 2, "weight of the card's strength, ten times that of a trump"),
		maxLead: studyMaxLead,
	}
}

func (a *studyAppraiser) read(s rules.State, seat int) {
	state := s.(*brisca.State)
	a.table, a.seat, a.teams = &state.Table, seat, state.Rules().Teams
}

func (a *studyAppraiser) worth(c baraja.Card) float64 {
	if a.table.TrickSize == 0 {
		return a.leadWorth(c)
	}
	return a.gain*float64(trickGain(a.table, a.seat, a.teams, c)) - a.cost*float64(a.strength(c))
}

// leadWorth values c as the first card of a trick. Cards that are not trumps and have at most maxLead points have
// the highest values, and fewer points are better. Then follow trumps, the weakest first, and then all other cards.
func (a *studyAppraiser) leadWorth(c baraja.Card) float64 {
	const trump, above = 100, 200
	value := baraja.Value(c)
	switch {
	case c.Suit() == a.table.Trumps():
		return float64(-trump - baraja.Strength(c))
	case value > a.maxLead:
		return float64(-above - value)
	}
	return float64(-value)
}

// strength returns the strength of a card within its suit, times ten if it is a trump.
func (a *studyAppraiser) strength(c baraja.Card) int {
	if c.Suit() == a.table.Trumps() {
		return 10 * baraja.Strength(c)
	}
	return baraja.Strength(c)
}

// trickGain returns the points that a seat gains in the trick by playing c, as if no further card were played: the
// points in the trick plus those of c. The result is negative unless c or a partner's card is then the best card.
// teams is set if the seats play in two teams.
func trickGain(t *baraja.Table, seat int, teams bool, c baraja.Card) int {
	points := int(t.Pot) + baraja.Value(c)
	partner := teams && int(t.Winner)%2 == seat%2
	if partner || baraja.BeatingCards(t.Trumps(), t.Best).Has(c) {
		return points
	}
	return -points
}
