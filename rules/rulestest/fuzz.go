package rulestest

import (
	"slices"
	"strconv"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Fuzz lets bytes choose options, seed and moves, legal ones and others, and
// checks every position on the way. A byte is used for each option and for the
// seed; then each byte below 192 makes a legal move, others bring a move
// number, a text or a view that may be anything. When the bytes end, the game is
// played to its end at random.
func Fuzz(f *testing.F, g *rules.Game, o Options) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\xc0\x10\x10\xf0\x0312c"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\xf8\x00\x06\x0212\xf8\x00\x30\x041o,2"))
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x7f\x7f\x7f\x7f\x7f\x7f\x7f\xf0\x0519-14\x7f\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		kit.Must(t, fuzz(g, o, data))
	})
}

// source hands out bytes, zeros when there are no more.
type source struct{ data []byte }

func (b *source) next() int {
	if len(b.data) == 0 {
		return 0
	}
	c := b.data[0]
	b.data = b.data[1:]
	return int(c)
}

func (b *source) take(n int) string {
	n = min(n, len(b.data))
	text := string(b.data[:n])
	b.data = b.data[n:]
	return text
}

func fuzz(g *rules.Game, o Options, data []byte) error {
	b := &source{data}
	given := map[string]string{}
	for _, option := range g.Options {
		if option.Values != nil {
			given[option.Name] = option.Values[b.next()%len(option.Values)]
		} else {
			given[option.Name] = strconv.Itoa(option.Min + (b.next()<<8|b.next())%(option.Max-option.Min+1))
		}
	}
	v, err := g.Resolve(given)
	if err != nil {
		return checkCombinationError(g, given, err)
	}
	w := newWalk(v, o, uint64(b.next()))
	if err := w.start(); err != nil {
		return err
	}
	for len(b.data) > 0 && w.s.Turn() != rules.Over {
		w.legal = w.s.Legal(w.legal[:0])
		if err := w.checkPosition(w.s, w.legal); err != nil {
			return err
		}
		if err := w.fuzzStep(b); err != nil {
			return err
		}
	}
	return w.playOn(w.s)
}

// fuzzStep makes a legal move or tries something else.
func (w *walk) fuzzStep(b *source) error {
	op := b.next()
	if op < 192 {
		return w.step(w.legal[op%len(w.legal)])
	}
	if op < 224 {
		m := rules.Move(b.next()<<8 | b.next())
		if slices.Contains(w.legal, m) {
			return w.step(m)
		}
		return checkRefused(w.v, w.s, value(w.s), m)
	}
	if op < 232 {
		return w.redeal(b.next() % w.v.Players)
	}
	if op < 248 {
		return checkParse(w.v, w.s, b.take(b.next()%16))
	}
	return w.fuzzView(b)
}

// fuzzView writes bytes over the view of the seat to move.
func (w *walk) fuzzView(b *source) error {
	o := rules.Observe(w.s, w.s.Turn())
	if err := w.fromView(o.Seat); err != nil {
		return err
	}
	at := (b.next()<<8 | b.next()) % len(o.View)
	copy(o.View[at:], b.take(b.next()%16))
	return w.wrongView(o)
}
