package baraja

import "github.com/timba-arena/timba/referee/rules"

// redeals is how many deals of the hidden cards Redeal tries.
const redeals = 1000

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
			hidden := t.Hands[other] &^ t.Known[other]
			unseen |= hidden
			sizes[other] = hidden.Len()
		}
	}
	var h Hidden
	copy(h.Cannot[:], cannot[:])
	h.Lay(unseen, sizes[:])
	for range redeals {
		if !h.Deal(r) {
			break
		}
		for other := range t.Hands {
			if other != seat {
				t.Hands[other] &= t.Known[other]
			}
		}
		h.Give(t.Hands[:])
		copy(t.stock(), h.Rest(r))
		if possible() {
			if t.Plies == 0 {
				t.layDeal(seat, &t.Known)
			}
			return true
		}
	}
	*t = before
	return false
}

// stock returns the cards to be drawn without the trump card.
func (t *Table) stock() []Card {
	if !t.OnTable() {
		return nil
	}
	return t.Pack[t.Next : TableCards-1]
}

// layDeal writes the hands of all but one seat to where LogDeal reads them; the
// cards kept stay in their places.
func (t *Table) layDeal(except int, kept *[TableSeats]Set) {
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
