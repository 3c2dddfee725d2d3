// Package toy is a game for trying out what works with every game: the conformance
// kit, which must find its faults, and the recipe for adding a game. Begin with New.
package toy

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing/fstest"

	"github.com/timba-arena/timba/rules"
)

var (
	deals  atomic.Uint64       // what the fault "deal any" counts
	waste  atomic.Pointer[int] // what the fault "apply allocates" leaves
	errBad = errors.New("it cannot be done")
)

// New returns a small card game: two seats, eight cards, two or three each; the higher
// card of two takes a point. The fault is one thing that is wrong with it, by a name
// that the tests of the kit have; "" is none.
func New(fault string) *rules.Game {
	g := &rules.Game{
		Name: "toy", Texts: fstest.MapFS{"rules.en.md": {Data: []byte("The higher card takes a point.")}},
		Options: []rules.Option{
			{Name: "cards", Min: 2, Max: 3, Default: 3, Help: "cards each"},
			{Name: "best", Values: []string{"high", "low"}, Help: "which card wins"},
		},
		Display: rules.Display{Title: "Toy", Cards: &rules.Cards{Hand: "hand", Trick: "table"}},
		Variant: func(g *rules.Game, s rules.Settings) (*rules.Variant, error) { return newVariant(g, s, fault) },
	}
	switch fault {
	case "display":
		g.Display.Cards.Trick = "trick"
	case "option default":
		g.Options[0].Default = 5
	case "option help":
		g.Options[1].Help = ""
	case "option twice":
		g.Options[1].Name = "cards"
	}
	return g
}

// newVariant resolves the options.
func newVariant(g *rules.Game, s rules.Settings, fault string) (*rules.Variant, error) {
	cards, low := s.Int("cards"), s.Get("best") == "low"
	v := &rules.Variant{
		Game: g, Settings: s, Rules: cards, Players: 2, Sides: 2, Chance: true, MaxPlies: 2 * cards,
		Deal: func(src *rules.Stream) rules.State { return deal(cards, low, fault, src) },
		FromView: func(o rules.Observation, r *rules.Rand) (rules.State, error) {
			return fromView(cards, low, fault, o, r)
		},
	}
	switch {
	case cards == 2 && low && fault == "option error":
		return nil, errBad
	case cards == 2 && low:
		return nil, errors.New("toy: option best cannot be low with cards=2: try high")
	case fault == "settings":
		s[0].Value = "3"
	case fault == "sides":
		v.Sides = 1
	case fault == "chance":
		v.Chance = false
	}
	return v, nil
}

// deal returns the first position.
func deal(cards int, low bool, fault string, src *rules.Stream) rules.State {
	if fault == "deal any" {
		s := rules.FastStream(rules.NewRand(deals.Add(1)))
		src = &s
	}
	pack := []uint8{0, 1, 2, 3, 4, 5, 6, 7}
	if fault != "deal one" {
		rules.Shuffle(src, pack)
	}
	s := &State{low: low, table: -1, last: -1}
	copy(s.fault[:], fault)
	for i, c := range pack {
		if i < 2*cards {
			s.hands[i%2] |= 1 << c
		} else {
			s.stock |= 1 << c
		}
	}
	if fault == "shape" {
		return &sliceState{*s, nil}
	}
	return s
}

// sliceState is a state of the wrong shape.
type sliceState struct {
	State
	waste []int
}

// State is a position.
type State struct {
	hands  [2]uint8 // a bit a card
	stock  uint8
	played uint8
	table  int8 // the card led, or -1
	last   int8 // the card that answered last, or -1
	turn   int8
	ply    uint8
	points [2]int8
	low    bool
	fault  [24]byte // its name, filled up with zeros
	noise  uint8
}

func (s *State) has(fault string) bool {
	return string(s.fault[:len(fault)]) == fault && s.fault[len(fault)] == 0
}

func (s *State) over() bool { return s.hands[0]|s.hands[1] == 0 }

// Turn returns the seat to move.
func (s *State) Turn() int {
	switch {
	case s.over():
		return rules.Over
	case s.has("turn") && s.turn == 1:
		return 2
	}
	return int(s.turn)
}

// Ply returns the number of moves made.
func (s *State) Ply() int { return int(s.ply) }

// Legal appends the cards in hand.
func (s *State) Legal(dst []rules.Move) []rules.Move {
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

// Check returns why a move is not legal, nil if it is.
func (s *State) Check(m rules.Move) error {
	if s.over() {
		if s.has("check over") {
			return errBad
		}
		return fmt.Errorf("toy: %q: %w", s.MoveText(nil, m), rules.ErrOver)
	}
	if m < 8 && s.hands[s.turn]>>m&1 != 0 {
		if s.has("check strict") && s.ply == 3 {
			return errBad
		}
		return nil
	}
	switch {
	case s.has("check lax") && m == 300:
		return nil
	case s.has("check trace"):
		s.noise++
	case s.has("check error"):
		return errBad
	}
	return fmt.Errorf("toy: %q is not in hand", s.MoveText(nil, m))
}

// Apply plays a card.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	if s.has("apply allocates") {
		waste.Store(new(int))
	}
	if !s.has("ply") || s.ply != 2 {
		s.ply++
	}
	s.hands[s.turn] &^= 1 << m
	s.played |= 1 << m
	if log != nil {
		if s.has("apply log") {
			s.noise++
		}
		more := ""
		switch {
		case s.has("event leaks"):
			more = " " + cardsText(s.stock)
		case s.has("event text"):
			more = " "
		}
		log.Add(rules.All, "play", s.turn, fmt.Sprint(m, more))
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
		log.Add(rules.All, "trick", s.turn)
	}
}

// Sound wants no card in two places.
func Sound(_ *rules.Variant, state rules.State) error {
	s := state.(*State)
	if twice := s.hands[0]&s.hands[1] | s.hands[0]&s.stock | s.hands[1]&s.stock; twice != 0 {
		return fmt.Errorf("the cards %s are in two places", cardsText(twice))
	}
	return nil
}

// Total wants a point for each card of a seat.
func Total(v *rules.Variant, s rules.State) error {
	p := s.Points()
	if want := float64(v.Rules.(int)); p[0]+p[1] != want {
		return fmt.Errorf("points %v, not %v together", p, want)
	}
	return nil
}
