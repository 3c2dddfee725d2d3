package env

import (
	"fmt"
	"math"
	"slices"

	"github.com/timba-arena/timba/referee/rules"
)

// Array is where an array of a state frame lies. Its elements are in little-endian order, the
// last index fastest.
type Array struct {
	Name   string `json:"name"`
	Type   string `json:"type"`   // "f4", "u4", "u2", "i2", "u1" or "i1": kind and bytes of an element
	Shape  []int  `json:"shape"`  // games first
	Offset int    `json:"offset"` // in the payload, a multiple of 8
	row    int    // bytes of a game
}

// Layout is the answer to a make frame: what the client's actions and the server's arrays mean.
type Layout struct {
	Version int               `json:"version"`
	Game    string            `json:"game"`
	Options map[string]string `json:"options"`
	Games   int               `json:"games"`
	Players int               `json:"players"`
	Sides   []int             `json:"sides"` // by seat
	Bots    []string          `json:"bots"`  // by seat, "" for the client
	Rewards Rewards           `json:"rewards"`
	Auto    bool              `json:"auto"`
	Actions []string          `json:"actions"` // the move of each action as the protocol writes it, "" for none
	Planes  []Plane           `json:"planes"`  // the parts of the array "planes"
	Numbers []string          `json:"numbers"` // the parts of the array "numbers"
	Arrays  []Array           `json:"arrays"`
	Size    int               `json:"size"` // bytes of the payload of a state frame
}

// newLayout lays the arrays out, those with the widest elements first.
func newLayout(c *Config, s *shape) (*Layout, error) {
	v := c.Variant
	l := &Layout{
		Version: Version, Game: v.Game.Name, Options: v.Settings.Map(), Games: c.Games, Players: v.Players,
		Bots: c.Bots, Rewards: c.Rewards, Auto: c.Auto, Planes: s.planes, Numbers: s.numbers,
	}
	for seat := range l.Players {
		l.Sides = append(l.Sides, v.Side(seat))
	}
	src := rules.NewStream(rules.Seed{})
	state := v.Deal(&src)
	highest, err := state.ParseMove(s.last)
	if err != nil {
		return nil, err
	}
	l.Actions = actions(state, int(highest)+1)
	add := func(name, kind string, width ...int) {
		bytes := int(kind[1] - '0')
		row := bytes
		for _, n := range width {
			row *= n
		}
		l.Arrays = append(l.Arrays, Array{name, kind, append([]int{c.Games}, width...), l.Size, row})
		l.Size += (row*c.Games + 7) &^ 7
	}
	has := func(name string) bool { return slices.Contains(c.Arrays, name) }
	add("rewards", "f4", l.Players)
	add("points", "f4", l.Players)
	add("deal", "u4")
	add("ply", "u2")
	add("count", "u2")
	if has(arrayLegal) {
		add(arrayLegal, "u2", s.widest)
	}
	if has(observation) {
		add("numbers", "i2", len(s.numbers))
	}
	add("turn", "i1")
	add("over", "u1")
	add("ranks", "u1", l.Players)
	if has(observation) {
		add("planes", "u1", s.width())
	}
	if has(arrayMask) {
		add(arrayMask, "u1", len(l.Actions))
	}
	return l, l.check(c, s)
}

// check returns an error if the games need too much memory.
func (l *Layout) check(c *Config, s *shape) error {
	// A state frame, and each game's position, moves and bookkeeping.
	each := (l.Size+c.Games-1)/c.Games + s.bytes + 2*s.widest + slotBytes
	if need := each * c.Games; need > MaxMemory || l.Size > math.MaxInt32 {
		return fmt.Errorf("env: games cannot be \"%d\": they need %d MiB, and a connection has %d: try %d, or fewer arrays",
			c.Games, need>>20, MaxMemory>>20, MaxMemory/each)
	}
	return nil
}

// actions returns the text of each move up to n, "" for numbers that are no move.
func actions(s rules.State, n int) []string {
	names := make([]string, n)
	for i := range names {
		text := string(s.MoveText(nil, rules.Move(i)))
		if m, err := s.ParseMove(text); err == nil && int(m) == i {
			names[i] = text
		}
	}
	return names
}

// array returns an array's place, with no rows where it is left out.
func (l *Layout) array(name string) Array {
	for _, a := range l.Arrays {
		if a.Name == name {
			return a
		}
	}
	return Array{}
}
