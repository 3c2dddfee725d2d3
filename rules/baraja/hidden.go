package baraja

import "github.com/timba-arena/timba/rules"

// StockPlace is the place of the cards that are not dealt; lower places are seats.
const StockPlace = rules.MaxSeats

// Hidden is the cards that a seat does not see. They are dealt anew to the other
// hands and the stock.
type Hidden struct {
	// Forbidden is, by seat, the cards that its hand cannot hold.
	Forbidden [StockPlace + 1]Set

	n     int // cards
	dealt int // of them to hands; the stock comes after these
	cards [Cards]Card
	place [Cards]uint8 // of each card
}

// Reset sets the cards that are hidden and how many of them each hand holds: the
// others are the stock. It reports whether there are enough.
func (h *Hidden) Reset(cards Set, hands []int) bool {
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

// AddToHands adds to each hand the cards dealt to it.
func (h *Hidden) AddToHands(hands []Set) {
	for i, c := range h.cards[:h.dealt] {
		hands[h.place[i]] |= c.bit()
	}
}

// ShuffleStock shuffles the cards that are left as the stock and returns them.
func (h *Hidden) ShuffleStock(r *rules.Rand) []Card {
	rest := h.cards[h.dealt:h.n]
	for i := len(rest) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		rest[i], rest[j] = rest[j], rest[i]
	}
	return rest
}

// maxShuffles is how many random deals are tried before one is constructed: enough
// where few cards are left or few are ruled out, and cheap where they are not.
const maxShuffles = 24

// Deal deals the cards to places that may have them, and reports whether that is
// possible. All allowed shuffles are equally likely; after too many that are not
// allowed, it constructs a deal, which is nearly uniform.
func (h *Hidden) Deal(r *rules.Rand) bool {
	for range maxShuffles {
		if h.shuffle(r) {
			return true
		}
	}
	return h.Construct(r)
}

// shuffle deals at random, and stops at the first card that is not allowed.
func (h *Hidden) shuffle(r *rules.Rand) bool {
	for i, p := range h.place[:h.dealt] {
		j := i + r.Below(h.n-i)
		h.cards[i], h.cards[j] = h.cards[j], h.cards[i]
		if h.Forbidden[p].Has(h.cards[i]) {
			return false
		}
	}
	return true
}

// Construct finds an allowed deal, in random order, and mixes it. It reports whether there
// is one.
func (h *Hidden) Construct(r *rules.Rand) bool {
	if !h.match(r) {
		return false
	}
	h.mix(r)
	return true
}

// match returns the cards to places that may have them, in random order, moving
// cards already given where that is needed.
func (h *Hidden) match(r *rules.Rand) bool {
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
	for _, set := range m.assigned { // places stay in their order
		for ; set != 0; set &= set - 1 {
			h.cards[n] = set.First()
			n++
		}
	}
	return true
}

// matching is a deal in the making, as Kuhn's algorithm makes it.
type matching struct {
	hidden   *Hidden
	assigned [StockPlace + 1]Set
	room     [StockPlace + 1]int // cards that a place still needs
	rand     *rules.Rand
}

// assign finds a place for a card; the places in tried are not looked at again.
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
			m.assigned[p] = m.assigned[p].With(c)
			return true
		}
		for set := m.assigned[p]; set != 0; set &= set - 1 {
			if d := set.First(); m.assign(d, tried) {
				m.assigned[p] = m.assigned[p].Without(d).With(c)
				return true
			}
		}
	}
	return false
}

// mixRounds is how often mix goes through the cards.
const mixRounds = 4

// mix swaps random cards and moves others round by threes, where that is
// allowed: swaps alone would not reach all deals. Each step is as likely as
// the one that undoes it, so no deal is favoured in the long run; for that the
// swap and the round must not share a draw.
func (h *Hidden) mix(r *rules.Rand) {
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

// canPlace reports whether the card at j may be at i.
func (h *Hidden) canPlace(i, j int) bool { return !h.Forbidden[h.place[i]].Has(h.cards[j]) }

// maxRedeals is how many deals of the hidden cards Redeal tries.
const maxRedeals = 1000

// Redeal deals the cards that a seat cannot see anew: the stock without the
// trump card, and the other hands without the cards that all know. Hands keep
// their sizes and have none of the cards that they cannot hold, by seat; the game
// reports whether the table is possible. All such tables are about as likely. It
// reports whether it has found one, and leaves the table as it was if not.
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
	var h Hidden
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

// stock returns the cards to be drawn without the trump card.
func (t *Table) stock() []Card {
	if !t.TrumpOnTable() {
		return nil
	}
	return t.Pack[t.Next : TableCards-1]
}

// writeDeal writes the hands of all but one seat to where LogDeal reads them; the
// cards kept stay in their places.
func (t *Table) writeDeal(except int, kept *[TableSeats]Set) {
	rest := t.Hands
	for n, c := range t.Pack[:t.Next] {
		seat := n % int(t.Players)
		if seat == except || kept[seat].Has(c) {
			continue
		}
		t.Pack[n] = (rest[seat] &^ kept[seat]).First()
		rest[seat] = rest[seat].Without(t.Pack[n])
	}
}
