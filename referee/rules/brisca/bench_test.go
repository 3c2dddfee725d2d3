package brisca

import (
	"testing"
	"time"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// What floorGame looks up, with an entry for every six bits.
var floorPack, floorSuit, floorValue, floorBeats = func() (p [40]uint8, s, v [64]uint8, b [4][64]uint64) {
	for i, c := range baraja.Pack40 {
		p[i], s[c], v[c] = uint8(c), uint8(c.Suit()), uint8(baraja.Value(c))
		for t := range baraja.Suit(4) {
			b[t][c] = uint64(baraja.Beats(t, c))
		}
	}
	return p, s, v, b
}()

// floorTable is the position of floorGame.
type floorTable struct {
	pack   [40]uint8
	hands  [2][4]uint8 // cards in no order
	points [2]int
	leader uint64
	beats  *[64]uint64
}

// trick plays the cards in place i of the leader's hand and j of the other's,
// puts x into the winner's hand and y into the loser's.
func (t *floorTable) trick(i, j int, x, y uint8) {
	lead := t.leader & 1
	a, b := t.hands[lead][i&3], t.hands[lead^1][j&3]
	won := t.beats[a&63] >> (b & 63) & 1
	draw := uint64(x)<<8 | uint64(y)
	t.hands[lead][i&3] = uint8(draw >> ((won ^ 1) << 3))
	t.hands[lead^1][j&3] = uint8(draw >> (won << 3))
	t.leader = lead ^ won
	t.points[t.leader&1] += int(floorValue[a&63] + floorValue[b&63])
}

// floorGame is what a playout is measured against: a game of two, written out,
// with nothing in it but shuffle, deal, 40 random plays, winners and points. It
// knows no options, no view, no played cards, no stop in the middle.
func floorGame(t *floorTable, r *rules.Rand) {
	q := *r
	t.pack = floorPack
	for i := len(t.pack) - 1; i > 0; i-- {
		j := q.Below(i + 1)
		t.pack[i], t.pack[j] = t.pack[j], t.pack[i]
	}
	t.hands = [2][4]uint8{{t.pack[0], t.pack[2], t.pack[4]}, {t.pack[1], t.pack[3], t.pack[5]}}
	t.beats = &floorBeats[floorSuit[t.pack[6]&63]&3]
	t.points, t.leader = [2]int{}, 0
	for next := 7; next < 39; next += 2 {
		t.trick(q.Below(3), q.Below(3), t.pack[next], t.pack[next+1])
	}
	t.trick(q.Below(3), q.Below(3), t.pack[39], t.pack[6])
	for left := 3; left > 0; left-- {
		i, j := q.Below(left), q.Below(left)
		lead := t.leader & 1
		t.trick(i, j, 0, 0)
		t.hands[lead][i&3] = t.hands[lead][left-1]
		t.hands[lead^1][j&3] = t.hands[lead^1][left-1]
	}
	*r = q
}

// The floor must be a real game: every point is won.
func TestBriscaBenchmarkFloor(t *testing.T) {
	r := rules.NewRand(1)
	var table floorTable
	leads := 0
	for range 1000 {
		floorGame(&table, r)
		if table.points[0]+table.points[1] != 120 {
			t.Fatalf("points %v", table.points)
		}
		leads += int(table.leader)
	}
	if leads < 400 || leads > 600 {
		t.Errorf("seat 1 won the last trick in %d of 1000 games", leads)
	}
}

// BenchmarkPlayout measures a deal and a playout against the floor, in turns so
// that both meet the same machine.
func BenchmarkPlayout(b *testing.B) {
	const batch = 1000
	r := rules.NewRand(1)
	stream := rules.FastStream(r)
	var s State
	var table floorTable
	var own, floor time.Duration
	games := 0
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range batch {
			floorGame(&table, r)
		}
		middle := time.Now()
		for range batch {
			s.Deal(Rules{Players: 2}, &stream)
			s.Playout(r)
		}
		floor += middle.Sub(start)
		end := time.Now()
		own += end.Sub(middle)
		games += batch
	}
	b.ReportMetric(float64(own.Nanoseconds())/float64(games), "ns/playout")
	b.ReportMetric(float64(floor.Nanoseconds())/float64(games), "ns/floor")
	b.ReportMetric(float64(own)/float64(floor), "ratio")
}

// BenchmarkPlayoutOptions measures the other tables and options.
func BenchmarkPlayoutOptions(b *testing.B) {
	for _, test := range []struct {
		name  string
		rules Rules
	}{
		{"two,every option", Rules{Players: 2, Exchange: true, Last10: true, BlackHand: true, Hunt3: true}},
		{"three", Rules{Players: 3}},
		{"four", Rules{Players: 4}},
		{"four,every option", Rules{Players: 4, Teams: true, Exchange: true, Last10: true, BlackHand: true}},
	} {
		b.Run(test.name, func(b *testing.B) {
			r := rules.NewRand(1)
			stream := rules.FastStream(r)
			var s State
			b.ReportAllocs()
			for b.Loop() {
				s.Deal(test.rules, &stream)
				s.Playout(r)
			}
		})
	}
}

func BenchmarkFromView(b *testing.B) {
	rulestest.BenchmarkFromView(b, Variant{Rules{Players: 2}}, 20)
}
