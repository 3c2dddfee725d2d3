package lms

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// A training with replaced weights ends with those of its last game.
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

// teekolms.TrainedWeights against random players it beats them, and the same seed learns the same weights.
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

// With fixed weights nothing is learned; against a rival of the same weights both win about as often,
// and without random moves the games are others.
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
