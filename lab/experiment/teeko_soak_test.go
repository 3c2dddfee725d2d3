//go:build soak

package experiment

import (
	"encoding/binary"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// lastGames are the kinds of last games of a training that replaces the weights at each step. Its weights are then a
// multiple of the features of the last position, above 0 only if the game was won. Each kind has the shares of games
// won, in percent, between which the hypothesis of TestTeekoFixedPoints predicts the learner's, in experiment 1 and,
// against weights of a game that was won, in experiment 6.
var lastGames = map[string][2][2]float64{
	"won":                {{38, 47}, {35, 65}},
	"not won, scattered": {{87, 95}, {10, 50}}, // such weights value few own groups
	"not won, grouped":   {{0, 5}, {0, 8}},     // such weights value few own adjacencies
}

func lastGameOf(w teekolms.Weights) string {
	switch {
	case w[0] > 0:
		return "won"
	case w[1] == 0:
		return "not won, scattered"
	}
	return "not won, grouped"
}

// TestTeekoFixedPoints puts a hypothesis to the test: the figures of experiments 1 and 6 by the rule that replaces the
// weights depend on nothing but the last game of the training. It trains with 20 seeds, and fails if a learner wins
// more or fewer games than predicted from that game. With -v it logs the rows of lab/results/teeko-seeds.csv.
func TestTeekoFixedPoints(t *testing.T) {
	t.Log("experiment,seed,last game,last game of the other,won,lost,drawn")
	for seed := range uint64(20) {
		master := rules.Seed{31: byte(seed + 1)}
		train := func(name string, x lms.Training) lms.LearningReport {
			d := master.Derive("experiment/" + name)
			x.Seed, x.Blind = binary.BigEndian.Uint64(d[:]), true
			return kit.Get[lms.LearningReport](t)(lms.Train(t.Context(), x))
		}
		learn := lms.Training{Games: 5000, Limit: 500, RateSchedule: lms.RateSchedule{Mu: 0.01}, LearningRule: lms.LearningRule{Replace: true}, Start: teekolms.InitialWeights}
		play := lms.Training{Games: 5000, Limit: 500, LearningRule: lms.LearningRule{Fixed: true}}
		check := func(number int, own, other teekolms.Weights, games lms.LearningReport) {
			last, rival := lastGameOf(own), ""
			if number == 6 {
				rival = lastGameOf(other)
			}
			won := 100 * float64(games.Wins) / float64(games.Games())
			t.Logf("%d,%d,%q,%q,%.1f,%.1f,%.1f", number, seed+1, last, rival, won, 100*float64(games.Losses)/float64(games.Games()), 100*float64(games.Draws)/float64(games.Games()))
			if bounds := lastGames[last][number/6]; (number == 1 || rival == "won") && (won < bounds[0] || won > bounds[1]) {
				t.Errorf("experiment %d, seed %d: %.1f %% won after a last game %q, want %v", number, seed+1, won, last, bounds)
			}
		}
		play.Start = train("teeko-1/learning, replaced", learn).Weights
		check(1, play.Start, teekolms.Weights{}, train("teeko-1/replaced", play))

		learn.Limit, learn.Period, play.Limit, play.Period = 200, 5, 200, 5
		first := train("teeko-6/by random, replaced", learn).Weights
		learn.Start, learn.Rival = first, &first
		play.Start, play.Rival, play.Games = train("teeko-6/by earlier, replaced", learn).Weights, &first, 100
		check(6, play.Start, first, train("teeko-6/replaced", play))
	}
}
