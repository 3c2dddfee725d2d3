package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
)

// The expert system of M. Arnaus, "La Podrida", 2023: 18 rules for bids and 7 for cards, in the order in which they
// are tried.

// podridaFacts has the facts that determine the bid of the bot podrida-rules. The seat to move knows all of them.
// T, g and t below are the symbols for three of these facts in Arnaus's study of La Podrida.
type podridaFacts struct {
	cards    int    // number of cards dealt to each seat
	round    int    // round in the rules: the cards dealt to each seat or, by an option, its number
	enough   int    // number of bids from which hasTwoBids is true
	legal    uint64 // bit n is set if n is a legal bid
	trumps   int    // T: number of trumps in hand
	good     int    // g: number of aces and kings that are not trumps
	goodT    int    // t: number of aces and kings of trumps
	bidSum   int    // sum of the bids so far
	bidCount int    // number of seats that have bid
}

func (b podridaRules) facts(s *podrida.State, seat int) podridaFacts {
	hand := s.Hand(seat)
	trumps := hand.OfSuit(s.Trumps())
	honours := hand & podridaHonours
	f := podridaFacts{cards: s.HandSize(), round: s.HandSize(), enough: 2, trumps: trumps.Len(), goodT: (trumps & honours).Len()}
	if b.countsRounds {
		f.round = s.Round()
	}
	if b.needsThree {
		f.enough = 3
	}
	f.good = honours.Len() - f.goodT
	f.bidCount, f.bidSum = s.Bids()
	var memory [rules.MaxMoves]rules.Move
	for _, m := range s.Legal(memory[:0]) {
		if n, ok := podrida.Bid(m); ok {
			f.legal |= 1 << n
		}
	}
	return f
}

var podridaHonours = func() (s baraja.Set) {
	for suit := range baraja.Suit(4) {
		s = s.With(baraja.CardOf(1, suit)).With(baraja.CardOf(12, suit))
	}
	return s
}()

func (f *podridaFacts) isRound(low, high int) bool { return low <= f.round && f.round <= high }

func (f *podridaFacts) mayBid(n int) bool { return n >= 0 && n <= f.cards && f.legal>>n&1 != 0 }

// hasFewBids reports whether the sum of the bids so far is at most one. The names of rules in bidRules call this
// "few".
func (f *podridaFacts) hasFewBids() bool { return f.bidSum <= 1 }

// hasLowBids reports whether the sum of the bids so far is less than f.round minus 4. The names of rules in bidRules
// call this "below".
func (f *podridaFacts) hasLowBids() bool { return f.bidSum < f.round-4 }

// hasTwoBids reports whether at least f.enough seats have bid: two, or three if the bot option "f16" is 3. The names of
// rules in bidRules call this "two bids".
func (f *podridaFacts) hasTwoBids() bool { return f.bidCount >= f.enough }

// isLong reports whether the hand has trumps and also aces or kings of other suits, in round 7 or later. The next
// two functions are for a hand without trumps in round 5 or later: isPoor reports whether it has no aces and kings,
// isSpare whether it has some.
func (f *podridaFacts) isLong() bool  { return f.trumps > 0 && !f.isRound(1, 6) && f.good > 0 }
func (f *podridaFacts) isPoor() bool  { return f.trumps == 0 && f.good == 0 && !f.isRound(1, 4) }
func (f *podridaFacts) isSpare() bool { return f.trumps == 0 && f.good > 0 && !f.isRound(1, 4) }

// bidRule is a rule for the bid of the bot podrida-rules. It applies if its condition holds and no earlier rule
// applies.
type bidRule struct {
	number    int
	name      string
	condition func(*podridaFacts) bool
	bid       func(*podridaFacts) int
}

// gapRule is the number that the bot podrida-rules reports with a move if none of its rules has chosen the move. The
// numbers of the rules begin with 1.
const gapRule = 0

// gapBids maps each value of the bot option "gap" to the function that returns the bid if none of bidRules applies: the
// number of aces and kings in hand, the number of trumps, or 0.
var gapBids = map[string]func(*podridaFacts) int{
	"honours": func(f *podridaFacts) int { return f.good + f.goodT },
	"trumps":  func(f *podridaFacts) int { return f.trumps },
	"zero":    func(*podridaFacts) int { return 0 },
}

// bidRules are the 18 rules for bids, in the order in which they are tried. The first rule whose condition
// holds determines the bid.
var bidRules = []bidRule{
	{1, "trumps, round 1-6, legal T",
		func(f *podridaFacts) bool { return f.trumps > 0 && f.isRound(1, 6) && f.mayBid(f.trumps) },
		func(f *podridaFacts) int { return f.trumps }},
	{2, "trumps, round 1-6, not legal T, t > 0",
		func(f *podridaFacts) bool { return f.trumps > 0 && f.isRound(1, 6) && f.goodT > 0 },
		func(f *podridaFacts) int { return f.trumps + f.goodT }},
	{3, "trumps, round 1-6, not legal T, t = 0",
		func(f *podridaFacts) bool { return f.trumps > 0 && f.isRound(1, 6) },
		func(f *podridaFacts) int { return f.trumps - 1 }},
	{4, "trumps, not round 1-6, g > 0, legal g+t",
		func(f *podridaFacts) bool { return f.isLong() && f.mayBid(f.good+f.goodT) },
		func(f *podridaFacts) int { return f.good + f.goodT }},
	{5, "trumps, not round 1-6, g > 0, not legal g+t, round 5-7, few, legal g+t+1",
		func(f *podridaFacts) bool {
			return f.isLong() && f.isRound(5, 7) && f.hasFewBids() && f.mayBid(f.good+f.goodT+1)
		},
		func(f *podridaFacts) int { return f.good + f.goodT + 1 }},
	{6, "trumps, not round 1-6, g > 0, not legal g+t, round 5-7, not few, legal g+t-1",
		func(f *podridaFacts) bool {
			return f.isLong() && f.isRound(5, 7) && !f.hasFewBids() && f.mayBid(f.good+f.goodT-1)
		},
		func(f *podridaFacts) int { return f.good + f.goodT - 1 }},
	{7, "trumps, not round 1-6, g > 0, not legal g+t, round 5-7, not few, not legal g+t-1, t > 0",
		func(f *podridaFacts) bool { return f.isLong() && f.isRound(5, 7) && !f.hasFewBids() && f.goodT > 0 },
		func(f *podridaFacts) int { return f.good + 2*f.goodT }},
	{8, "trumps, not round 1-6, g > 0, not legal g+t, round 5-7, not few, not legal g+t-1, t = 0",
		func(f *podridaFacts) bool { return f.isLong() && f.isRound(5, 7) && !f.hasFewBids() },
		func(f *podridaFacts) int { return f.good + f.goodT - 1 }},
	{9, "no trumps, round 1-4",
		func(f *podridaFacts) bool { return f.trumps == 0 && f.isRound(1, 4) },
		func(*podridaFacts) int { return 0 }},
	{10, "no trumps, g > 0, not round 1-4, legal g",
		func(f *podridaFacts) bool { return f.isSpare() && f.mayBid(f.good) },
		func(f *podridaFacts) int { return f.good }},
	{11, "no trumps, g > 0, not round 1-4, not legal g, round 5-7, few",
		func(f *podridaFacts) bool { return f.isSpare() && f.isRound(5, 7) && f.hasFewBids() },
		func(f *podridaFacts) int { return f.good + 1 }},
	{12, "no trumps, g > 0, not round 1-4, not legal g, round 5-7, not few",
		func(f *podridaFacts) bool { return f.isSpare() && f.isRound(5, 7) },
		func(f *podridaFacts) int { return f.good - 1 }},
	{13, "no trumps, g > 0, not round 1-4, not legal g, not round 5-7, not few",
		func(f *podridaFacts) bool { return f.isSpare() && !f.hasFewBids() },
		func(f *podridaFacts) int { return f.good + 1 }},
	{14, "no trumps, g = 0, not round 1-4, round 8-12, below, two bids, legal 2",
		func(f *podridaFacts) bool {
			return f.isPoor() && f.isRound(8, 12) && f.hasLowBids() && f.hasTwoBids() && f.mayBid(2)
		},
		func(*podridaFacts) int { return 2 }},
	{15, "no trumps, g = 0, not round 1-4, round 8-12, below, two bids, not legal 2",
		func(f *podridaFacts) bool { return f.isPoor() && f.isRound(8, 12) && f.hasLowBids() && f.hasTwoBids() },
		func(*podridaFacts) int { return 1 }},
	{16, "no trumps, g = 0, not round 1-4, round 8-12, not below, two bids, legal 1",
		func(f *podridaFacts) bool {
			return f.isPoor() && f.isRound(8, 12) && !f.hasLowBids() && f.hasTwoBids() && f.mayBid(1)
		},
		func(*podridaFacts) int { return 1 }},
	{17, "no trumps, g = 0, not round 1-4, round 8-12, not below, two bids, not legal 1",
		func(f *podridaFacts) bool { return f.isPoor() && f.isRound(8, 12) && !f.hasLowBids() && f.hasTwoBids() },
		func(*podridaFacts) int { return 0 }},
	{18, "no trumps, g = 0, not round 1-4, not round 8-12",
		func(f *podridaFacts) bool { return f.isPoor() && !f.isRound(8, 12) },
		func(*podridaFacts) int { return 0 }},
}

// bid returns n, the number of tricks to bid, and the number of the rule that has chosen it. This is the first of
// bidRules whose condition holds. If there is none, gap chooses n, and rule is gapRule. If the chosen number is not a
// legal bid, n is the nearest legal bid.
func (f *podridaFacts) bid(gap func(*podridaFacts) int) (n, rule int) {
	n, rule = gap(f), gapRule
	for i := range bidRules {
		if r := &bidRules[i]; r.condition(f) {
			n, rule = r.bid(f), r.number
			break
		}
	}
	return f.nearest(n), rule
}

// nearest returns the legal bid that is nearest to n. If two are equally near, it returns the lower.
func (f *podridaFacts) nearest(n int) int {
	n = min(max(n, 0), f.cards)
	for d := 0; d <= f.cards; d++ {
		for _, near := range [2]int{n - d, n + d} {
			if f.mayBid(near) {
				return near
			}
		}
	}
	return n
}

// podridaTurn has the facts on which the choice of a card by the bot podrida-rules depends.
type podridaTurn struct {
	cards         baraja.Set // playable cards
	canWin        bool       // one of the playable cards would be the best of the trick so far
	missingTricks int        // bid minus tricks won; negative if the seat has won more than it has bid
}

// playRule is a rule by which the bot podrida-rules plays its best or its worst playable card. It applies if its
// condition holds and no earlier rule applies.
type playRule struct {
	number    int
	name      string
	condition func(*podridaTurn) bool
	playsBest bool
}

// playRules has the rules for playing a card, in the order in which they are tried. The last one always applies.
var playRules = []playRule{
	{19, "one legal card", func(t *podridaTurn) bool { return t.cards.Len() == 1 }, true},
	{20, "needs more tricks and can win", func(t *podridaTurn) bool { return t.missingTricks > 0 && t.canWin }, true},
	{21, "needs more tricks and cannot win", func(t *podridaTurn) bool { return t.missingTricks > 0 }, false},
	{22, "has its bid and could win", func(t *podridaTurn) bool { return t.missingTricks == 0 && t.canWin }, false},
	{23, "has its bid and cannot win", func(t *podridaTurn) bool { return t.missingTricks == 0 }, true},
	{24, "is over its bid and could win", func(t *podridaTurn) bool { return t.canWin }, true},
	{25, "is over its bid and cannot win", func(*podridaTurn) bool { return true }, false},
}

// play returns the card according to the first rule in playRules that applies, and the number of this rule. trumps
// is the suit of trumps.
func (t *podridaTurn) play(trumps baraja.Suit) (card baraja.Card, rule int) {
	for i := range playRules {
		if r := &playRules[i]; r.condition(t) {
			return extremeCard(t.cards, trumps, r.playsBest), r.number
		}
	}
	return t.cards.First(), gapRule
}

// extremeCard returns the best or, if best is false, the worst card of a nonempty set. Trumps are better than
// other cards, then the rank decides. Of equal cards it returns the first in the order of the pack.
func extremeCard(cards baraja.Set, trumps baraja.Suit, best bool) baraja.Card {
	chosen, top := cards.First(), -1000
	for ; cards != 0; cards &= cards - 1 {
		c := cards.First()
		worth := int(podrida.Ranking.Strength[c&63])
		if c.Suit() == trumps {
			worth += 100
		}
		if !best {
			worth = -worth
		}
		if worth > top {
			chosen, top = c, worth
		}
	}
	return chosen
}

// podridaRules plays La Podrida by two fixed lists of rules, bidRules and playRules, from a study by M. Arnaus. With
// each move it reports the number of the rule that applied, or 0 if none did. Its fields decide what the study leaves
// open.
type podridaRules struct {
	countsRounds bool                    // round in the rules is its number; otherwise the number of cards dealt
	needsThree   bool                    // rules that need bids of other seats need three; otherwise two
	gap          func(*podridaFacts) int // returns the bid if no rule applies
}

// studyRules plays La Podrida like the bot podrida-rules with its default options. The bot podrida-mcts uses it in
// simulated games.
var studyRules = podridaRules{gap: gapBids["honours"]}

func newPodridaRules(p *params) Player {
	b := podridaRules{
		countsRounds: p.readWord("round", "the round of a rule: the cards dealt, or the number of the round", "cards", "number") == "number",
		needsThree:   p.readInt("f16", 2, 3, 2, "how many seats must have bid for the study's fact f16") == 3,
		gap:          gapBids[p.readWord("gap", "the bid where no rule applies: the aces and kings, the trumps, or zero", "honours", "trumps", "zero")],
	}
	return &thinkerBot{thinkers: map[string]thinker{"podrida": b}}
}

func (podridaRules) startGame(*rules.Variant, rules.State, int) error { return nil }

func (b podridaRules) think(t *protocol.Turn, state rules.State, _ *rules.Rand, info []byte) (rules.Move, []byte) {
	move, rule := b.choose(state.(*podrida.State), t.Game.Seat)
	return move, appendInfo(info, "rule", int64(rule))
}

// choose returns the move of the given seat in s, a bid or a card, and the number of the rule that has chosen it, which
// is 0 if no rule applied. The seat must be the one to move. choose does not look at the hands of other seats.
func (b podridaRules) choose(s *podrida.State, seat int) (rules.Move, int) {
	if s.IsBidding() {
		f := b.facts(s, seat)
		n, rule := f.bid(b.gap)
		return podrida.BidMove(n), rule
	}
	t := podridaTurn{cards: s.Playable(), missingTricks: s.MissingTricks(seat)}
	t.canWin = t.cards&s.WinningCards() != 0
	card, rule := t.play(s.Trumps())
	return rules.Move(card), rule
}
