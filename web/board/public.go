package board

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// PublicFrames makes the frames of a game in progress for those who watch it. The frames have only what every
// seat sees: the keys of a view whose values have been the same for all seats since the first frame, the
// number of cards in hand, and the events that all seats saw alike.
type PublicFrames struct {
	seats       int
	hand        string          // key of the cards in hand; "" if the game has none
	perSeatKeys map[string]bool // keys that seats have seen differently in any frame
	before      map[string]string
	keys        []string
}

// NewPublicFrames returns PublicFrames for one game.
func NewPublicFrames(v *rules.Variant) *PublicFrames {
	c := &PublicFrames{seats: v.Players, perSeatKeys: map[string]bool{}}
	if cards := v.Game.Display.Cards; cards != nil {
		c.hand = cards.Hand
	}
	return c
}

// Frame returns the next frame: the changes since the frame before it. log has the events of the deal or of
// the move that led to the position.
func (c *PublicFrames) Frame(s rules.State, log *rules.Log) Frame {
	view := c.common(s)
	f := Frame{
		Turn: s.Turn(), Events: Events{All: append([]string{}, log.CommonEvents(c.seats)...)},
		Common: changes(c.before, view, nil, false),
	}
	for key := range c.before {
		if _, ok := view[key]; !ok { // from now on seats see it differently
			f.Common[key] = ""
		}
	}
	c.before = view
	return f
}

// ForceFullFrame makes the next frame one with every key, like the first frame.
func (c *PublicFrames) ForceFullFrame() { c.before = nil }

// Keys returns the keys of the latest frame's view, in the order of a view line.
func (c *PublicFrames) Keys() []string { return c.keys }

// common returns what all seats see of a position.
func (c *PublicFrames) common(s rules.State) map[string]string {
	line := s.View(nil, 0)
	view := parse(line)
	hand := view[c.hand]
	for seat := 1; seat < c.seats; seat++ {
		for key, value := range parse(s.View(nil, seat)) {
			if first, ok := view[key]; ok && first != value {
				c.perSeatKeys[key] = true
			}
		}
	}
	for key := range c.perSeatKeys {
		delete(view, key)
	}
	if c.hand != "" {
		view[c.hand] = faceDown(hand)
	}
	c.keys = slices.DeleteFunc(keys(line), func(key string) bool { _, ok := view[key]; return !ok })
	return view
}

// faceDown returns a list of cards with "?" in place of each card.
func faceDown(cards string) string {
	if cards == "" || cards == "-" {
		return cards
	}
	return "?" + strings.Repeat(",?", strings.Count(cards, ","))
}
