package features

import (
	"math/bits"

	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Complete is the name of the encoding of CompleteEncoder.
const Complete = "complete"

const (
	maxDraws   = 17 // maximum number of tricks after which cards are drawn, reached in Brisca with two players
	pointsStep = 4  // number of successive points that share an input
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

// NewCompleteEncoder returns an encoder for positions of the mode m.
func NewCompleteEncoder(m cards.Mode) CompleteEncoder {
	t := CompleteEncoder{mode: m, steps: m.MaxPoints()/pointsStep + 1}
	t.inputs = ranks + baraja.TableCards*(2*(m.Players-1)+3) + maxDraws + 1 + m.Players*t.steps + m.RuleCount()
	if m.Tute {
		t.inputs += suits * (2*m.Players + 1)
	}
	return t
}

// Inputs returns the number of inputs of the net.
func (e *CompleteEncoder) Inputs() int { return e.inputs }

// Places has, for each suit in one position, the place of the suit among the inputs and outputs of the net. Trumps
// have place 0.
type Places [suits]uint8

// Output returns the number of the net's output for an action (see cards.Action). It is the number of the action,
// with the suit of the card replaced by its place.
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

// Append encodes for the net what the player to move knows of position p. Each input of the net is 0 or 1. Append
// appends the indexes of the inputs that are 1 to ones, and returns the extended slice. It also returns the places
// that it gave to the suits. The caller needs them to find the outputs of the net with Places.Output.
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
			a.addSuits(songs.DeclaredSet(other))
			a.addSuits(p.History.ScoredSongs[other])
		}
		a.addSuits(songs.ChoiceSuits)
	}
	for rule := cards.RuleBits(p.Options()); rule != 0; rule &= rule - 1 {
		a.ones = append(a.ones, uint16(a.next+bits.TrailingZeros(uint(rule))))
	}
	return a.ones, a.places
}

// winningCards returns the cards that would become the best of the trick. If the trick is empty, it returns the
// cards in the hand of the seat for which no unseen card of the same suit is better.
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

const suitSetCount = 1 << ranks

// strengthBits converts a set of cards of one suit from the order of cards.Bits40, its index, to the order of
// strength: the highest bit of the result stands for the strongest card.
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

// suitPlaces returns the places of the suits for the seat to move: first trumps, then the suit that was led, then
// the others by their strongest cards in hand or, if these are equal, by their played cards. hand and seen (the
// played cards) are sets in the form of cards.Bits40.
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

// lister encodes a position, one part after another. It appends the numbers of the inputs that are 1 to ones.
type lister struct {
	ones   []uint16
	next   int // number of the first input of the next part
	places Places
}

func (a *lister) addOneHot(i, n int) {
	a.ones = append(a.ones, uint16(a.next+i))
	a.next += n
}

func (a *lister) addCard(c baraja.Card) {
	a.addOneHot(a.places.Output(cards.Index(c)), baraja.TableCards)
}

// addCards adds a part with an input for each card. set has the cards in the form of cards.Bits40.
func (a *lister) addCards(set uint64) {
	for ; set != 0; set &= set - 1 {
		a.ones = append(a.ones, uint16(a.next+a.places.Output(bits.TrailingZeros64(set))))
	}
	a.next += baraja.TableCards
}

// addSuits adds a part with an input for each suit. set has one bit for each suit.
func (a *lister) addSuits(set uint8) {
	for ; set != 0; set &= set - 1 {
		a.ones = append(a.ones, uint16(a.next+int(a.places[bits.TrailingZeros8(set)])))
	}
	a.next += suits
}
