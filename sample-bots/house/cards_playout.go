package house

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// playoutValues has the estimated values of cards for simulated games, in hundredths of a point. The first index is
// the suit of trumps, the second the card. There is room for 64 cards, so that an index of the form c&63 needs no
// bounds check.
type playoutValues struct {
	handValue [4][64]int32 // value of keeping a card in the hand
	leadCost  [4][64]int32 // handValue plus the points that may be lost by leading the card
}

var (
	briscaPlayout = newPlayoutValues(briscaWeights)
	tutePlayout   = newPlayoutValues(tuteWeights)
)

const (
	// leadRisk is the expected loss from playing a card that is not a trump as the first of a trick, as a fraction
	// of the card's points.
	leadRisk = 0.5
	// earlyWeight is the factor, in quarters, for the points of a trick in which other seats still play after this
	// one.
	earlyWeight = 3
	// randomCards is how many of every 16 cards in a simulated game are chosen at random, on average.
	randomCards = 2
)

func newPlayoutValues(w weights) *playoutValues {
	p := new(playoutValues)
	for trumps := range baraja.Suit(4) {
		j := briscaJudge{w: w, trickView: trickView{trumps: trumps}, stock: 1}
		for _, c := range baraja.Pack40 {
			keep := j.handValue(c)
			lead := keep
			if c.Suit() != trumps {
				lead += leadRisk * float64(baraja.Value(c))
			}
			p.handValue[trumps][c], p.leadCost[trumps][c] = int32(hundredths*keep), int32(hundredths*lead)
		}
	}
	return p
}

// sensibleCard returns the playable card with the greatest estimated gain in the trick minus its value in the hand.
// pairs has the cards of pairs (12 and 11 of a suit) that have not been scored; playing one of them costs the
// points of its pair. song is the bonus for winning the trick with a declared pair, in hundredths of a point. teams
// is set if the seats play in two teams.
func (p *playoutValues) sensibleCard(t *baraja.Table, playable baraja.Set, teams bool, pairs baraja.Set, song int32) baraja.Card {
	trumps := t.Trumps() % 4
	late := 0
	if t.NextDraw >= t.DrawEnd {
		late = 1
	}
	best, top := baraja.NoCard, int32(-1<<30)
	winning := baraja.BeatingCards(trumps, t.Best)
	partner := teams && t.Winner&1 == uint8(t.Mover)&1
	last := t.TrickSize+1 == t.Players
	for ; playable != 0; playable &= playable - 1 {
		c := playable.First()
		var worth int32
		if t.TrickSize == 0 {
			worth = -p.leadCost[trumps][c&63] >> late
		} else {
			worth = hundredths * (int32(t.Pot) + int32(baraja.Value(c)))
			switch wins := winning.Has(c); {
			case wins:
				worth += song
			case !partner:
				worth = -worth
			}
			if !last {
				worth = worth * earlyWeight / 4
			}
			worth -= p.handValue[trumps][c&63] >> late
		}
		if pairs.Has(c) {
			worth -= keptPairValue
		}
		if worth > top {
			best, top = c, worth
		}
	}
	return best
}

// keptPairValue is the additional value, in hundredths of a point, of a card whose pair (12 and 11 of a suit)
// has not been scored yet.
const keptPairValue = keptPairShare * 20 * hundredths

// Playout plays the game to its end. Most moves are sensible ones, some are random. When two players know
// both hands, it sets the result of perfect play instead.
func (t *briscaTree) Playout(r *rules.Rand) {
	duel := t.Players == 2
	for t.Mover >= 0 {
		if duel && t.NextDraw >= t.DrawEnd {
			t.solve()
			return
		}
		m := rules.Move(pickRandom(t.Hands[t.Mover], r))
		if m == rules.Move(baraja.NoCard) {
			m = t.Guess(nil)
		}
		t.Apply(m, nil)
	}
}

// Guess returns a sensible move without a search. If the exchange of the trump card is legal, it is the move.
func (t *briscaTree) Guess([]rules.Move) rules.Move {
	if options := t.Rules(); options.Exchange {
		if swap := t.LegalSwaps(); swap != 0 {
			return baraja.SwapMove + rules.Move(swap.First())
		}
	}
	return rules.Move(briscaPlayout.sensibleCard(&t.Table, t.Hands[t.Mover], t.Rules().Teams, 0, 0))
}

// solve ends the game and sets the points that the two sides would have after perfect play.
func (t *briscaTree) solve() {
	margin := int16(t.shared.ending.Margin(t))
	all := int16(baraja.AllPoints) + t.Rules().Bonus()
	t.Table.Points[0], t.Table.Points[1] = (all+margin)/2, (all-margin)/2
	t.Mover = rules.Over
}

// Playout plays the game to its end. Most moves are sensible ones, some are random.
func (t *tuteTree) Playout(r *rules.Rand) {
	var memory [8]rules.Move
	for t.Mover >= 0 {
		var m rules.Move
		if t.SongChoice != 0 {
			m = t.Guess(t.Legal(memory[:0]))
		} else if m = rules.Move(pickRandom(t.Playable(), r)); m == rules.Move(baraja.NoCard) {
			m = t.Guess(nil)
		}
		t.Apply(m, nil)
	}
}

// Guess returns a sensible move without a search. It exchanges the trump card if that is legal. If the seat
// has to choose which pair (12 and 11 of a suit) to score, it returns the first of the legal moves.
func (t *tuteTree) Guess(legal []rules.Move) rules.Move {
	if t.SongChoice != 0 {
		return legal[0]
	}
	options := t.Rules()
	if options.Exchange {
		if swap := t.LegalSwaps(); swap != 0 {
			return baraja.SwapMove + rules.Move(swap.First())
		}
	}
	song := int32(0)
	if suit, ok := t.DeclaredBy(int(t.Mover)); ok {
		song = hundredths * int32(t.SongPoints(suit))
	}
	return rules.Move(tutePlayout.sensibleCard(&t.Table, t.Playable(), options.Teams, baraja.Pairs(t.Hands[t.Mover], t.SungSuits), song))
}

// pickRandom returns a random card of the set with the probability randomCards/16, and NoCard otherwise.
func pickRandom(cards baraja.Set, r *rules.Rand) baraja.Card {
	x := r.Uint64()
	if x&15 >= randomCards {
		return baraja.NoCard
	}
	return cards.Nth(int(x >> 32 * uint64(cards.Len()) >> 32))
}
