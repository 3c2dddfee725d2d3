package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// FuzzPlay lets bytes choose the moves of a game, legal ones and others, and
// plays it against the naive implementation. A byte below 192 makes a legal
// move; any other, with the next, is the number of a move to be checked only.
func FuzzPlay(f *testing.F) {
	variants := everyVariant()
	f.Add(uint8(0), uint64(0), []byte{})
	f.Add(uint8(7), uint64(1), []byte{0, 1, 2, 200, 7, 3, 3, 3, 255, 60, 1, 1})
	f.Add(uint8(31), uint64(2), []byte{3, 3, 3, 3, 192, 96, 3, 3, 2, 1, 0, 2})
	f.Fuzz(func(t *testing.T, variant uint8, seed uint64, data []byte) {
		v := variants[int(variant)%len(variants)]
		p := newBoth(v, shuffled(v, rules.NewRand(seed)))
		for legal := p.compare(t); len(legal) > 0; legal = p.compare(t) {
			choice := 0
			if len(data) > 0 {
				choice, data = int(data[0]), data[1:]
			}
			if choice < 192 {
				p.move(legal[choice%len(legal)])
				continue
			}
			m := rules.Move(choice-192) << 8
			if len(data) > 0 {
				m, data = m|rules.Move(data[0]), data[1:]
			}
			p.try(t, m)
			p.move(legal[0])
		}
	})
}

// FuzzConformance lets bytes choose options, seed and moves for the kit's checks.
func FuzzConformance(f *testing.F) {
	rulestest.Fuzz(f, Game{}, rulestest.Options{Hidden: true})
}
