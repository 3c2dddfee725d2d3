package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
)

// briscaTree and tuteTree are states for the searches of packages ismcts and endgame.
type briscaTree struct {
	brisca.State
	shared *cardsShared
}

type tuteTree struct {
	tute.State
	shared *cardsShared
}

// cardsShared has the data that all positions of a search share.
type cardsShared struct {
	ending *endgame.Solver[briscaTree, *briscaTree]
	lacks  []tute.Lack // cards that the other seats have shown not to hold
}

// pointShare is the part of a score that depends on the margin of points. It makes the search prefer, of
// moves that win equally often, the one that wins by more.
const pointShare = 0.1

// tableScores sets the score of each seat at the end of a game: the fraction of the other sides that its side
// has beaten and, with the weight pointShare, its margin of points.
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

// duelScore returns the score of one side against another, from 0 to 1.
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

// maxPoints is the most points that a game of Tute can bring: cards, all songs, and the last ten.
const maxPoints = 240

// Scores sets the score of each seat when the game is over.
func (t *briscaTree) Scores(scores *[rules.MaxSeats]float32) {
	tableScores(&t.Table, t.Rules().Teams, scores)
}

// Scores sets the score of each seat when the game is over.
func (t *tuteTree) Scores(scores *[rules.MaxSeats]float32) {
	tableScores(&t.Table, t.Rules().Teams, scores)
}

// openHands reports whether the two players of a game know both hands. If the stock is used up, the other
// hand has all cards that one has not seen.
func openHands(t *baraja.Table) bool { return t.Players == 2 && t.StockSize() == 0 }

// maxRedeals is how many deals are tried to find one that agrees with what the seats have shown.
const maxRedeals = 16

// Redeal deals the cards again that a seat does not see. If it finds one, it uses a deal that also agrees
// with what the seats have shown before the last draw.
func (t *tuteTree) Redeal(seat int, r *rules.Rand) {
	for range maxRedeals {
		t.State.Redeal(seat, r)
		if t.isConsistent() {
			return
		}
	}
}

// isConsistent reports whether the dealt hands agree with what the seats have shown not to hold.
func (t *tuteTree) isConsistent() bool {
	for i := range t.shared.lacks {
		l := &t.shared.lacks[i]
		if hidden := t.Hands[l.Seat] &^ t.KnownCards[l.Seat]; (hidden & l.Cards).Len() > l.MaxUnknown {
			return false
		}
	}
	return true
}

// Margin returns the points of seat 0 minus those of seat 1.
func (t *briscaTree) Margin() int32 { return int32(t.Table.Points[0]) - int32(t.Table.Points[1]) }

// Margin returns the points of seat 0 minus those of seat 1.
func (t *tuteTree) Margin() int32 { return int32(t.Table.Points[0]) - int32(t.Table.Points[1]) }

// Key returns 0, because with so few positions a lookup takes longer than a search.
func (t *briscaTree) Key() uint64 { return 0 }

// Key returns a hash of a position between tricks. Within a trick it returns 0.
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

// mixBits is the finalizer of MurmurHash3 (Appleby, 2011).
func mixBits(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Rank prefers tricks with points that are certainly won, and cards of little value in other tricks.
func (t *briscaTree) Rank(m rules.Move) int32 { return rankCard(&t.Table, m) }

// Rank prefers tricks with points that are certainly won, and cards of little value in other tricks.
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
