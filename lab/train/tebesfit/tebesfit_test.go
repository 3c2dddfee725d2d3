package tebesfit

import (
	"math"
	"testing"

	"github.com/timba-arena/timba/lab/experiment"
	"github.com/timba-arena/timba/stats"
)

// TestWeights checks that all parameters give whole weights in the study's order and within the limits of the bots.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want string
	}{
		{[]float64{math.Log(129), 0, math.Log(60), 0, math.Log(200), math.Log(5)}, "b1=129,b2=64,b3=32,b4=16,b5=8,b6=4,p1=60,p2=30,p3=15,c2=200,c3=5"},
		{[]float64{-9, 9, -9, -9, -9, -9}, "b1=6,b2=5,b3=4,b4=3,b5=2,b6=1,p1=3,p2=2,p3=1,c2=0,c3=0"},
		{[]float64{99, 99, 99, 99, 99, 99}, "b1=1000,b2=999,b3=998,b4=997,b5=996,b6=995,p1=1000,p2=999,p3=998,c2=10000,c3=1000"},
	} {
		if got := weightsAt(c.x); got != c.want {
			t.Errorf("%v: got %s, want %s", c.x, got, c.want)
		}
	}
}

// TestLikelihood checks that the probabilities of all published counts add up to 1, given our games, that equal shares
// are the most likely, and that the row of all games does not count.
func TestLikelihood(t *testing.T) {
	percent := func(x float64) stats.Estimate { return stats.Estimate{Value: x} }
	sum, best, at := 0.0, math.Inf(-1), 0
	for published := range 101 {
		l := logLikelihood(&experiment.Comparison{Figures: []experiment.Figure{
			{Row: "2 - 2", Games: 40, OurEstimate: percent(30), StudyGames: 100, PublishedEstimate: percent(float64(published))},
			{Row: experiment.TotalRow, Games: 40, OurEstimate: percent(30), StudyGames: 100, PublishedEstimate: percent(50)},
		}})
		sum += math.Exp(l)
		if l > best {
			best, at = l, published
		}
	}
	if math.Abs(sum-1) > 1e-9 || at != 30 {
		t.Errorf("the probabilities add up to %v, %d is the most likely", sum, at)
	}
}
