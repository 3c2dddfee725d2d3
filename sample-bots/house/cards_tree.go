package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
)

// briscaTree is a position of Brisca in the form that the tree search of package ismcts and the solver of package
// endgame need. tuteTree is the same for Tute.
type briscaTree struct {
	brisca.State
	shared *cardsShared
}

type tuteTree struct {
	tute.State
	shared *cardsShared
}

// cardsShared has data that all positions of one search share.
type cardsShared struct {
	ending *endgame.Solver[briscaTree, *briscaTree]
	lacks  []tute.Lack // cards that other seats cannot have, as their play has shown
}

// pointShare is the part of a search score, from 0 to 1, that depends on the difference in points. Of moves that
// win equally often, the search therefore prefers the one that wins by more.
const pointShare = 0.1

// tableScores sets the score of each seat at the end of a game, from 0 to 1. It is the average of duelScore against
// each of the other sides (teams or single seats). teams is set if the seats play in two teams.
func tableScores(t *baraja.Table, teams bool, scores *[rules.MaxSeats]float32) {
	if teams {
		even, odd := t.Points[0]+t.Points[2], t.Points[1]+t.Points[3]
		s := duelScore(int(even), int(odd))
		scores[0], scores[2], scores[1], scores[3] = s, s, 1-s, 1-s
		return
	}
	n := int(t.Players)
	for seat := range n {
		sum := float32(0)
		for other := range n {
			if other != seat {
				sum += duelScore(int(t.Points[seat]), int(t.Points[other]))
			}
		}
		scores[seat] = sum / float32(n-1)
	}
}

// duelScore returns the score of a side against another, from 0 to 1. mine and theirs are the points of the two
// sides. Nine tenths of the score depend on who wins, the rest on the difference in points.
func duelScore(mine, theirs int) float32 {
	won := float32(0.5)
	switch {
	case mine > theirs:
		won = 1
	case mine < theirs:
		won = 0
	}
	margin := 0.5 + float32(mine-theirs)/(2*maxPoints)
	return won*(1-pointShare) + margin*pointShare
}

// maxPoints is the maximum number of points in a game of Tute: of the cards, of all pairs of 12 and 11, and
// of the last trick.
const maxPoints = 240

func (t *briscaTree) Scores(scores *[rules.MaxSeats]float32) {
	tableScores(&t.Table, t.Rules().Teams, scores)
}

func (t *tuteTree) Scores(scores *[rules.MaxSeats]float32) {
	tableScores(&t.Table, t.Rules().Teams, scores)
}

// openHands reports whether each of two players knows the hand of the other. This is the case when the stock
// is used up, because the other hand then has all cards that the player has not seen.
func openHands(t *baraja.Table) bool { return t.Players == 2 && t.StockSize() == 0 }

// maxRedeals is the maximum number of random deals that Redeal tries to find one that agrees with the play so far.
const maxRedeals = 16

// Redeal deals the cards that the given seat does not see at random. It deals up to maxRedeals times, until no seat
// has a card that its earlier play rules out. If no deal succeeds, it keeps the last.
func (t *tuteTree) Redeal(seat int, r *rules.Rand) {
	for range maxRedeals {
		t.State.Redeal(seat, r)
		if t.isConsistent() {
			return
		}
	}
}

// isConsistent reports whether each seat could hold the hand that was dealt to it at random, given the cards that
// it has played.
func (t *tuteTree) isConsistent() bool {
	for i := range t.shared.lacks {
		l := &t.shared.lacks[i]
		if hidden := t.Hands[l.Seat] &^ t.KnownCards[l.Seat]; (hidden & l.Cards).Len() > l.MaxUnknown {
			return false
		}
	}
	return true
}

// Margin returns the present points of seat 0 minus those of seat 1.
func (t *briscaTree) Margin() int32 { return int32(t.Table.Points[0]) - int32(t.Table.Points[1]) }

func (t *tuteTree) Margin() int32 { return int32(t.Table.Points[0]) - int32(t.Table.Points[1]) }

// Key returns 0, which means that the solver stores no result for the position. In the last positions of Brisca a
// lookup takes longer than a search.
func (t *briscaTree) Key() uint64 { return 0 }

// Key returns a hash of the position for the solver's table. Within a trick it returns 0, and no result is stored.
func (t *tuteTree) Key() uint64 {
	if t.TrickSize > 0 {
		return 0
	}
	r := t.Rules()
	songs := uint64(t.DeclaredSuits[0])<<16 | uint64(t.DeclaredSuits[1])<<12 | uint64(t.SungSuits)<<4 | uint64(t.SongChoice)
	h := songs<<8 | uint64(t.Trumps())<<5 | uint64(t.Mover)<<4 | uint64(t.Leader)<<3
	h |= uint64(b2i(r.Last10)<<2 | b2i(r.Hunt3)<<1 | b2i(r.FollowOnly))
	h = mixBits(h)
	h = mixBits(h ^ uint64(t.Hands[0]))
	h = mixBits(h ^ uint64(t.Hands[1]))
	if three := t.Hands[0] | t.Hands[1]; r.Hunt3 && three.Has(baraja.CardOf(3, t.Trumps())) {
		// With hunt3, the points at the end also depend on the current points.
		h = mixBits(h ^ uint64(uint16(t.Table.Points[0]))<<16 ^ uint64(uint16(t.Table.Points[1])))
	}
	return h | 1
}

// mixBits scrambles the bits of h, so that each input bit affects all bits of the result. It is the finalizer
// of MurmurHash3 (Appleby, 2011).
func mixBits(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Rank returns a number by which the solver orders the moves. Cards that certainly win a trick with points
// have the highest numbers; in other tricks, cards with few points and little strength are higher.
func (t *briscaTree) Rank(m rules.Move) int32 { return rankCard(&t.Table, m) }

// Rank orders the moves for the solver as briscaTree.Rank does.
func (t *tuteTree) Rank(m rules.Move) int32 { return rankCard(&t.Table, m) }

func rankCard(t *baraja.Table, m rules.Move) int32 {
	if m >= baraja.SwapMove {
		return 0
	}
	c := baraja.Card(m)
	value := int32(baraja.Value(c))
	cost := int32(baraja.Strength(c))
	if c.Suit() == t.Trumps() {
		cost += 10
	}
	wins := false
	if t.TrickSize > 0 {
		wins = baraja.BeatingCards(t.Trumps(), t.Best).Has(c)
		value += int32(t.Pot)
	} else {
		wins = baraja.BeatingCards(t.Trumps(), c)&t.Hands[1-t.Mover] == 0
	}
	if wins {
		return 1000 + 20*value - cost
	}
	return -20*value - cost
}
