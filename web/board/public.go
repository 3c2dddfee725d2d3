package board

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// PublicFrames makes the frames of a game in progress for people who watch it. The frames contain only what
// every seat may see: the number of cards in hand, the events that are the same for all seats, and the view
// entries whose values have never differed between seats.
type PublicFrames struct {
	seats       int
	hand        string          // the key of the cards in hand; "" if the game has no cards
	perSeatKeys map[string]bool // the keys whose values have differed between seats in any frame
	before      map[string]string
	keys        []string
}

// NewPublicFrames returns a PublicFrames for one game of variant v. It has made no frame yet.
func NewPublicFrames(v *rules.Variant) *PublicFrames {
	c := &PublicFrames{seats: v.Players, perSeatKeys: map[string]bool{}}
	if cards := v.Game.Display.Cards; cards != nil {
		c.hand = cards.Hand
	}
	return c
}

// Frame returns the frame of position s: what has changed since the frame that the last call returned. log has the
// events that led to s: those of the deal or of a move.
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

// ForceFullFrame makes the next call of Frame return all entries, as the first call does.
func (c *PublicFrames) ForceFullFrame() { c.before = nil }

// Keys returns the keys of the entries that watchers see in the latest frame, in the order of a view line.
func (c *PublicFrames) Keys() []string { return c.keys }

// common returns the entries of position s that are the same for all seats. It also updates c.perSeatKeys and c.keys.
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

func faceDown(cards string) string {
	if cards == "" || cards == "-" {
		return cards
	}
	return "?" + strings.Repeat(",?", strings.Count(cards, ","))
}
