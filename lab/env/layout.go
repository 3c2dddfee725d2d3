package env

import (
	"fmt"
	"math"
	"slices"

	"github.com/timba-arena/timba/rules"
)

// Array describes an array in the message that the server sends after each step. The elements are little-endian,
// and the last index varies fastest.
type Array struct {
	Name     string `json:"name"`
	Type     string `json:"type"`   // element type: "f4", "u4", "u2", "i2", "u1" or "i1", a kind and a size in bytes
	Shape    []int  `json:"shape"`  // dimensions; the first is the number of games
	Offset   int    `json:"offset"` // in the payload; a multiple of 8
	rowBytes int    // bytes of one game
}

// Layout is the server's answer to a client that requests games. It describes the client's actions and the arrays
// of the messages that follow.
type Layout struct {
	Version   int               `json:"version"`
	Game      string            `json:"game"`
	Options   map[string]string `json:"options"`
	Games     int               `json:"games"`
	Players   int               `json:"players"`
	Sides     []int             `json:"sides"` // side of each seat
	Bots      []string          `json:"bots"`  // by seat; "" for the client
	Rewards   Rewards           `json:"rewards"`
	AutoReset bool              `json:"auto"`
	Actions   []string          `json:"actions"` // by action, the move in protocol form; "" if the number is not a move
	Planes    []Plane           `json:"planes"`  // groups of columns of the array "planes", in order
	Numbers   []string          `json:"numbers"` // names of the columns of the array "numbers", in order
	Arrays    []Array           `json:"arrays"`
	Size      int               `json:"size"` // of the payload of a state frame, in bytes
}

// arraySet has the description of each array in the message to the client. A field is zero if the client does not
// want that array.
type arraySet struct {
	rewards, points, deal, ply, count, legal, numbers, turn, over, ranks, planes, mask Array
}

// newLayout computes the positions of the arrays in the message to the client, those with the largest elements
// first. It returns them as a Layout for the client, and also as fields of the result at. It returns an error if
// the games need more memory than MaxMemory.
func newLayout(c *Config, s *shape) (l *Layout, at arraySet, err error) {
	v := c.Variant
	l = &Layout{
		Version: Version, Game: v.Game.Name, Options: v.Settings.Map(), Games: c.Games, Players: v.Players,
		Bots: c.Bots, Rewards: c.Rewards, AutoReset: c.AutoReset,
	}
	for seat := range l.Players {
		l.Sides = append(l.Sides, v.Side(seat))
	}
	src := rules.NewStream(rules.Seed{})
	first := s.positions(1)
	first.deal(0, &src)
	first.observe(0, 0, &rowWriter{layout: l})
	if l.Actions, err = actions(first.state(0), s.highestMove); err != nil {
		return nil, at, err
	}
	at.rewards = l.add("rewards", "f4", l.Players)
	at.points = l.add("points", "f4", l.Players)
	at.deal = l.add("deal", "u4")
	at.ply = l.add("ply", "u2")
	at.count = l.add("count", "u2")
	if slices.Contains(c.Arrays, arrayLegal) {
		at.legal = l.add(arrayLegal, "u2", s.widest)
	}
	observed := slices.Contains(c.Arrays, observation)
	if observed {
		at.numbers = l.add("numbers", "i2", len(l.Numbers))
	}
	at.turn = l.add("turn", "i1")
	at.over = l.add("over", "u1")
	at.ranks = l.add("ranks", "u1", l.Players)
	if observed {
		width := 0
		for _, p := range l.Planes {
			width += p.Size
		}
		at.planes = l.add("planes", "u1", width)
	}
	if slices.Contains(c.Arrays, arrayMask) {
		at.mask = l.add(arrayMask, "u1", len(l.Actions))
	}
	return l, at, l.check(s)
}

// add appends an array that has a part for each game, and returns it. kind is the type of the elements (see
// Array.Type). width has the dimensions of the part for one game.
func (l *Layout) add(name, kind string, width ...int) Array {
	row := int(kind[1] - '0')
	for _, n := range width {
		row *= n
	}
	a := Array{name, kind, append([]int{l.Games}, width...), l.Size, row}
	l.Arrays = append(l.Arrays, a)
	l.Size += (row*l.Games + 7) &^ 7
	return a
}

// check returns an error if the games of a connection need more memory than MaxMemory.
func (l *Layout) check(s *shape) error {
	// Bytes for each game: its share of a state frame, its position, its moves and its slot.
	each := (l.Size+l.Games-1)/l.Games + s.bytes + 2*s.widest + slotBytes
	if need := each * l.Games; need > MaxMemory || l.Size > math.MaxInt32 {
		return fmt.Errorf("env: games cannot be %d: they need %d MiB, and a connection has %d: try %d, or fewer arrays",
			l.Games, need>>20, MaxMemory>>20, MaxMemory/each)
	}
	return nil
}

// actions returns the texts of all moves, by their numbers, up to the move whose text is last. The text of a number
// that is not a move is "". It returns an error if last is not the text of a move.
func actions(s rules.State, last string) ([]string, error) {
	highest, err := s.ParseMove(last)
	if err != nil {
		return nil, err
	}
	names := make([]string, highest+1)
	for i := range names {
		text := string(s.MoveText(nil, rules.Move(i)))
		if m, err := s.ParseMove(text); err == nil && int(m) == i {
			names[i] = text
		}
	}
	return names, nil
}
