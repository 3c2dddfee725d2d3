package toy

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// fromView makes a position from what a seat has observed.
func fromView(cards int, low bool, fault string, o rules.Observation, r *rules.Rand) (rules.State, error) {
	if fault == "from view refuses" {
		return nil, fmt.Errorf("toy: %w", errBad)
	}
	reader := o.Read("toy", 2)
	s := &State{low: low, table: -1, last: -1, turn: int8(o.Turn), ply: uint8(o.Ply)}
	copy(s.fault[:], fault)
	hand, table, points := cardsOf(&reader, "hand"), cardsOf(&reader, "table"), [2]int{}
	reader.Ints("points", points[:], 0, 3, 0)
	s.played = cardsOf(&reader, "played")
	s.points = [2]int8{int8(points[0]), int8(points[1])}
	if table != 0 {
		s.table = int8(bits.TrailingZeros8(table))
	}
	s.hands[o.Seat&1], s.stock = hand, ^(hand | s.played)
	for n := 2*cards - o.Ply - bits.OnesCount8(hand); n > 0 && s.stock != 0; n-- {
		s.hands[1-o.Seat&1] |= s.stock & -s.stock
		s.stock &= s.stock - 1
	}
	switch fault {
	case "from view doubles":
		s.hands[1-o.Seat&1] |= s.stock
	case "from view fixed":
	default:
		s.Redeal(o.Seat&1, r)
	}
	if fault == "from view lax" {
		return s, nil
	}
	return reader.Made(s)
}

// cardsOf reads the cards of a key.
func cardsOf(v *rules.ViewReader, key string) (cards uint8) {
	text := string(v.Value(key))
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if text != "-" && (err != nil || n < 0 || n > 7) {
			v.Fail(key, "is no list of cards")
		}
		if text != "-" && err == nil {
			cards |= 1 << (n & 7)
		}
	}
	return cards
}

// Start logs the deal.
func (s *State) Start(log *rules.Log) {
	for seat := range 2 {
		deal := cardsText(s.hands[seat])
		if s.has("start leaks") {
			deal += " " + cardsText(s.hands[1-seat])
		}
		log.Add(rules.Only(seat), "deal", deal)
	}
	if s.has("start changes") {
		s.noise++
	}
}

// Points returns a point a trick.
func (s *State) Points() []float64 {
	points := []float64{float64(s.points[0]), float64(s.points[1])}
	if s.has("seats") {
		return points[:1]
	}
	return points
}

// MoveText appends the card.
func (s *State) MoveText(dst []byte, m rules.Move) []byte {
	if s.has("text same") {
		m = 1
	}
	return strconv.AppendInt(dst, int64(m), 10)
}

// ParseMove reads a card.
func (s *State) ParseMove(text string) (rules.Move, error) {
	n, err := strconv.Atoi(text)
	switch {
	case s.has("parse error") && err != nil:
		return 0, err
	case err != nil || n < 0 || n > 7:
		return 0, fmt.Errorf("toy: %q is not a card: try 0 to 7", text)
	case !s.has("parse lax") && text != strconv.Itoa(n):
		return 0, fmt.Errorf("toy: %q is not a card: try %d", text, n)
	}
	return rules.Move(n), nil
}

// View appends the hand, the card on the table and the points.
func (s *State) View(dst []byte, seat int) []byte {
	shown := seat
	if s.has("view leaks") && s.ply == 2 {
		shown = 1 - seat
	}
	table := cardsText(0)
	if s.table >= 0 {
		table = strconv.Itoa(int(s.table))
	}
	if s.has("view empty") && s.table < 0 {
		table = ""
	}
	dst = fmt.Appendf(dst, "hand=%s table=%s points=%d,%d played=%s", cardsText(s.hands[shown]), table, s.points[0], s.points[1], cardsText(s.played))
	if s.has("view key") {
		dst = append(dst, " hand=-"...)
	}
	return dst
}

// Clone returns an independent copy.
func (s *State) Clone() rules.State {
	c := *s
	if s.has("clone") {
		c.ply = 0
	}
	return &c
}

// Redeal shuffles the other hand and the stock.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.has("redeal nothing") {
		return
	}
	other := &s.hands[1-seat]
	n := bits.OnesCount8(*other)
	pool := *other | s.stock
	if s.has("redeal doubles") && s.ply == 1 {
		pool |= s.hands[seat]
	}
	if s.has("redeal own") && s.ply == 1 {
		s.hands[seat] = pool
	}
	var cards []uint8
	for c := range uint8(8) {
		if pool>>c&1 != 0 {
			cards = append(cards, c)
		}
	}
	src := rules.FastStream(r)
	rules.Shuffle(&src, cards)
	*other, s.stock = 0, 0
	for i, c := range cards {
		if i < n {
			*other |= 1 << c
		} else {
			s.stock |= 1 << c
		}
	}
}

// cardsText returns the cards of a hand joined by commas.
func cardsText(hand uint8) string {
	text := ""
	for c := range 8 {
		if hand>>c&1 != 0 {
			text += "," + strconv.Itoa(c)
		}
	}
	if text == "" {
		return "-"
	}
	return text[1:]
}
