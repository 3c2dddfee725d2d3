package house

import (
	"bytes"
	"strconv"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// parseCard reads a card such as 12c without allocating.
func parseCard(b []byte) (baraja.Card, bool) {
	n := len(b) - 1
	if n < 1 || n > 2 {
		return baraja.NoCard, false
	}
	suit := bytes.IndexByte([]byte(baraja.Suits), b[n])
	rank := 0
	for _, d := range b[:n] {
		if d < '0' || d > '9' {
			return baraja.NoCard, false
		}
		rank = rank*10 + int(d-'0')
	}
	if suit < 0 || rank < 1 || rank > baraja.Ranks {
		return baraja.NoCard, false
	}
	return baraja.Of(rank, baraja.Suit(suit)), true
}

// trickView is what the views of the games of tricks have in common.
type trickView struct {
	seat, players int
	leader        int
	hand          baraja.Set
	trump         baraja.Card // the card turned up
	trick         []baraja.Card
	played        baraja.Set // in this round's or game's earlier tricks
	unseen        baraja.Set // cards of the pack that lie hidden from this seat
}

// read takes in a turn's view; the pack is the cards that the game is played with.
func (v *trickView) read(t *protocol.Turn, pack baraja.Set) bool {
	v.seat, v.players = t.Game.Seat, t.Game.Players
	v.leader = t.View.Int("leader")
	trump, _ := t.View.Lookup("trump")
	hand, _ := t.View.Lookup("hand")
	trick, _ := t.View.Lookup("trick")
	played, _ := t.View.Lookup("played")
	var ok1, ok2, ok3, ok4 bool
	v.trump, ok1 = parseCard(trump)
	v.hand, ok2 = parseSet(hand)
	v.played, ok3 = parseSet(played)
	v.trick, ok4 = parseCards(v.trick[:0], trick)
	v.unseen = pack &^ v.hand &^ v.played
	for _, c := range v.trick {
		v.unseen = v.unseen.Without(c)
	}
	fine := v.players > 1 && v.players <= rules.MaxSeats && len(v.trick) < v.players &&
		min(v.seat, v.leader) >= 0 && max(v.seat, v.leader) < v.players
	return ok1 && ok2 && ok3 && ok4 && fine
}

func parseSet(list []byte) (s baraja.Set, ok bool) {
	var buf [baraja.Cards]baraja.Card
	cards, ok := parseCards(buf[:0], list)
	return setOf(cards), ok
}

// parseCards appends the cards of a list, which is "-" when it is empty.
func parseCards(dst []baraja.Card, list []byte) ([]baraja.Card, bool) {
	if len(list) == 0 || list[0] == '-' {
		return dst, len(list) == 1
	}
	for text := range bytes.SplitSeq(list, []byte{','}) {
		c, ok := parseCard(text)
		if !ok {
			return dst, false
		}
		dst = append(dst, c)
	}
	return dst, true
}

// bySeat is a seat's number in a list such as 3,-,1; false where it is none.
func bySeat(list []byte, seat int) (int, bool) {
	for text := range bytes.SplitSeq(list, []byte{','}) {
		if seat == 0 {
			n, err := strconv.Atoi(string(text))
			return n, err == nil
		}
		seat--
	}
	return 0, false
}

// toCome is how many seats play to this trick after this one.
func (v *trickView) toCome() int { return v.players - len(v.trick) - 1 }

// winner is the place in the trick, counted from the leader, of the card that
// wins it so far; beats says which cards beat one.
func (v *trickView) winner(beats func(best baraja.Card) baraja.Set) int {
	at := 0
	for i, c := range v.trick {
		if beats(v.trick[at]).Has(c) {
			at = i
		}
	}
	return at
}

// holds is the chance that a card is beaten by none of n more hidden cards, when
// better of the hidden ones beat it.
func holds(better baraja.Set, hidden baraja.Set, n int) float64 {
	total := hidden.Len()
	if total == 0 {
		return 1
	}
	return power(1-float64((better&hidden).Len())/float64(total), n)
}

// bound is the chance that a card beats the next n seats when all are bound to
// win if they can: who can follow suit must, and must beat it if that can be done;
// who cannot must trump. Of the hidden cards, better are those that beat it.
func (v *trickView) bound(best baraja.Card, better baraja.Set, n int) float64 {
	led, trumps := best.Suit(), v.trump.Suit()
	if len(v.trick) > 0 {
		led = v.trick[0].Suit()
	}
	better &= v.unseen
	holds := 1.0
	if best.Suit() == led {
		holds = v.lacks(better.Of(led))
	}
	if led != trumps { // who is void ruffs or overruffs
		holds *= 1 - v.lacks(v.unseen.Of(led))*(1-v.lacks(better.Of(trumps)))
	}
	return power(holds, n)
}

// lacks is the chance that a hand as large as this seat's has none of the cards,
// taking the hidden ones to lie anywhere.
func (v *trickView) lacks(cards baraja.Set) float64 {
	return power(1-float64(cards.Len())/float64(max(1, v.unseen.Len())), v.hand.Len())
}

// power is x to the n.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 0; n-- {
		p *= x
	}
	return p
}

// pack40 and pack48 are the packs as sets.
var pack40, pack48 = setOf(baraja.Pack40), setOf(baraja.Pack48)

func setOf(cards []baraja.Card) (s baraja.Set) {
	for _, c := range cards {
		s = s.With(c)
	}
	return s
}
