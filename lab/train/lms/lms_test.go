package lms

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// TestTrainReplace checks that a training that replaces weights ends with the weights of its last game.
func TestTrainReplace(t *testing.T) {
	training := Training{
		Games: 300, Limit: 200, RateSchedule: RateSchedule{Mu: 0.01}, MoveStyle: MoveStyle{Period: 5, Blind: true},
		LearningRule: LearningRule{Replace: true}, Seed: 7, Start: teekolms.InitialWeights,
	}
	r, err := Train(t.Context(), training)
	if err != nil || r.Wins < 200 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, x := range r.Weights {
		if n := x / r.Weights[0]; math.Abs(n-math.Round(n)) > 1e-9 || n < 0 || n > 12 {
			t.Errorf("w%d is %v times the constant", i, n)
		}
	}
}

// TestTrain checks that a learner trained against random players beats them, and that the result depends
// only on the seed.
func TestTrain(t *testing.T) {
	training := Training{Games: 300, RateSchedule: RateSchedule{Mu: 0.01}, MoveStyle: MoveStyle{Period: 5}, Seed: 7, Start: teekolms.InitialWeights}
	first := kit.Get[LearningReport](t)(Train(t.Context(), training))
	again, _ := Train(t.Context(), training)
	if first != again {
		t.Errorf("first %v, then %v", first, again)
	}
	if first.Games() != 300 || first.Wins < 200 {
		t.Errorf("%d games, %d won", first.Games(), first.Wins)
	}
	training.Self = true
	if self, err := Train(t.Context(), training); err != nil || self.Weights == first.Weights || self.Games() != 300 {
		t.Errorf("against itself: %v, %v", self, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, training); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestTrainBoth checks that an opponent with weights of its own learns, too, that a house bot can be the opponent, and
// that features that count moves are learned only if that is wanted.
func TestTrainBoth(t *testing.T) {
	training := Training{
		Games: 20, RateSchedule: RateSchedule{Mu: 0.01}, MoveStyle: MoveStyle{Period: 5}, LearningRule: LearningRule{LearnsBoth: true},
		Start: teekolms.InitialWeights, Rival: &teekolms.InitialWeights, Seed: 7,
	}
	both := kit.Get[LearningReport](t)(Train(t.Context(), training))
	if both.RivalWeights == teekolms.InitialWeights || both.RivalWeights == both.Weights || both.Weights[10] != 0 {
		t.Errorf("learner %v, opponent %v", both.Weights, both.RivalWeights)
	}
	training.LearnsBoth, training.Moves = false, true
	if r := kit.Get[LearningReport](t)(Train(t.Context(), training)); r.RivalWeights != teekolms.InitialWeights || r.Weights[10] == 0 {
		t.Errorf("learner %v, fixed opponent %v", r.Weights, r.RivalWeights)
	}
	training.Rival, training.RivalBot = nil, kit.Get[*house.LocalSeat](t)(house.NewSeat("greedy"))
	if r := kit.Get[LearningReport](t)(Train(t.Context(), training)); r.Losses < 10 {
		t.Errorf("%v against @greedy", r)
	}
}

// TestTrainNormalized checks that normalized features change what is learned, and that weights of normalized features
// give the same values.
func TestTrainNormalized(t *testing.T) {
	training := Training{Games: 20, RateSchedule: RateSchedule{Mu: 0.01}, Start: teekolms.InitialWeights, Seed: 7}
	plain := kit.Get[LearningReport](t)(Train(t.Context(), training))
	training.ScalesFeatures = true
	if r := kit.Get[LearningReport](t)(Train(t.Context(), training)); r.Weights == plain.Weights {
		t.Errorf("the weights are %v in both cases", r.Weights)
	}
	w := teekolms.TrainedWeights
	f := teekolms.Features{1, 4, 3, 2, 4, 2, 2, 1, 2, 3, 4}
	if a, b := w.Value(f), w.Scale().Value(f.Scale()); math.Abs(a-b) > 1e-12 {
		t.Errorf("value %v, of normalized features %v", a, b)
	}
	for i, x := range w.Scale().Unscale() {
		if math.Abs(x-w[i]) > 1e-12 {
			t.Errorf("w%d is %v, then %v", i, w[i], x)
		}
	}
}

// TestRateSchedule checks rates that fall and that follow a cosine.
func TestRateSchedule(t *testing.T) {
	for _, c := range []struct {
		schedule RateSchedule
		games    int
		want     float64
	}{
		{RateSchedule{Mu: 0.6}, 1000, 0.6},
		{RateSchedule{Mu: 0.6, Fall: 100}, 0, 0.6},
		{RateSchedule{Mu: 0.6, Fall: 100}, 100, 0.3},
		{RateSchedule{Mu: 0.6, Fall: 100}, 200, 0.2},
		{RateSchedule{Mu: 0.6, Cycle: 100}, 50, 0},
		{RateSchedule{Mu: 0.6, Cycle: 100}, 25, 0.3},
		{RateSchedule{Mu: 0.6, Cycle: 100, Fall: 100}, 200, 0.2},
	} {
		if got := c.schedule.rate(c.games); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v after %d games: %v, want %v", c.schedule, c.games, got, c.want)
		}
	}
}

// TestMovesAtRandom checks that exactly every fifth move is random or, by chance, about one in five.
func TestMovesAtRandom(t *testing.T) {
	count := func(m MoveStyle) (n int, first []int) {
		r := rules.NewRand(3)
		for i := range 1000 {
			if m.movesAtRandom(i, r) {
				n++
				first = append(first, i)
			}
		}
		return n, first[:min(2, len(first))]
	}
	if n, first := count(MoveStyle{Period: 5}); n != 200 || !slices.Equal(first, []int{4, 9}) {
		t.Errorf("%d of 1000 moves, first %v", n, first)
	}
	if n, _ := count(MoveStyle{Period: 5, Chance: true}); n < 150 || n == 200 || n > 250 {
		t.Errorf("by chance %d of 1000 moves", n)
	}
	if n, _ := count(MoveStyle{}); n != 0 {
		t.Errorf("without a period %d moves", n)
	}
}

// TestTrainFixed checks that fixed weights do not change, that equal players win about equally often, and
// that games without random moves are different.
func TestTrainFixed(t *testing.T) {
	training := Training{
		Games: 1000, Limit: 200, MoveStyle: MoveStyle{Period: 5}, LearningRule: LearningRule{Fixed: true},
		Start: teekolms.TrainedWeights, Rival: &teekolms.TrainedWeights, Seed: 7,
	}
	even, err := Train(t.Context(), training)
	if err != nil || even.Weights != teekolms.TrainedWeights {
		t.Fatalf("%v, %v", even, err)
	}
	if even.Wins < 400 || even.Wins > 600 {
		t.Errorf("against itself: %d won, %d lost, %d drawn", even.Wins, even.Losses, even.Draws)
	}
	training.Rival = &teekolms.InitialWeights
	if r, _ := Train(t.Context(), training); r.Wins < 900 {
		t.Errorf("against the initial weights: %d won, %d lost, %d drawn", r.Wins, r.Losses, r.Draws)
	}
	training.Rival, training.Period = nil, 0
	steady, _ := Train(t.Context(), training)
	training.Period = 5
	if r, _ := Train(t.Context(), training); r.Wins < 900 || r == steady {
		t.Errorf("against random moves: %v, steady %v", r, steady)
	}
	training.Limit = 1
	if r, _ := Train(t.Context(), training); r.Draws < 900 {
		t.Errorf("games of one ply: %v", r)
	}
}
