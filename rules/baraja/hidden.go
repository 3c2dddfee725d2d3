package baraja

import "github.com/timba-arena/timba/rules"

// StockPlace is the number by which HiddenCards refers to the stock, the pile of undealt cards. Lower numbers are
// seats.
const StockPlace = rules.MaxSeats

// HiddenCards deals the cards that one seat does not see at random: to the other hands and to the stock, the pile of
// undealt cards. Reset sets which cards these are, Deal deals them, and AddToHands and ShuffleStock return the
// result.
type HiddenCards struct {
	// Forbidden has, for each seat and for StockPlace, the cards that must not be dealt to it.
	Forbidden [StockPlace + 1]Set

	n     int          // number of hidden cards
	dealt int          // number of hidden cards that go to hands; the rest goes to the stock
	cards [Cards]Card  // the cards dealt to hands, then the stock
	place [Cards]uint8 // seat or StockPlace to which the card at the same index goes
}

// Reset makes cards the hidden cards. hands has the number of these cards that each seat gets; the stock gets the
// rest. Reset reports whether there are enough cards.
func (h *HiddenCards) Reset(cards Set, hands []int) bool {
	h.n, h.dealt = 0, 0
	for ; cards != 0; cards &= cards - 1 {
		h.cards[h.n], h.place[h.n] = cards.First(), StockPlace
		h.n++
	}
	for seat, size := range hands {
		for range size {
			if h.dealt == h.n {
				return false
			}
			h.place[h.dealt] = uint8(seat)
			h.dealt++
		}
	}
	return true
}

// AddToHands adds the cards that Deal has dealt to hands, which has one set for each seat.
func (h *HiddenCards) AddToHands(hands []Set) {
	for i, c := range h.cards[:h.dealt] {
		hands[h.place[i]] |= c.bit()
	}
}

// ShuffleStock shuffles the cards of the stock and returns them. The slice is valid until the next Reset.
func (h *HiddenCards) ShuffleStock(r *rules.Rand) []Card {
	rest := h.cards[h.dealt:h.n]
	for i := len(rest) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		rest[i], rest[j] = rest[j], rest[i]
	}
	return rest
}

// maxShuffles is the number of random deals that Deal tries before it constructs a deal. If few cards are left or few
// are forbidden, a random deal nearly always succeeds; otherwise the failures cost little.
const maxShuffles = 24

// Deal deals the cards so that neither a seat nor the stock gets a card that is forbidden to it. It reports whether
// that is possible. First it tries random deals, so that all allowed deals are equally likely. If these fail, it
// constructs a deal, and then some deals are a little more likely than others.
func (h *HiddenCards) Deal(r *rules.Rand) bool {
	for range maxShuffles {
		if h.shuffle(r) {
			return true
		}
	}
	return h.Construct(r)
}

// shuffle makes one random deal. It returns false as soon as a seat or the stock gets a card that is forbidden to it,
// and true if that does not happen.
func (h *HiddenCards) shuffle(r *rules.Rand) bool {
	for i, p := range h.place[:h.dealt] {
		j := i + r.Below(h.n-i)
		h.cards[i], h.cards[j] = h.cards[j], h.cards[i]
		if h.Forbidden[p].Has(h.cards[i]) {
			return false
		}
	}
	return true
}

// Construct makes a deal in which neither a seat nor the stock gets a card that is forbidden to it. It reports
// whether such a deal exists. To make the deal random, it then exchanges cards. Deal is faster in most cases.
func (h *HiddenCards) Construct(r *rules.Rand) bool {
	if !h.match(r) {
		return false
	}
	h.mix(r)
	return true
}

// match assigns the hidden cards to the seats and the stock so that none of them gets a card that is forbidden to it.
// It reports whether that is possible. It assigns the cards in random order, and moves cards that it has assigned
// before where necessary.
func (h *HiddenCards) match(r *rules.Rand) bool {
	m := matching{hidden: h, rand: r}
	for _, p := range h.place[:h.n] {
		m.room[p]++
	}
	rest := h.cards
	for n := h.n; n > 0; n-- {
		i := r.Below(n)
		var tried uint16
		if !m.assign(rest[i], &tried) {
			return false
		}
		rest[i] = rest[n-1]
	}
	n := 0
	for _, set := range m.assignment { // places keep their order
		for ; set != 0; set &= set - 1 {
			h.cards[n] = set.First()
			n++
		}
	}
	return true
}

// matching is a deal that is being constructed by Kuhn's algorithm for bipartite matching.
type matching struct {
	hidden     *HiddenCards
	assignment [StockPlace + 1]Set
	room       [StockPlace + 1]int // number of cards that each seat or the stock still needs
	rand       *rules.Rand
}

// assign gives c to a place (a seat or the stock) and reports whether that was possible. It may move cards that were
// assigned before. *tried is a set of places, one bit each: assign skips them, and adds each place that it tries.
func (m *matching) assign(c Card, tried *uint16) bool {
	first := int(m.hidden.place[m.rand.Below(m.hidden.n)])
	for k := range m.room {
		p := (first + k) % len(m.room)
		if *tried>>p&1 != 0 || m.hidden.Forbidden[p].Has(c) {
			continue
		}
		*tried |= 1 << p
		if m.room[p] > 0 {
			m.room[p]--
			m.assignment[p] = m.assignment[p].With(c)
			return true
		}
		for set := m.assignment[p]; set != 0; set &= set - 1 {
			if d := set.First(); m.assign(d, tried) {
				m.assignment[p] = m.assignment[p].Without(d).With(c)
				return true
			}
		}
	}
	return false
}

// mixRounds is how many times mix tries to exchange each card.
const mixRounds = 4

// mix makes the deal in h more random. In random steps it swaps two cards or rotates three. It omits a step if a
// seat or the stock would get a card that is forbidden to it. Rotations are necessary because swaps alone do not
// reach all deals. Each step is as likely as its inverse, so that after many steps all deals are equally likely.
// This is true only if a swap and a rotation use separate random numbers.
func (h *HiddenCards) mix(r *rules.Rand) {
	for range mixRounds {
		for i := range h.n {
			if j := r.Below(h.n); h.canPlace(i, j) && h.canPlace(j, i) {
				h.cards[i], h.cards[j] = h.cards[j], h.cards[i]
			}
			j, k := r.Below(h.n), r.Below(h.n)
			if i != j && j != k && k != i && h.canPlace(i, j) && h.canPlace(j, k) && h.canPlace(k, i) {
				h.cards[i], h.cards[j], h.cards[k] = h.cards[j], h.cards[k], h.cards[i]
			}
		}
	}
}

// canPlace reports whether the card at index j may go to the place of the card at index i, a seat or the stock.
func (h *HiddenCards) canPlace(i, j int) bool { return !h.Forbidden[h.place[i]].Has(h.cards[j]) }

// maxRedeals is the maximum number of random deals that Table.Redeal tries.
const maxRedeals = 1000

// Redeal deals the cards that seat cannot see at random to the stock and to the other hands. Each hand keeps its size
// and the cards that all seats know to be in it. A seat never gets one of the cards in its element of cannot. After
// each deal, Redeal calls possible, which examines the new hands in t. If possible returns false, Redeal tries again.
// All possible deals are about equally likely. Redeal reports whether it found one; otherwise t is unchanged.
func (t *Table) Redeal(seat int, cannot [TableSeats]Set, possible func() bool, r *rules.Rand) bool {
	before := *t
	unseen := SetOf(t.stock())
	var sizes [TableSeats]int
	for other := range t.Hands {
		if other != seat {
			hidden := t.Hands[other] &^ t.KnownCards[other]
			unseen |= hidden
			sizes[other] = hidden.Len()
		}
	}
	var h HiddenCards
	copy(h.Forbidden[:], cannot[:])
	h.Reset(unseen, sizes[:])
	for range maxRedeals {
		if !h.Deal(r) {
			break
		}
		for other := range t.Hands {
			if other != seat {
				t.Hands[other] &= t.KnownCards[other]
			}
		}
		h.AddToHands(t.Hands[:])
		copy(t.stock(), h.ShuffleStock(r))
		if possible() {
			if t.Plies == 0 {
				t.writeDeal(seat, &t.KnownCards)
			}
			return true
		}
	}
	*t = before
	return false
}

// stock returns the part of Pack with the cards that are still to be drawn, without the trump card.
func (t *Table) stock() []Card {
	if !t.TrumpOnTable() {
		return nil
	}
	return t.Pack[t.NextDraw : t.Size-1]
}

// writeDeal writes the hands to the front of Pack, from which LogDeal reads the deal before the first card is played.
// It writes neither the hand of the seat with the number except nor the cards of other seats that are in kept.
func (t *Table) writeDeal(except int, kept *[TableSeats]Set) {
	rest := t.Hands
	for n, c := range t.Pack[:t.NextDraw] {
		seat := n % int(t.Players)
		if seat == except || kept[seat].Has(c) {
			continue
		}
		t.Pack[n] = (rest[seat] &^ kept[seat]).First()
		rest[seat] = rest[seat].Without(t.Pack[n])
	}
}
