//go:build !race || slowrace

package rl

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

const testMemory = 1 << 20

// spread returns a pseudorandom key.
func spread(n uint64) policy.Key { return policy.NewKey(rules.NewRand(n).Uint64()) }

// plain is a reference implementation of ReturnTable by a map.
type plain map[plainPair]plainValue

type plainValue struct {
	count int
	sum   float64
}

// mean returns the mean of a pair, and whether it was ever tried.
func (p plain) mean(k policy.Key, action uint8) (float64, bool) {
	v, ok := p[plainPair{k, action}]
	return v.sum / float64(max(1, v.count)), ok
}

// judge checks that best is the best of the legal actions in a state. It returns what is wrong with it, or "".
func (p plain) judge(k policy.Key, legal uint64, best uint8, known bool) string {
	mean, tried := p.mean(k, best)
	if known && (!tried || legal>>best&1 == 0) {
		return "it was never tried, or is not legal"
	}
	for action := range uint8(policy.MaxActions) {
		if other, ok := p.mean(k, action); ok && legal>>action&1 != 0 && (!known || other > mean+1e-4) {
			return fmt.Sprintf("%d is better", action)
		}
	}
	return ""
}

func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, want := NewTable(testMemory), plain{}
		keys := rapid.Uint64Range(0, rapid.SampledFrom([]uint64{3, 200, 5000}).Draw(t, "keys"))
		for range rapid.IntRange(0, 2000).Draw(t, "steps") {
			k, action := spread(keys.Draw(t, "key")), uint8(rapid.IntRange(0, policy.MaxActions-1).Draw(t, "action"))
			value := rapid.IntRange(-4, 4).Draw(t, "value")
			if !table.Learn(k, action, float32(value), 0) {
				t.Fatal("the table is full")
			}
			v := want[plainPair{k, action}]
			want[plainPair{k, action}] = plainValue{v.count + 1, v.sum + float64(value)}
		}
		if table.Len() != len(want) {
			t.Fatalf("%d pairs, not %d", table.Len(), len(want))
		}
		for p, v := range want {
			got, ok := table.Find(p.key, p.action)
			if !ok || int(got.Count) != v.count || math.Abs(float64(got.Mean)-v.sum/float64(v.count)) > 1e-4 {
				t.Fatalf("%+v: %+v %t, not %+v", p, got, ok, v)
			}
			legal := rapid.Uint64().Draw(t, "legal")
			action, known := table.Best(p.key, legal)
			if wrong := want.judge(p.key, legal, action, known); wrong != "" {
				t.Fatalf("%v %x: best is %d %t, but %s", p.key, legal, action, known, wrong)
			}
		}
	})
}

func TestTableTies(t *testing.T) {
	k := spread(1)
	for _, order := range [][]uint8{{3, 5, 9}, {9, 5, 3}, {5, 9, 3}} {
		table := NewTable(testMemory)
		for _, action := range order {
			table.Learn(k, action, 2, 0)
		}
		if a, _ := table.Best(k, policy.AllActions); a != 3 {
			t.Errorf("after %v: %d, not the lowest of equal actions", order, a)
		}
		table.Learn(k, 9, 2, 0)
		if a, _ := table.Best(k, policy.AllActions); a != 9 {
			t.Errorf("after %v: %d, not the action that was tried more", order, a)
		}
		if a, known := table.Best(k, 1<<5|1<<6); a != 5 || !known {
			t.Errorf("after %v: %d %t among the legal ones", order, a, known)
		}
		if _, known := table.Best(k, 1<<6); known {
			t.Errorf("after %v: knows an action that was never tried", order)
		}
	}
}

// TestTableUntried checks that, with UntriedAsZero, an untried action is better than a negative mean and not
// better than 0. It must always be the same one in a state, and different ones in different states.
func TestTableUntried(t *testing.T) {
	table := NewTable(testMemory)
	table.UntriedAsZero = true
	taken := map[uint8]bool{}
	for n := range uint64(200) {
		k := spread(n)
		table.Learn(k, 1, -1, 0)
		table.Learn(k, 4, -2, 0)
		action, known := table.Best(k, 0b11110)
		again, _ := table.Best(k, 0b11110)
		if taken[action] = true; !known || action != again || action != 2 && action != 3 {
			t.Fatalf("%d, then %d, known %t", action, again, known)
		}
		if action, _ := table.Best(k, 0b10010); action != 1 {
			t.Errorf("%d, where all were tried", action)
		}
		if _, known := table.Best(k, 0b1100); known {
			t.Error("known, where none was tried")
		}
		if action, known := table.BestTried(k); action != 1 || !known {
			t.Errorf("%d of the tried ones, known %t", action, known)
		}
		table.Learn(k, 4, 2, 0) // a mean of 0
		if action, _ := table.Best(k, 0b11110); action != 4 {
			t.Errorf("%d, not the one with a mean of 0", action)
		}
		if action, _ := table.Clone().Best(k, 0b1110); action != 2 && action != 3 {
			t.Errorf("a clone takes %d", action)
		}
		table.UntriedAsZero = false
		if action, _ := table.Best(k, 0b1110); action != 1 {
			t.Errorf("without Zero: %d", action)
		}
		table.UntriedAsZero = true
	}
	if len(taken) != 2 {
		t.Errorf("only %v are taken", taken)
	}
}

func TestTableStep(t *testing.T) {
	table, k := NewTable(testMemory), spread(1)
	for _, value := range []float32{8, 0, 0, 0} { // steps 1, 1/2, 1/2, 1/2
		table.Learn(k, 0, value, 0.5)
	}
	if p, _ := table.Find(k, 0); p.Mean != 1 || p.Count != 4 {
		t.Errorf("%+v, not a mean of 1", p)
	}
	for range 2 * maxCount {
		table.Learn(k, 1, 3, 0)
	}
	if p, _ := table.Find(k, 1); p.Mean != 3 || p.Count != MaxVisits {
		t.Errorf("%+v after more visits than are counted", p)
	}
}

// TestTableIsFull checks that a table stays within its limit. When it is full, it must reject new pairs and
// update known ones.
func TestTableIsFull(t *testing.T) {
	table := NewTable(testMemory)
	var known []policy.Key
	for n := uint64(0); table.Rejections() < 1000; n++ {
		if k := spread(n); table.Learn(k, 7, 1, 0) {
			known = append(known, k)
		}
		if table.Bytes() > testMemory {
			t.Fatalf("%d bytes", table.Bytes())
		}
	}
	slots := testMemory / pairBytes
	if len(known) != table.Len() || len(known) < slots*4/5 || len(known) > slots {
		t.Errorf("%d pairs, %d in the table, with %d slots", len(known), table.Len(), slots)
	}
	for _, k := range known {
		if !table.Learn(k, 7, 3, 0) {
			t.Fatalf("%x is turned away, though it is known", k)
		}
		if p, _ := table.Find(k, 7); p.Mean != 2 || p.Count != 2 {
			t.Fatalf("%x: %+v", k, p)
		}
	}
}

func TestTableVotes(t *testing.T) {
	table, k := NewTable(testMemory), spread(4)
	for _, v := range []struct {
		action uint8
		by     int
	}{{1, 1}, {2, 1}, {2, 1}, {1, 1}, {1, 1}, {2, -1}} {
		table.AddVotes(k, v.action, v.by)
	}
	if a, known := table.Best(k, policy.AllActions); a != 1 || !known {
		t.Errorf("%d %t, not the action with 3 votes to 1", a, known)
	}
	table.AddVotes(k, 1, -3)
	if a, _ := table.Best(k, policy.AllActions); a != 2 {
		t.Errorf("%d, not the action that has votes left", a)
	}
	table.AddVotes(k, 2, -1)
	if a, known := table.Best(k, policy.AllActions); known {
		t.Errorf("%d is known without a vote", a)
	}
}

func TestTableMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two, both := NewTable(testMemory), NewTable(testMemory), plain{}
		for range rapid.IntRange(0, 500).Draw(t, "steps") {
			n, action := rapid.Uint64Range(0, 50).Draw(t, "key"), uint8(rapid.IntRange(0, 3).Draw(t, "action"))
			value := rapid.IntRange(-9, 9).Draw(t, "value")
			table := rapid.SampledFrom([]*ReturnTable{one, two}).Draw(t, "table")
			table.Learn(spread(n), action, float32(value), 0)
			v := both[plainPair{spread(n), action}]
			both[plainPair{spread(n), action}] = plainValue{v.count + 1, v.sum + float64(value)}
		}
		one.Merge(two)
		if one.Len() != len(both) {
			t.Fatalf("%d pairs, not %d", one.Len(), len(both))
		}
		for p, v := range both {
			got, ok := one.Find(p.key, p.action)
			if !ok || int(got.Count) != v.count || math.Abs(float64(got.Mean)-v.sum/float64(v.count)) > 1e-4 {
				t.Fatalf("%+v: %+v %t, not %+v", p, got, ok, v)
			}
		}
	})
}

// TestTableMergeIsSpread checks that merging a large table into an empty one does not crowd its lower slots,
// which would make every search pass through thousands of pairs.
func TestTableMergeIsSpread(t *testing.T) {
	large, small := NewTable(16<<20), NewTable(16<<20)
	for n := range uint64(300_000) {
		large.Learn(spread(n), 0, 1, 0)
	}
	small.Merge(large)
	longest, run := 0, 0
	for i := range small.shards {
		for _, word := range small.shards[i].words {
			if run++; word == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
	}
	if longest > 500 {
		t.Errorf("%d slots in use side by side", longest)
	}
}

func TestTableSaved(t *testing.T) {
	table := NewTable(testMemory)
	for n := range uint64(100_000) { // more than fit
		table.Learn(spread(n%95_000), uint8(n%5), float32(n), 0)
	}
	var first, second bytes.Buffer
	kit.Must(t, table.Save(&first))
	saved := bytes.Clone(first.Bytes())
	again := NewTable(testMemory)
	kit.Must(t, again.Load(&first))
	kit.Must(t, again.Save(&second))
	if !maps.Equal(pairs(table), pairs(again)) || len(saved) != second.Len() || again.Rejections() != table.Rejections() || table.Rejections() == 0 {
		t.Errorf("%d bytes, then %d; %d and %d turned away", len(saved), second.Len(), table.Rejections(), again.Rejections())
	}
	if err := NewTable(testMemory).Load(bytes.NewReader(saved[:len(saved)/2])); err == nil {
		t.Error("half a table is loaded")
	}
	saved[4], saved[7] = 255, 255 // slots
	if err := NewTable(testMemory).Load(bytes.NewReader(saved)); err == nil {
		t.Error("a table of more slots than the limit is loaded")
	}
}
