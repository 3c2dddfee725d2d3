package rulestest

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/timba-arena/timba/referee/rules"
)

// toy is a small card game for trying the kit: two seats, eight cards, two or
// three each; the higher card of two takes a point. It has one fault by choice.
type toy struct{ fault string }

var (
	toyDeals  uint64 // what the fault "deal any" counts
	toySink   []int  // where the fault "playout allocates" puts its waste
	errToyBad = errors.New("it cannot be done")
)

func (g toy) Name() string  { return "toy" }
func (g toy) Rules() string { return "The higher card takes a point." }

func (g toy) Options() []rules.Option {
	o := []rules.Option{
		{Name: "cards", Min: 2, Max: 3, Default: 3, Help: "cards each"},
		{Name: "best", Values: []string{"high", "low"}, Help: "which card wins"},
	}
	switch g.fault {
	case "option default":
		o[0].Default = 5
	case "option help":
		o[1].Help = ""
	case "option twice":
		o[1].Name = "cards"
	}
	return o
}

func (g toy) Variant(s rules.Settings) (rules.Variant, error) {
	if s.Int("cards") == 2 && s.Get("best") == "low" {
		if g.fault == "option error" {
			return nil, errToyBad
		}
		return nil, errors.New("toy: option best cannot be low with cards=2: try high")
	}
	if g.fault == "settings" {
		s[0].Value = "3"
		return toyVariant{g, s, 2}, nil
	}
	return toyVariant{g, s, s.Int("cards")}, nil
}

type toyVariant struct {
	game     toy
	settings rules.Settings
	cards    int
}

func (v toyVariant) Game() rules.Game         { return v.game }
func (v toyVariant) Settings() rules.Settings { return v.settings }
func (v toyVariant) Players() int             { return 2 }

func (v toyVariant) Side(seat int) int {
	if v.game.fault == "sides" {
		return 0
	}
	return seat
}

func (v toyVariant) Deal(src *rules.Stream) rules.State {
	if v.game.fault == "deal any" {
		toyDeals++
		s := rules.FastStream(rules.NewRand(toyDeals))
		src = &s
	}
	pack := []uint8{0, 1, 2, 3, 4, 5, 6, 7}
	if v.game.fault != "deal one" {
		rules.Shuffle(src, pack)
	}
	s := &toyState{fault: faults[v.game.fault], low: v.settings.Get("best") == "low", table: -1, last: -1}
	for i, c := range pack {
		if i < 2*v.cards {
			s.hands[i%2] |= 1 << c
		} else {
			s.stock |= 1 << c
		}
	}
	if v.game.fault == "shape" {
		return &toySlice{*s, nil}
	}
	return s
}

// toySlice is a state of the wrong shape.
type toySlice struct {
	toyState
	waste []int
}

type toyState struct {
	hands  [2]uint8 // a bit a card
	stock  uint8
	table  int8 // the card led, or -1
	last   int8 // the card that answered last, or -1
	turn   int8
	ply    uint8
	points [2]int8
	low    bool
	fault  uint8 // index in faultNames
	noise  uint8
}

func (s *toyState) has(fault string) bool { return s.fault != 0 && faultNames[s.fault] == fault }

func (s *toyState) over() bool { return s.hands[0]|s.hands[1] == 0 }

func (s *toyState) Turn() int {
	switch {
	case s.over():
		return rules.Over
	case s.has("turn"):
		return int(s.turn) + 1
	}
	return int(s.turn)
}

func (s *toyState) Ply() int { return int(s.ply) }

func (s *toyState) Legal(dst []rules.Move) []rules.Move {
	if s.over() || s.has("legal empty") && s.ply == 2 {
		return dst
	}
	if s.has("legal overwrites") {
		dst = dst[:0]
	}
	for c := range 8 {
		if s.has("legal unsorted") {
			c = 7 - c
		}
		if s.hands[s.turn]>>c&1 != 0 {
			dst = append(dst, rules.Move(c))
			if s.has("legal double") {
				dst = append(dst, rules.Move(c))
			}
		}
	}
	return dst
}

func (s *toyState) Check(m rules.Move) error {
	if s.over() {
		if s.has("check over") {
			return errToyBad
		}
		return fmt.Errorf("toy: %q: %w", s.MoveText(nil, m), rules.ErrOver)
	}
	if m < 8 && s.hands[s.turn]>>m&1 != 0 {
		if s.has("check strict") && s.ply == 3 {
			return errToyBad
		}
		return nil
	}
	switch {
	case s.has("check lax") && m == 300:
		return nil
	case s.has("check trace"):
		s.noise++
	case s.has("check error"):
		return errToyBad
	}
	return fmt.Errorf("toy: %q is not in hand", s.MoveText(nil, m))
}

func (s *toyState) Start(log *rules.Log) {
	for seat := range 2 {
		log.Begin(rules.Only(seat), "deal")
		log.Word(cardsText(s.hands[seat]))
		if s.has("start leaks") {
			log.Word(cardsText(s.hands[1-seat]))
		}
	}
	if s.has("start changes") {
		s.noise++
	}
}

func (s *toyState) Apply(m rules.Move, log *rules.Log) {
	if !s.has("ply") || s.ply != 2 {
		s.ply++
	}
	s.hands[s.turn] &^= 1 << m
	if log != nil {
		if s.has("apply log") {
			s.noise++
		}
		log.Begin(rules.All, "play")
		log.Int(int(s.turn))
		log.Int(int(m))
		switch {
		case s.has("event leaks"):
			log.Word(cardsText(s.stock))
		case s.has("event text"):
			log.Word("")
		}
	}
	if s.table < 0 {
		s.table = int8(m)
		s.turn = 1 - s.turn
		return
	}
	s.last = int8(m)
	if (int8(m) > s.table) == s.low {
		s.turn = 1 - s.turn
	}
	if !s.has("points") {
		s.points[s.turn]++
	}
	s.table = -1
	if log != nil {
		log.Begin(rules.All, "trick")
		log.Int(int(s.turn))
	}
}

func (s *toyState) Result() rules.Result {
	a, b := int(s.points[0]), int(s.points[1])
	r := rules.Result{Ranks: []int{1, 1}, Points: []float64{float64(a), float64(b)}}
	if a < b {
		r.Ranks[0] = 2
	} else if b < a {
		r.Ranks[1] = 2
	}
	if s.has("ranks") {
		r.Ranks[0] = 1
	}
	return r
}

func (s *toyState) MoveText(dst []byte, m rules.Move) []byte {
	if s.has("text same") {
		m = 1
	}
	return strconv.AppendInt(dst, int64(m), 10)
}

func (s *toyState) ParseMove(text string) (rules.Move, error) {
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

func (s *toyState) View(dst []byte, seat int) []byte {
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
	dst = fmt.Appendf(dst, "hand=%s table=%s points=%d,%d", cardsText(s.hands[shown]), table, s.points[0], s.points[1])
	if s.has("view key") {
		dst = append(dst, " hand=-"...)
	}
	return dst
}

func (s *toyState) Clone() rules.State {
	c := *s
	if s.has("clone") {
		c.ply = 0
	}
	return &c
}

func (s *toyState) Playout(r *rules.Rand) {
	if s.has("playout allocates") {
		toySink = make([]int, 1+s.ply)
	}
	for !s.over() {
		hand := s.hands[s.turn]
		n := r.Below(bits.OnesCount8(hand))
		if s.has("playout order") {
			n = bits.OnesCount8(hand) - 1 - n
		}
		for range n {
			hand &= hand - 1
		}
		s.Apply(rules.Move(bits.TrailingZeros8(hand)), nil)
		if s.has("playout stops") && s.ply == 4 {
			return
		}
	}
}

func (s *toyState) Redeal(seat int, r *rules.Rand) {
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

// cardsText is the cards of a hand joined by commas.
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
