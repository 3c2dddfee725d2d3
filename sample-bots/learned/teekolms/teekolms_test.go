package teekolms

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
)

// position parses five rows of a board. Black is to move.
func position(t *testing.T, board string) *teeko.State {
	t.Helper()
	v, err := teeko.Game.Resolve(nil)
	kit.Must(t, err)
	s, err := v.FromView(rules.Observation{View: protocol.Pairs("board=" + strings.ReplaceAll(board, " ", "") + " me=b phase=move")}, nil)
	kit.Must(t, err)
	return s.(*teeko.State)
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		board string
		want  Features
	}{
		{"bbb.. ..... ....b w.w.. w.w..", Features{1, 4, 3, 2, 4, 2, 2}},
		{"b...b ..... ..w.. .www. b...b", Features{1, 0, 1, 4, 10, 3, 1}},
		{"..b.. .bb.. ..b.. w...w w...w", Features{1, 10, 3, 1, 4, 2, 2}},
		{"b...w .b..w ..b.. ....w ..w.b", Features{1, 4, 3, 2, 2, 2, 3}},
	} {
		if got := FeaturesOf(position(t, c.board), 0, false); got != c.want {
			t.Errorf("%s: got %v, want %v", c.board, got, c.want)
		}
		got := FeaturesOf(position(t, c.board), 1, false)
		for i := range 3 {
			if got[1+i] != c.want[4+i] || got[4+i] != c.want[1+i] {
				t.Errorf("%s: for the other side %v", c.board, got)
			}
		}
	}
}

// TestMoves checks the features that count moves. Pieces of the opponent can make a way longer, or close it.
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		board string
		want  []float64 // own moves to fewer groups and to a longer line, and those of the opponent
	}{
		{"bbb.. ..... ....b w.w.. w.w..", []float64{1, 2, 1, 1}},
		{"b...b ..... ..w.. .www. b...b", []float64{3, 3, 0, 2}},
		{"bwb.. ww... b.w.. b.... .....", []float64{2, 2, 0, 1}},
		{"bw... ww... ..bb. ..b.. ....w", []float64{maxMoves, 1, 4, 1}},
	} {
		got := FeaturesOf(position(t, c.board), 0, true)
		if !slices.Equal(got[studySize:], c.want) {
			t.Errorf("%s: got %v, want %v", c.board, got[studySize:], c.want)
		}
	}
}

func TestChooseWins(t *testing.T) {
	m, v := InitialWeights.Choose(position(t, "bbb.b ..... ..... w.w.. w.w.."), rules.NewRand(1), false)
	if s := position(t, "bbb.b ..... ..... w.w.. w.w.."); string(s.MoveText(nil, m)) != "4-3" || v != 1 {
		t.Errorf("got %s, value %v", s.MoveText(nil, m), v)
	}
	// With blind set, Choose does not recognize a winning move.
	none := position(t, "bbb.b ..... ..... w.w.. w.w..")
	if m, v := (Weights{}).Choose(none, rules.NewRand(1), true); v != 0 || string(none.MoveText(nil, m)) == "4-3" {
		t.Errorf("blind: %s, value %v", none.MoveText(nil, m), v)
	}
}

// TestLearn checks one step by hand: the value of (1, 1, 0, ...) with weights of 0.5 is 1/(1+1).
func TestLearn(t *testing.T) {
	w := Weights{0.5, 0.5}
	f := Features{1, 1}
	if v := w.Value(f); v != 0.5 {
		t.Errorf("value %v, want 0.5", v)
	}
	w.Learn(f, -0.5, 0.1, false)
	if math.Abs(w[0]-0.4) > 1e-12 || math.Abs(w[1]-0.4) > 1e-12 || w[2] != 0 {
		t.Errorf("weights %v, want 0.4/0.4/0/...", w)
	}
}

// TestReplace checks that with replace the weights are the features of the last position times mu and the
// error, which is the form of the weights that the study prints.
func TestReplace(t *testing.T) {
	w := Weights{0.5, 0.5}
	w.Learn(Features{1, 1, 3}, -0.5, 0.1, true)
	if want := (Weights{-0.1, -0.1, -0.3}); math.Abs(w[0]-want[0])+math.Abs(w[1]-want[1])+math.Abs(w[2]-want[2]) > 1e-12 || w[3] != 0 {
		t.Errorf("weights %v, want %v", w, want)
	}
	const square = teeko.Board(1<<0 | 1<<1 | 1<<5 | 1<<6) // the upper left corner
	for i, n := range []int{1, adjacencies(square), longestLine(square), groups(square)} {
		if x := 0.000983 * float64(n); math.Abs(PublishedWeights[i]-x) > 1e-5 {
			t.Errorf("w%d is %v, not %v", i, PublishedWeights[i], x)
		}
	}
}

func TestText(t *testing.T) {
	for _, w := range []Weights{InitialWeights, PublishedWeights, {1e-7, -3, 0, 12345.678}, {9: 0.5}} {
		if got, err := ParseText(w.Text()); err != nil || got != w {
			t.Errorf("%s: got %v, %v", w.Text(), got, err)
		}
	}
	for _, bad := range []string{"", "w0 1", "w1 1", strings.Replace(InitialWeights.Text(), "w3 0.2", "w3 x", 1), strings.Replace(InitialWeights.Text(), "w3 0.2", "w3 NaN", 1), InitialWeights.Text() + "w7 1\n"} {
		if _, err := ParseText(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
