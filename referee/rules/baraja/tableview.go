package baraja

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
)

// Floats is the points of the seats in use.
func (t *Table) Floats() []float64 {
	points := make([]float64, t.Players)
	for seat := range points {
		points[seat] = float64(t.Points[seat])
	}
	return points
}

// LogDeal logs each seat's deal, which it alone sees, and the trump card. No move
// may have been made yet.
func (t *Table) LogDeal(log *rules.Log) {
	players := int(t.Players)
	for seat := range players {
		var hand []Card
		for n := seat; n < int(t.Next); n += players {
			hand = append(hand, t.Pack[n])
		}
		log.Begin(rules.Only(seat), "deal")
		log.Word(string(Text(nil, hand)))
	}
	log.Begin(rules.All, "trump")
	log.Word(t.Trump.String())
}

// LogPlay logs a card played.
func LogPlay(seat int, c Card, log *rules.Log) {
	log.Begin(rules.All, "play")
	log.Int(seat)
	log.Word(c.String())
}

// View appends what a seat may know: the keys that the games have in common.
func (t *Table) View(dst []byte, seat int) []byte {
	dst = append(dst, "hand="...)
	dst = t.Hands[seat].Text(dst)
	dst = append(dst, " trump="...)
	dst = append(dst, t.Trump.String()...)
	dst = append(dst, " stock="...)
	dst = strconv.AppendInt(dst, int64(t.End-t.Next), 10)
	dst = append(dst, " leader="...)
	dst = strconv.AppendInt(dst, int64(t.Leader), 10)
	dst = append(dst, " trick="...)
	dst = Text(dst, t.Trick())
	for i, p := range t.Points[:t.Players] {
		dst = append(dst, separator(i, " points=", ",")...)
		dst = strconv.AppendInt(dst, int64(p), 10)
	}
	dst = append(dst, " played="...)
	dst = Text(dst, t.Pack[:t.Played-t.InTrick])
	for i, known := range t.Known[:t.Players] {
		dst = append(dst, separator(i, " known=", "/")...)
		dst = known.Text(dst)
	}
	return dst
}

// separator is what stands before item i of a list.
func separator(i int, key, sep string) string {
	if i == 0 {
		return key
	}
	return sep
}

// Redeal deals the cards that a seat cannot see anew: the stock without the
// trump card and the other hands without the cards to be kept. Hands keep
// their sizes.
func (t *Table) Redeal(seat int, keep Set, r *rules.Rand) {
	var pool [TableCards]Card
	n := 0
	for other := range int(t.Players) {
		if other != seat {
			for s := t.Hands[other] &^ keep; s != 0; s &= s - 1 {
				pool[n] = s.First()
				n++
			}
		}
	}
	var stock []Card
	if t.OnTable() {
		stock = t.Pack[t.Next : TableCards-1]
	}
	n += copy(pool[n:], stock)
	for i := n - 1; i > 0; i-- {
		j := r.Below(i + 1)
		pool[i], pool[j] = pool[j], pool[i]
	}
	n -= copy(stock, pool[n-len(stock):n])
	for other := range int(t.Players) {
		if other != seat {
			kept := t.Hands[other] & keep
			size := t.Hands[other].Len() - kept.Len()
			t.Hands[other] = kept
			for _, c := range pool[n-size : n] {
				t.Hands[other] |= c.bit()
			}
			n -= size
		}
	}
	if t.Plies == 0 {
		t.layDeal(seat, keep)
	}
}

// layDeal writes the hands of all but one seat to where LogDeal reads them; the
// cards kept stay in their places.
func (t *Table) layDeal(except int, keep Set) {
	rest := t.Hands
	for n, c := range t.Pack[:t.Next] {
		seat := n % int(t.Players)
		if seat == except || keep.Has(c) {
			continue
		}
		t.Pack[n] = (rest[seat] &^ keep).First()
		rest[seat] = rest[seat].Without(t.Pack[n])
	}
}

// MoveText appends a card or a swap as the protocol writes it. What is no move
// is written as a question mark and its number.
func MoveText(dst []byte, m rules.Move) []byte {
	switch {
	case m < SwapMove:
		return append(dst, Card(m).String()...)
	case m < SwapMove+Cards:
		dst = append(dst, "swap:"...)
		return append(dst, Card(m-SwapMove).String()...)
	}
	return strconv.AppendUint(append(dst, '?'), uint64(m), 10)
}

// ParseMove reads a card or a swap.
func ParseMove(game, text string) (rules.Move, error) {
	word, swap := strings.CutPrefix(text, "swap:")
	c, err := Parse(word)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %q is not a move: write a card, as in 12c, or swap: and a card, as in swap:7o", game, text)
	case swap:
		return SwapMove + rules.Move(c), nil
	}
	return rules.Move(c), nil
}
