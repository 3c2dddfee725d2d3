package baraja

import (
	"bytes"

	"github.com/timba-arena/timba/rules"
)

// FromView sets t to a position that agrees with o, what one seat knows of the game. v must be a reader of the view
// in o; errors are stored in it. r has the rules, and perSeat is the number of cards that each seat was dealt. Two
// things are left to the caller: the hidden cards are in an arbitrary order until it calls Redeal, and Points has only
// the points of tricks.
func (t *Table) FromView(o rules.Observation, v *rules.ViewReader, r TableRules, perSeat int) {
	*t = Table{Players: r.Players, Size: uint8(len(r.Pack()))}
	all := t.cards()
	hand := ReadSet(v, "hand", all)
	t.SetTrump(ReadCard(v, "trump", all))
	var memory [TableCards]Card
	trick := ReadCards(v, "trick", memory[:0], all)
	var earlier [TableCards]Card
	played := ReadCards(v, "played", earlier[:0], all)
	seen := SetOf(trick) | SetOf(played)
	switch {
	case v.Err() != nil:
		return
	case seen.Len() != len(trick)+len(played):
		v.Fail("played", "has a card of the trick")
	case hand&seen != 0:
		v.Fail("hand", "has a card that is played")
	case o.Ply < len(trick)+len(played):
		v.Fail("played", "has more cards than moves are made")
	}
	t.replayCards(append(played, trick...), perSeat)
	t.Plies = uint16(o.Ply)
	t.readKnown(o.Seat, v, hand)
	if v.Err() == nil {
		t.dealHidden(o.Seat, v, seen|hand)
	}
}

var set39, set40 = SetOf(pack39), SetOf(Pack40)

// replayCards plays the given cards in order on a table without hands. That restores the state of the tricks and of
// the stock (the cards still to be drawn). perSeat is the number of cards that each seat was dealt.
func (t *Table) replayCards(cards []Card, perSeat int) {
	dealt := t.Players * uint8(perSeat)
	t.DrawEnd = t.Size - (t.Size-dealt)%t.Players
	t.NextDraw = dealt
	for _, c := range cards {
		if t.Mover == rules.Over {
			return
		}
		if t.PlayCard(c) {
			t.CollectTrick(0, nil)
			t.NextDraw = min(t.NextDraw+t.Players, t.DrawEnd)
		}
	}
}

// readKnown reads from v, which has what a seat may know, the cards of each hand that all seats know. It sets the
// hand of that seat to hand. It stores an error in v if the cards contradict each other.
func (t *Table) readKnown(seat int, v *rules.ViewReader, hand Set) {
	text := v.Value("known")
	all := SetOf(t.Pack[:t.PlayedCount])
	for other := range int(t.Players) {
		word, rest, _ := bytes.Cut(text, []byte{'/'})
		text = rest
		known := readSet(v, "known", word, t.cards())
		if all&known != 0 || other == seat && known&^hand != 0 || other != seat && known&hand != 0 {
			v.Fail("known", "has a card that lies elsewhere")
			return
		}
		all |= known
		t.KnownCards[other], t.Hands[other] = known, known
	}
	t.Hands[seat] = hand
}

// dealHidden gives the cards that are not in the set seen to the stock and to the hands of all seats except seat, in
// an arbitrary order. It stores an error in v if the numbers of cards contradict the moves made so far.
func (t *Table) dealHidden(seat int, v *rules.ViewReader, seen Set) {
	for _, known := range t.KnownCards {
		seen |= known
	}
	if t.TrumpOnTable() == seen.Has(t.Trump) {
		v.Fail("trump", "is not where the trump card has to be by now")
	}
	unseen := (t.cards() &^ seen).Without(t.Trump)
	for other := range int(t.Players) {
		missing := t.handSize(other) - t.Hands[other].Len()
		if missing < 0 || missing > unseen.Len() || missing > 0 && other == seat {
			v.Fail("hand", "or the cards known are not as many as are due by now")
			return
		}
		for ; missing > 0; missing-- {
			t.Hands[other] |= unseen & -unseen
			unseen &= unseen - 1
		}
	}
	for i := range t.stock() {
		t.stock()[i] = unseen.First()
		unseen &= unseen - 1
	}
	if t.TrumpOnTable() {
		t.Pack[t.Size-1] = t.Trump
	}
	if t.Plies == 0 {
		t.writeDeal(rules.MaxSeats, new([TableSeats]Set))
	}
}

func (t *Table) handSize(seat int) int {
	tricks := int(t.PlayedCount-t.TrickSize) / int(t.Players)
	size := int(t.NextDraw)/int(t.Players) - tricks
	if t.trickCard(seat) != NoCard {
		size--
	}
	return size
}

// trickCard returns the card that a seat has played to the current trick, or NoCard.
func (t *Table) trickCard(seat int) Card {
	n := (seat + int(t.Players) - int(t.Leader)) % int(t.Players)
	if n >= int(t.TrickSize) {
		return NoCard
	}
	return t.Trick()[n]
}

// HandAndTrickCard returns the hand of a seat together with the card that it has played to the current trick, if any.
func (t *Table) HandAndTrickCard(seat int) Set {
	if c := t.trickCard(seat); c != NoCard {
		return t.Hands[seat].With(c)
	}
	return t.Hands[seat]
}

// ReadCard reads a card: the value of key in v. If the value is not a card of pack, ReadCard stores an error in v and
// returns 0.
func ReadCard(v *rules.ViewReader, key string, pack Set) Card {
	c := parse(v.Value(key))
	if v.Err() != nil || c == NoCard || !pack.Has(c) {
		v.Fail(key, "is not a card of the pack")
		return 0
	}
	return c
}

// ReadCards reads a list of cards, joined by commas: the value of key in v. It appends the cards to dst. If a card is
// not in pack or appears twice, it stores an error in v.
func ReadCards(v *rules.ViewReader, key string, dst []Card, pack Set) []Card {
	return readCards(v, key, v.Value(key), dst, pack)
}

// ReadSet reads a set of cards, joined by commas: the value of key in v. If a card is not in pack or appears twice,
// it stores an error in v.
func ReadSet(v *rules.ViewReader, key string, pack Set) Set {
	return readSet(v, key, v.Value(key), pack)
}

func readSet(v *rules.ViewReader, key string, list []byte, pack Set) Set {
	var memory [Cards]Card
	return SetOf(readCards(v, key, list, memory[:0], pack))
}

func readCards(v *rules.ViewReader, key string, list []byte, dst []Card, pack Set) []Card {
	if string(list) == "-" || v.Err() != nil {
		return dst
	}
	for more := true; more; {
		var word []byte
		word, list, more = bytes.Cut(list, []byte{','})
		c := parse(word)
		if c == NoCard || !pack.Has(c) {
			v.Fail(key, "has what is not a card of the pack, or a card twice")
			return dst
		}
		pack = pack.Without(c)
		dst = append(dst, c)
	}
	return dst
}
