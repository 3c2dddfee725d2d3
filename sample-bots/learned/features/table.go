package features

import (
	"math/bits"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Complete is the name of the encoding of CompleteEncoder. The thesis does not have it.
const Complete = "complete"

const (
	maxDraws   = 17 // maximum number of tricks after which cards are drawn, reached in Brisca with two players
	pointsStep = 4  // points that share an input
)

// CompleteEncoder encodes everything that a seat knows of a position. Suits are ordered by their role in the game
// instead of by name. Inputs are 0 or 1, in this order:
//
//   - the strength of the trump card while it lies on the table, 10
//   - for each place of the trick but the last, the card there, 40
//   - the hand, 40
//   - the cards of the hand that would take the trick or, if the seat leads, that no unseen card of their suit
//     beats, 40
//   - the played cards, 40
//   - for each other seat, the next one first, the cards that all know to be in its hand, 40
//   - the number of tricks left after which cards are drawn, 18
//   - for each seat, the own one first, its points in steps of 4
//   - in Tute, for each seat, the own one first, the suits that it has declared in this trick, 4, and those of the
//     songs that it has scored, 4; then the suits to choose from, 4
//   - the optional rules
//
// The index of a card is 10 times the place of its suit plus its place in the suit, as in cards.Index. Trumps come
// first, then the suit that was led, then the others by their strongest cards in hand, then by those played.
type CompleteEncoder struct {
	mode   cards.Mode
	steps  int // number of inputs for the points of a seat
	inputs int
}

// NewCompleteEncoder returns the encoder for a mode.
func NewCompleteEncoder(m cards.Mode) CompleteEncoder {
	t := CompleteEncoder{mode: m, steps: m.MaxPoints()/pointsStep + 1}
	t.inputs = ranks + baraja.TableCards*(2*(m.Players-1)+3) + maxDraws + 1 + m.Players*t.steps + m.RuleCount()
	if m.Tute {
		t.inputs += suits * (2*m.Players + 1)
	}
	return t
}

// Inputs returns the number of inputs.
func (e *CompleteEncoder) Inputs() int { return e.inputs }

// Places has the place of each suit in the inputs and outputs for one position.
type Places [suits]uint8

// Output returns the output of the net for an action of package cards. It is the action's number with the
// suit replaced by its place.
func (p *Places) Output(action int) int {
	switch {
	case action < cards.ExchangeAction:
		suit := action / ranks
		return action + (int(p[suit])-suit)*ranks
	case action == cards.ExchangeAction:
		return action
	}
	return cards.SingAction + int(p[action-cards.SingAction])
}

// Append appends the inputs that are 1 for what the seat to move knows of a position. It also returns the
// places of the suits, which the outputs need.
func (e *CompleteEncoder) Append(ones []uint16, p *cards.Position) ([]uint16, Places) {
	t, songs := p.Board(), p.Songs()
	seat, players := int(t.Mover), e.mode.Players
	hand, seen := cards.Bits40(t.Hands[seat]), cards.Bits40(p.History.PlayedCards)
	a := lister{ones: ones, places: suitPlaces(t, hand, seen)}
	if t.TrumpOnTable() {
		a.addOneHot(baraja.Strength(t.Trump)-1, ranks)
	} else {
		a.next += ranks
	}
	trick := t.Trick()
	for i := range players - 1 {
		if i < len(trick) {
			a.addCard(trick[i])
		} else {
			a.next += baraja.TableCards
		}
	}
	a.addCards(hand)
	a.addCards(cards.Bits40(t.Hands[seat] & winningCards(t, seat)))
	a.addCards(seen)
	for i := 1; i < players; i++ {
		a.addCards(cards.Bits40(t.KnownCards[(seat+i)%players]))
	}
	a.addOneHot(min(t.StockSize()/players, maxDraws), maxDraws+1)
	for i := range players {
		a.addOneHot(min(max(0, int(t.Points[(seat+i)%players]))/pointsStep, e.steps-1), e.steps)
	}
	if e.mode.Tute {
		for i := range players {
			other := (seat + i) % players
			declared := uint8(0)
			if d := songs.DeclaredSuits[other]; d != 0 {
				declared = 1 << (d - 1)
			}
			a.addSuits(declared)
			a.addSuits(p.History.ScoredSongs[other])
		}
		a.addSuits(songs.ChoiceSuits)
	}
	for rule := cards.RuleBits(p.Options()); rule != 0; rule &= rule - 1 {
		a.ones = append(a.ones, uint16(a.next+bits.TrailingZeros(uint(rule))))
	}
	return a.ones, a.places
}

// winningCards returns the cards that would take the trick. If the seat leads, it returns the cards of its
// hand that no unseen card of their suit beats.
func winningCards(t *baraja.Table, seat int) (cards baraja.Set) {
	if t.TrickSize > 0 {
		return baraja.BeatingCards(t.Trumps(), t.Best)
	}
	unseen := t.Unseen(seat)
	if t.TrumpOnTable() {
		unseen = unseen.With(t.Trump)
	}
	for hand := t.Hands[seat]; hand != 0; hand &= hand - 1 {
		c := hand.First()
		if baraja.BeatingCards(t.Trumps(), c).OfSuit(c.Suit())&unseen == 0 {
			cards = cards.With(c)
		}
	}
	return cards
}

// suitSetCount is the number of sets of cards of one suit.
const suitSetCount = 1 << ranks

// strengthBits maps a set of cards of one suit, in the form of cards.Bits40, to the same set with the bits in
// order of strength. The 1 is the highest bit.
var strengthBits = func() (table [suitSetCount]uint16) {
	for set := range table {
		for i := range ranks {
			if set>>i&1 != 0 {
				table[set] |= 1 << (baraja.Strength(cards.CardAt(i)) - 1)
			}
		}
	}
	return table
}()

// suitPlaces orders the suits by their importance for the seat to move, from its hand and the cards seen.
func suitPlaces(t *baraja.Table, hand, seen uint64) (p Places) {
	var weight [suits]uint32
	for suit := range suits {
		weight[suit] = uint32(strengthBits[hand>>(suit*ranks)%suitSetCount])<<ranks | uint32(strengthBits[seen>>(suit*ranks)%suitSetCount])
	}
	weight[t.Trumps()] |= 1 << 31
	if t.TrickSize > 0 {
		weight[t.Trick()[0].Suit()] |= 1 << 30
	}
	for suit := range suits {
		for other := range suits {
			if weight[other] > weight[suit] || weight[other] == weight[suit] && other < suit {
				p[suit]++
			}
		}
	}
	return p
}

// lister lists the inputs that are 1, one part of the encoding after another.
type lister struct {
	ones   []uint16
	next   int // first input of the next part
	places Places
}

// addOneHot adds n inputs. Input i is 1, the others are 0.
func (a *lister) addOneHot(i, n int) {
	a.ones = append(a.ones, uint16(a.next+i))
	a.next += n
}

func (a *lister) addCard(c baraja.Card) {
	a.addOneHot(a.places.Output(cards.Index(c)), baraja.TableCards)
}

// addCards adds a set of cards in the form of cards.Bits40.
func (a *lister) addCards(set uint64) {
	for ; set != 0; set &= set - 1 {
		a.ones = append(a.ones, uint16(a.next+a.places.Output(bits.TrailingZeros64(set))))
	}
	a.next += baraja.TableCards
}

// addSuits adds a set of suits, a bit each.
func (a *lister) addSuits(set uint8) {
	for ; set != 0; set &= set - 1 {
		a.ones = append(a.ones, uint16(a.next+int(a.places[bits.TrailingZeros8(set)])))
	}
	a.next += suits
}
