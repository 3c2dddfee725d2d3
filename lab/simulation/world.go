package simulation

import (
	"math/rand/v2"

	"github.com/timba-arena/timba/ladder/elo"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/referee/rating"
)

// world is one simulated ladder.
type world struct {
	r     *rand.Rand
	deals int
	truth []float64
	elo   []float64
	// uncertainty is package elo's, by bot.
	uncertainty []float64
	// played counts a bot's matches, last is the ladder's count after its last.
	played, last []int
	finished     int
	met          [][]int32
	score        [][]float64 // of the lower bot: sums of the deals' scores
	players      []matchmaking.Player
	round        []int // random pairing: who is left of this round
}

func newWorld(r *rand.Rand, truth []float64, deals int) *world {
	w := &world{r: r, deals: deals}
	for _, t := range truth {
		w.add(t)
	}
	return w
}

// add adds a bot with a true strength and returns its number.
func (w *world) add(truth float64) int {
	id := len(w.truth)
	w.truth = append(w.truth, truth)
	w.elo = append(w.elo, elo.Start)
	w.uncertainty = append(w.uncertainty, elo.Newcomer)
	if id == 0 {
		w.uncertainty[id] = 0
	}
	w.played = append(w.played, 0)
	w.last = append(w.last, w.finished)
	for i := range w.met {
		w.met[i] = append(w.met[i], 0)
		w.score[i] = append(w.score[i], 0)
	}
	w.met = append(w.met, make([]int32, id+1))
	w.score = append(w.score, make([]float64, id+1))
	w.players = append(w.players, matchmaking.Player{})
	return id
}

// pairing chooses two bots.
type pairing func(w *world) (a, b int)

// published returns the ladder's own rule.
func published(w *world) (a, b int) {
	for i := range w.players {
		w.players[i] = matchmaking.Player{ID: int64(i), Elo: w.elo[i], Uncertainty: w.uncertainty[i], Matches: w.played[i], Waited: w.finished - w.last[i]}
	}
	slots, _, err := matchmaking.Next(matchmaking.Ladder{Slots: 2, Players: w.players}, w.opponents, w.r)
	if err != nil {
		panic(err) // opponents gives none
	}
	return int(slots[0]), int(slots[1])
}

// opponents implements matchmaking.Met.
func (w *world) opponents(bot int64) (map[int64]int, error) {
	met := make(map[int64]int)
	for other, n := range w.met[bot] {
		if n > 0 {
			met[int64(other)] = int(n)
		}
	}
	return met, nil
}

// random pairs bots in rounds in which each plays once; every round is drawn anew.
func random(w *world) (a, b int) {
	if len(w.round) < 2 {
		w.round = w.r.Perm(len(w.truth))
	}
	a, b = w.round[0], w.round[1]
	w.round = w.round[2:]
	return a, b
}

// rater plays a match and moves the Elo of both.
type rater func(w *world, a, b int)

// byUncertainty plays duplicate deals and moves what package elo says.
func byUncertainty(w *world, a, b int) {
	deals := make([]rating.Deal, 0, w.deals)
	for _, s := range w.play(a, b) {
		deals = append(deals, rating.Deal{{A: 0, B: 1, Games: 2, Score: s}})
	}
	moves, err := elo.Current.Match([]elo.Player{w.player(a), w.player(b)}, []int{0, 1}, deals, 1)
	if err != nil {
		panic(err)
	}
	w.elo[a], w.elo[b] = moves[0].After, moves[1].After
	w.uncertainty[a], w.uncertainty[b] = moves[0].Uncertainty, moves[1].Uncertainty
}

func (w *world) player(i int) elo.Player {
	return elo.Player{Elo: w.elo[i], Uncertainty: w.uncertainty[i], Fixed: i == 0}
}

// byMatch returns Elo with a fixed K on the mean score of duplicate deals.
func byMatch(k float64) rater {
	return func(w *world, a, b int) {
		sum := 0.0
		for _, s := range w.play(a, b) {
			sum += s
		}
		w.move(a, b, k, sum/float64(w.deals))
	}
}

// byGame returns Elo with a fixed K after each of as many games, on a deal each.
func byGame(k float64) rater {
	return func(w *world, a, b int) {
		s := skill(w.truth[a] - w.truth[b])
		for range 2 * w.deals {
			w.move(a, b, k, single(w.r, s))
		}
	}
}

// move is what Elo with a fixed K does. Such a ladder knows no more of a bot's
// uncertainty than its matches.
func (w *world) move(a, b int, k, score float64) {
	d := k * (score - elo.Expected(w.elo[a]-w.elo[b]))
	for i, change := range map[int]float64{a: d, b: -d} {
		if i != 0 {
			w.elo[i] += change
			w.uncertainty[i] = 1 / (1/elo.Newcomer + float64(w.played[i]+1))
		}
	}
}

// play plays the deals of a match and counts them for the fit.
func (w *world) play(a, b int) []float64 {
	s := skill(w.truth[a] - w.truth[b])
	scores := make([]float64, w.deals)
	for i := range scores {
		x := deal(w.r, s)
		scores[i] = x
		if a > b {
			x = 1 - x
		}
		w.score[min(a, b)][max(a, b)] += x
	}
	return scores
}

// step plays one match and returns its bots.
func (w *world) step(p pairing, rate rater) (a, b int) {
	a, b = p(w)
	rate(w, a, b)
	w.finished++
	for _, i := range [...]int{a, b} {
		w.played[i]++
		w.last[i] = w.finished
	}
	w.met[a][b]++
	w.met[b][a]++
	return a, b
}

// fit returns the maximum-likelihood ratings of the matches so far.
func (w *world) fit() []float64 {
	var pairs []rating.Pair
	for a := range w.met {
		for b := a + 1; b < len(w.met); b++ {
			if n := w.met[a][b]; n > 0 {
				pairs = append(pairs, rating.Pair{A: a, B: b, Deals: float64(int(n) * w.deals), Score: w.score[a][b]})
			}
		}
	}
	return rating.FitPairs(len(w.met), pairs, &rating.Anchor{Bot: 0, Elo: elo.AnchorElo}).Elo
}
