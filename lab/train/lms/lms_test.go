package lms

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// TestTrainReplace checks that a training that replaces weights ends with the weights of its last game.
func TestTrainReplace(t *testing.T) {
	training := Training{Games: 300, Mu: 0.01, Seed: 7, Start: teekolms.InitialWeights, Blind: true, Replace: true, Limit: 200}
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
	training := Training{Games: 300, Mu: 0.01, Seed: 7, Start: teekolms.InitialWeights}
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

// TestTrainFixed checks that fixed weights do not change, that equal players win about equally often, and
// that games without random moves are different.
func TestTrainFixed(t *testing.T) {
	training := Training{Games: 1000, Fixed: true, Start: teekolms.TrainedWeights, Rival: &teekolms.TrainedWeights, Seed: 7, Limit: 200}
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
	training.Rival, training.Steady = nil, true
	steady, _ := Train(t.Context(), training)
	training.Steady = false
	if r, _ := Train(t.Context(), training); r.Wins < 900 || r == steady {
		t.Errorf("against random moves: %v, steady %v", r, steady)
	}
	training.Limit = 1
	if r, _ := Train(t.Context(), training); r.Draws < 900 {
		t.Errorf("games of one ply: %v", r)
	}
}
