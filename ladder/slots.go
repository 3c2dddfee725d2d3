package ladder

import (
	"slices"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Ladder is a game with fixed options and a fixed clock on which versions are rated.
type Ladder struct {
	Name    string
	Title   string
	Game    string
	Options map[string]string // every option of the game, defaults included
	Clock   referee.Clock
	Deals   int      // deals per match
	Bots    int      // slots per match
	House   []string // names of its house bots, such as "@greedy"; always includes the anchor
}

// Variant returns the game of the ladder with its options.
func (l Ladder) Variant() (*rules.Variant, error) {
	g, err := games.Find(l.Game)
	if err != nil {
		return nil, err
	}
	return g.Resolve(l.Options)
}

// Sides returns the side (team) for which each bot of a match plays, in the order of the bots. Bots with the same
// side play together in every seating; others are opponents.
func (l Ladder) Sides() ([]int, error) {
	v, err := l.Variant()
	if err != nil {
		return nil, err
	}
	return SlotSides(v, l.Bots)
}

// SlotSides returns the side (team) for which each of the bots of a match plays in rotation 0, the first seating.
// slots is the number of bots. It returns an error if a bot would play against itself, or if other bots play together
// in other rotations.
func SlotSides(v *rules.Variant, slots int) ([]int, error) {
	players := v.Players
	if slots < 2 || slots > players {
		return nil, phrase.Errorf("the number of bots cannot be %d in a game of %d seats: try %d", slots, players, players)
	}
	var sides []int
	for rotation := range slots {
		now := slices.Repeat([]int{-1}, slots)
		for seat := range players {
			slot := rules.BotAt(seat, rotation, slots)
			if side := v.Side(seat); now[slot] >= 0 && now[slot] != side {
				return nil, phrase.Errorf("the number of bots cannot be %d in a game of %d seats, where a bot would play against itself: try %d", slots, players, players)
			}
			now[slot] = v.Side(seat)
		}
		if rotation == 0 {
			sides = now
		}
		for i := range slots {
			for j := range i {
				if (now[i] == now[j]) != (sides[i] == sides[j]) {
					return nil, phrase.Errorf("the number of bots cannot be %d in a game of %d seats, where partners would change: try %d", slots, players, players)
				}
			}
		}
	}
	return sides, nil
}
