package rulestest

import (
	"errors"
	"fmt"
	"math"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// checkDisplay returns an error unless the first position of v has all keys that the game's Display expects in a
// view, the "key=value" pairs for a seat.
func checkDisplay(v *rules.Variant) error {
	d := v.Game.Display
	view := protocol.Pairs(deal(v, 0).View(nil, 0))
	switch {
	case d.Title == "":
		return errors.New("display: there is no title")
	case d.Cards != nil && d.Board != nil:
		return errors.New("display: there are both cards and a board")
	case d.Cards != nil:
		return checkKeys(view, d.Cards.Hand, d.Cards.Trick)
	case d.Board != nil:
		return checkBoard(d.Board, view)
	}
	return nil
}

func checkBoard(b *rules.Board, view protocol.Pairs) error {
	keys := []string{b.Pieces}
	if b.Colours != "" {
		keys = append(keys, b.Colours)
	}
	if err := checkKeys(view, keys...); err != nil {
		return err
	}
	for _, key := range keys {
		squares := len(view.Get(key))
		if side := int(math.Sqrt(float64(squares))); side*side != squares {
			return fmt.Errorf("display: %q has %d squares, which make no square board", key, squares)
		}
	}
	if b.Sides != "bw" && b.Sides != "wb" {
		return fmt.Errorf("display: sides are %q: try bw or wb", b.Sides)
	}
	if n := len(b.Corners); n != 0 && n != 4 {
		return fmt.Errorf("display: there are %d corners, not 4", n)
	}
	return nil
}

func checkKeys(view protocol.Pairs, keys ...string) error {
	for _, key := range keys {
		if _, ok := view.Lookup(key); !ok {
			return fmt.Errorf("display: the view has no key %q", key)
		}
	}
	return nil
}
