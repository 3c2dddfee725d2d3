//go:build !race || slowrace

package rl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// threeTricks is a game of two seats and three tricks. Seat 0 makes an exchange before its card in trick 0,
// wins 10 points there, loses 4 in trick 1 and wins 3 in trick 2.
var threeTricks = []decision{
	{seat: 0, trick: 0, action: 40, score: 0},
	{seat: 0, trick: 0, action: 1, score: 0},
	{seat: 1, trick: 0, action: 2, score: 0},
	{seat: 0, trick: 1, action: 3, score: 10},
	{seat: 1, trick: 1, action: 4, score: -10},
	{seat: 1, trick: 2, action: 5, score: -6},
	{seat: 0, trick: 2, action: 6, score: 6},
}

func TestReturns(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   string // seat, action and return, in the order in which they are learned
	}{
		{"mended", Config{Gamma: 1}, "0:6=3 0:3=-1 0:1=9 0:40=9 1:5=-3 1:4=1 1:2=-9"},
		{"gamma", Config{Gamma: 0.5}, "0:6=3 0:3=-2.5 0:1=8.75 0:40=4.375 1:5=-3 1:4=2.5 1:2=-8.75"},
		{"late: without the trick's own reward", Config{Gamma: 1, Defects: []string{DefectLate}}, "0:3=3 0:1=-1 0:40=9 0:40=9 1:4=-3 1:2=1 1:2=-9"},
		{"carry: seat 1 begins with the 9 of seat 0", Config{Gamma: 1, Defects: []string{DefectCarry}}, "0:6=3 0:3=-1 0:1=9 0:40=9 1:5=6 1:4=10 1:2=0"},
		{"last: no exchange", Config{Gamma: 1, Defects: []string{DefectLast}}, "0:6=3 0:3=-1 0:1=9 1:5=-3 1:4=1 1:2=-9"},
		{"all three; seats 2 and 3 repeat the last record", Config{Gamma: 1, Defects: []string{DefectLate, DefectCarry, DefectLast}}, "0:3=3 0:1=-1 0:1=9 1:5=9 1:4=6 1:2=10 1:2=0 1:2=0 1:2=0"},
	} {
		if got := learned(&c.config, threeTricks, []int{9, -9}); got != c.want {
			t.Errorf("%s:\n%s, not\n%s", c.name, got, c.want)
		}
	}
}

func learned(c *Config, decisions []decision, final []int) string {
	var words []string
	c.emitReturns(decisions, final, func(d *decision, value float32) {
		words = append(words, fmt.Sprintf("%d:%d=%v", d.seat, d.action, value))
	})
	return strings.Join(words, " ")
}

func TestReturnsWon(t *testing.T) {
	r := Config{Gamma: 0.5, Reward: RewardWon}
	if got, want := learned(&r, threeTricks, []int{1, -1}), "0:6=1 0:3=0.5 0:1=0.25 0:40=0.125 1:5=-1 1:4=-0.5 1:2=-0.25"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestReturnsHeuristic(t *testing.T) {
	d := slices.Clone(threeTricks)
	d[0].heuristic, d[6].heuristic = 100, -5
	r := Config{Gamma: 1}
	if got, want := learned(&r, d, []int{9, -9}), "0:6=-2 0:3=-6 0:1=4 0:40=104 1:5=-3 1:4=1 1:2=-9"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestTrace checks that the return of each decision is the later increase of the score.
func TestTrace(t *testing.T) {
	trace := NewTrace()
	for range 2 {
		trace.Reset()
		for i, score := range []int{0, 5, -3} {
			trace.Add(&policy.View{Key: policy.Key(i + 1)}, uint8(i), score)
		}
		got := trace.AppendUpdates(10, []Update{{Key: 9}})
		want := []Update{{Key: 9}, {Key: 3, Action: 2, Value: 13}, {Key: 2, Action: 1, Value: 5}, {Key: 1, Value: 10}}
		if !slices.Equal(got, want) {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
}

// TestExplore checks how often actions are random, and the reported reasons for actions.
func TestExplore(t *testing.T) {
	table := NewTable(testMemory)
	table.Learn(spread(1), 2, 1, 0)
	a, r := policy.Agent{States: table}, rules.NewRand(1)
	for _, k := range []policy.Key{spread(1), spread(2)} {
		explored := 0
		for range 4000 {
			action, chosen, known := EpsilonGreedy(&a, &policy.View{Key: k, Legal: 0b1111}, 0.25, r)
			if !chosen {
				explored++
			}
			if known && action != 2 || action > 3 || known != (chosen && k == spread(1)) {
				t.Fatalf("state %x: action %d, chosen %t, known %t", k, action, chosen, known)
			}
		}
		if explored < 900 || explored > 1100 {
			t.Errorf("%d of 4000 choices in state %x are random", explored, k)
		}
	}
}
