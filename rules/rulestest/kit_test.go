package rulestest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
)

// stateFaults lists faults of a state of Brisca with the errors that they must cause.
var stateFaults = []struct{ name, says string }{
	{"no fault", ""},
	{"deal any", "deal: seed 0 gives two different positions"},
	{"deal one", "deal: every seed gives the same position"},
	{"shape", "shape: sliceState._ is a slice"},
	{"turn", "turn: 2 is not a seat"},
	{"legal empty", "and over is false"},
	{"legal overwrites", "legal: does not append"},
	{"legal unsorted", "stands before"},
	{"legal double", "stands before"},
	{"check strict", "check: refuses the legal move"},
	{"check over", "after the end, not ErrOver"},
	{"check lax", "check: accepts the move 300"},
	{"check trace", "changes the state"},
	{"check error", `error: "it cannot be done": begin with `},
	{"start leaks", "start: seat 0 sees"},
	{"start changes", "start: changes the state"},
	{"ply", "ply: is 2 after 2"},
	{"apply log", "apply: gives another position without a log"},
	{"apply allocates", "apply: a game allocates"},
	{"event leaks", "can tell a redeal by"},
	{"event text", "has an empty word"},
	{"points", "total: points [0 0]"},
	{"seats", "points: [0] for 2 players"},
	{"text same", "is no word or not its own"},
	{"parse error", "begin with "},
	{"parse lax", "reads as the move"},
	{"view leaks", "view leaks"},
	{"view empty", "is no key=value of its own"},
	{"view key", `"hand=-"`},
	{"clone", "clone: is not the same position"},
	{"redeal nothing", "redeal: no redeal changed"},
	{"redeal doubles", "redeal: sound: "},
	{"redeal own", "view leaks"},
	{"from view refuses", "from view: seat"},
	{"from view doubles", "from view: sound: "},
	{"from view fixed", "arrangements"},
}

// gameFaults lists faults in the description of a game with the errors that they must cause.
var gameFaults = map[string]struct {
	says  string
	spoil func(g *rules.Game)
}{
	"option help":  {"options: players: the help is empty", func(g *rules.Game) { g.Options[0].Help = "" }},
	"option twice": {"options: players is listed twice", func(g *rules.Game) { g.Options[1].Name = "players" }},
	"default":      {"options: players: 5 is not in a range", func(g *rules.Game) { g.Options[0].Default = 5 }},
	"display":      {`display: the view has no key "table"`, func(g *rules.Game) { g.Display.Cards = &rules.Cards{Hand: "hand", Trick: "table"} }},
	"settings": {`options: players defaults to "3"`, func(g *rules.Game) {
		g.Variant = func(g *rules.Game, s rules.Settings) (*rules.Variant, error) {
			s[0].Value = "3"
			return brisca.Game.Variant(g, s)
		}
	}},
	"sides":  {"settings: there is only one side", changed(func(v *rules.Variant) { v.Sides = 1 })},
	"chance": {"deal: the position depends on the seed", changed(func(v *rules.Variant) { v.HasChance = false })},
	"most plies": {"most plies: a game has 40, which is more than 39",
		changed(func(v *rules.Variant) { v.MaxPlies = 39 })},
}

// changed returns a function that makes a change to all variants of a game.
func changed(change func(v *rules.Variant)) func(g *rules.Game) {
	return func(g *rules.Game) {
		g.Variant = func(g *rules.Game, s rules.Settings) (*rules.Variant, error) {
			v, err := brisca.Game.Variant(g, s)
			change(v)
			return v, err
		}
	}
}

var (
	errBad = errors.New("it cannot be done")
	deals  atomic.Uint64       // the seeds of the fault "deal any"
	memory atomic.Pointer[int] // what the fault "apply allocates" allocates
)

// state is a position of Brisca with a fault.
type state struct {
	brisca.State
	fault uint8 // index in stateFaults
	noise uint8
}

// sliceState is a state that is not a pointer to a struct.
type sliceState struct {
	state
	_ []int
}

// spoiled returns a function that gives the states of a game a fault.
func spoiled(fault int) func(g *rules.Game) {
	name := stateFaults[fault].name
	return changed(func(v *rules.Variant) {
		fromView := v.FromView
		v.Deal = func(src *rules.Stream) rules.State {
			s := &state{fault: uint8(fault)}
			if name == "deal any" {
				*src = rules.FastStream(rules.NewRand(deals.Add(1)))
			} else if name == "deal one" {
				*src = rules.NewStream(rules.Seed{})
			}
			s.Deal(v.Rules.(brisca.Rules), src)
			if name == "shape" {
				return &sliceState{state: *s}
			}
			return s
		}
		v.FromView = func(o rules.Observation, r *rules.Rand) (rules.State, error) {
			if name == "from view refuses" {
				return nil, errBad
			}
			if name == "from view fixed" {
				r = rules.NewRand(1)
			}
			made, err := fromView(o, r)
			if err != nil {
				return nil, err
			}
			s := &state{State: *made.(*brisca.State), fault: uint8(fault)}
			if name == "from view doubles" {
				s.Hands[1-o.Seat] = s.Hands[1-o.Seat].Without(s.Hands[1-o.Seat].First()).With(s.Hands[o.Seat].First())
			}
			return s, nil
		}
	})
}

func (s *state) has(name string) bool { return stateFaults[s.fault].name == name }

func (s *state) Turn() int {
	if turn := s.State.Turn(); turn != 1 || !s.has("turn") {
		return turn
	}
	return 2
}

func (s *state) Ply() int {
	if ply := s.State.Ply(); ply != 3 || !s.has("ply") {
		return ply
	}
	return 2
}

func (s *state) Legal(dst []rules.Move) []rules.Move {
	if s.has("legal overwrites") {
		dst = dst[:0]
	}
	n := len(dst)
	dst = s.State.Legal(dst)
	switch legal := dst[n:]; {
	case s.has("legal empty") && s.Ply() == 2:
		return dst[:n]
	case s.has("legal unsorted") && len(legal) > 1:
		legal[0], legal[1] = legal[1], legal[0]
	case s.has("legal double") && len(legal) > 0:
		return append(dst, legal[len(legal)-1])
	}
	return dst
}

func (s *state) Check(m rules.Move) error {
	err := s.State.Check(m)
	switch over := s.State.Turn() == rules.Over; {
	case over && s.has("check over"), err == nil && s.Ply() == 3 && s.has("check strict"), err != nil && !over && s.has("check error"):
		return errBad
	case m == 300 && s.has("check lax"):
		return nil
	case err != nil && s.has("check trace"):
		s.noise++
	}
	return err
}

func (s *state) Apply(m rules.Move, log *rules.Log) {
	s.State.Apply(m, log)
	switch {
	case s.has("apply allocates"):
		memory.Store(new(int))
	case log == nil:
	case s.has("apply log"):
		s.noise++
	case s.has("event leaks"):
		log.Add(rules.AllSeats, "next", s.Pack[30])
	case s.has("event text"):
		log.Add(rules.AllSeats, "next", "")
	}
}

func (s *state) LogStart(log *rules.Log) {
	s.State.LogStart(log)
	if s.has("start leaks") {
		log.Add(rules.AllSeats, "next", s.Hands[1].First())
	} else if s.has("start changes") {
		s.noise++
	}
}

func (s *state) Points() []float64 {
	points := s.State.Points()
	if s.has("points") {
		clear(points)
	} else if s.has("seats") {
		return points[:1]
	}
	return points
}

func (s *state) MoveText(dst []byte, m rules.Move) []byte {
	if s.has("text same") {
		m = 0
	}
	return s.State.MoveText(dst, m)
}

func (s *state) ParseMove(text string) (rules.Move, error) {
	if s.has("parse lax") && len(text) > 1 {
		text = strings.TrimSuffix(text, "-")
	}
	m, err := s.State.ParseMove(text)
	if err != nil && s.has("parse error") {
		return 0, errBad
	}
	return m, err
}

func (s *state) View(dst []byte, seat int) []byte {
	if s.has("view leaks") && s.Ply() == 2 {
		seat = 1 - seat
	}
	dst = s.State.View(dst, seat)
	if s.has("view empty") {
		return append(dst, " more="...)
	} else if s.has("view key") {
		return append(dst, " hand=-"...)
	}
	return dst
}

func (s *state) Clone() rules.State {
	c := *s
	if s.has("clone") {
		c.noise++
	}
	return &c
}

func (s *state) Redeal(seat int, r *rules.Rand) {
	other := s.Hands[1-seat]
	switch first := s.Hands[seat].First(); {
	case s.has("redeal nothing"):
		return
	case s.has("redeal own") && other != 0:
		s.Hands[seat], s.Hands[1-seat] = other, s.Hands[seat]
		return
	case s.has("redeal doubles") && other != 0 && s.Hands[seat] != 0:
		s.Hands[1-seat] = other.Without(other.First()).With(first)
		return
	}
	s.State.Redeal(seat, r)
}

// find returns the error of check for Brisca after a change.
func find(change func(g *rules.Game)) error {
	g := *brisca.Game
	g.Options = append([]rules.Option(nil), g.Options...)
	change(&g)
	return check(&g, Options{
		Variants: []map[string]string{nil}, Games: 12,
		CheckState: func(_ *rules.Variant, s rules.State) error {
			if s, ok := s.(*state); ok && s.Hands[0]&s.Hands[1] != 0 {
				return fmt.Errorf("%s is in two hands", (s.Hands[0] & s.Hands[1]).Text(nil))
			}
			return nil
		},
		CheckTotal: func(_ *rules.Variant, s rules.State) error {
			if p := s.Points(); p[0]+p[1] != 120 {
				return fmt.Errorf("points %v do not make 120", p)
			}
			return nil
		},
	})
}

// TestKitFindsEveryFault checks that Run finds every fault and describes it.
func TestKitFindsEveryFault(t *testing.T) {
	says := func(t *testing.T, err error, want string) {
		t.Helper()
		if want == "" {
			kit.Must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("says %v, not %q", err, want)
		}
	}
	for i, fault := range stateFaults {
		t.Run(fault.name, func(t *testing.T) { says(t, find(spoiled(i)), fault.says) })
	}
	for name, fault := range gameFaults {
		t.Run(name, func(t *testing.T) { says(t, find(fault.spoil), fault.says) })
	}
}

// TestVariantsWantGoodRefusals checks that errors about combinations of options must name an option.
func TestVariantsWantGoodRefusals(t *testing.T) {
	g := *brisca.Game
	g.Variant = func(g *rules.Game, s rules.Settings) (*rules.Variant, error) { return nil, errBad }
	if _, err := Variants(&g); err == nil || !strings.Contains(err.Error(), "name an option and its value") {
		t.Errorf("says %v", err)
	}
}
