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

// studyMaxLead is the most points of a card, those of a 12, that the study's agents lead before a trump.
const studyMaxLead = 4

// appraiser values the cards that a seat can play.
type appraiser interface {
	// read sets the position.
	read(s rules.State, seat int)
	// worth returns the value of playing a card. Higher is better.
	worth(c baraja.Card) float64
}

// briscaAgent plays the card of the highest value. Of cards with the same value it plays the weakest, and
// selects among equally weak ones at random. It exchanges the trump card whenever it may.
type briscaAgent struct {
	appraiser
	ending *endgame.Solver[briscaTree, *briscaTree] // solves the end of a game of two; nil if the agent does not use it
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

// newBriscaEnding returns a solver without a table, which is not worth it for the few positions that are left.
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

// choose returns a move and its value. The value of an exchange is 0.
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

// appendSolved appends the result of a solver. The score is the margin at the end from the view of the seat
// to move.
func appendSolved(info []byte, s rules.State, found endgame.Solution) []byte {
	margin := found.Margin
	if s.Turn() != 0 {
		margin = -margin
	}
	info = appendScore(info, float64(margin))
	info = appendInfo(info, "nodes", int64(found.Nodes))
	return appendLine(info, s, found.Line)
}

// studyAppraiser values cards as the study does: a lead by its points, an answer by its gain and its cost.
type studyAppraiser struct {
	gain, cost float64
	maxLead    int // most points of a card that is led before a trump
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

// leadWorth values a lead. Cards that are not trumps come first, those with few points before others; then
// trumps by their strength; then cards with more than maxLead points.
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

// strength returns the cost of a card in the study.
func (a *studyAppraiser) strength(c baraja.Card) int {
	if c.Suit() == a.table.Trumps() {
		return 10 * baraja.Strength(c)
	}
	return baraja.Strength(c)
}

// trickGain returns the points of the trick including card c, or their negative if another side wins it so far.
func trickGain(t *baraja.Table, seat int, teams bool, c baraja.Card) int {
	points := int(t.Pot) + baraja.Value(c)
	partner := teams && int(t.Winner)%2 == seat%2
	if partner || baraja.BeatingCards(t.Trumps(), t.Best).Has(c) {
		return points
	}
	return -points
}
