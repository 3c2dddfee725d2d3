package simulation

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// world is a simulated ladder. A bot is identified by its index. Bot 0 is the anchor, whose rating is fixed.
type world struct {
	r         *rand.Rand
	variant   *rules.Variant
	sides     []int // by slot
	deals     int
	strengths []float64      // by bot
	entries   []rating.Entry // by bot
	live      []int          // bots that play
	pool      *matchmaking.Pool
	matches   int                     // number played so far
	pairs     map[[2]int64]stats.Pair // results of pairs of opponents, for the fit
	bouts     []stats.Bout            // matches of teams, for the fit
	roundBots []int                   // for random pairing: bots that have not played in this round
}

// newWorld returns a ladder of new bots. truth has their true strengths in Elo. The matches have the game, the
// number of deals and the number of bots of ladder l.
func newWorld(r *rand.Rand, l ladder.Ladder, truth []float64) (*world, error) {
	w := &world{r: r, deals: l.Deals, pairs: map[[2]int64]stats.Pair{}}
	var err error
	if w.variant, err = l.Variant(); err != nil {
		return nil, err
	}
	if w.sides, err = ladder.SlotSides(w.variant, l.Bots); err != nil {
		return nil, err
	}
	w.pool = matchmaking.NewPool(w.sides, 0, nil)
	var players []matchmaking.Candidate
	for _, t := range truth {
		players = append(players, w.addEntry(t, nil))
	}
	w.changePool(players, nil)
	return w, nil
}

// addEntry adds a bot whose true strength is truth, and returns it as a candidate for matches. The caller must add
// the candidate to the pool of bots from which matches are made. If the bot is a new version, its first Elo is
// derived from predecessor; otherwise predecessor is nil.
func (w *world) addEntry(truth float64, predecessor *rating.Entry) matchmaking.Candidate {
	id := len(w.strengths)
	e := rating.Current.NewEntry(int64(id), predecessor, id == 0)
	w.strengths, w.entries, w.live = append(w.strengths, truth), append(w.entries, e), append(w.live, id)
	return matchmaking.Candidate{ID: e.VersionID, Elo: e.Elo, Uncertainty: e.Uncertainty, LastOrder: w.matches}
}

// changePool adds players to the pool, the bots from which matches are made. It removes the bots with the IDs in
// leave.
func (w *world) changePool(players []matchmaking.Candidate, leave []int64) {
	w.pool.Update(players, leave)
	for _, p := range players {
		w.pool.SetMeetings(p.ID, nil)
	}
}

// addBot adds a bot with the true strength truth to the ladder and returns its index.
func (w *world) addBot(truth float64) (bot int) {
	w.changePool([]matchmaking.Candidate{w.addEntry(truth, nil)}, nil)
	return len(w.strengths) - 1
}

func (w *world) replace(bot int, truth float64) {
	before := w.entries[bot]
	successor := w.addEntry(truth, &before)
	w.live = slices.DeleteFunc(w.live, func(i int) bool { return i == bot })
	w.changePool([]matchmaking.Candidate{successor}, []int64{before.VersionID})
}

// pairing is a function that chooses the bots of the next match. It returns their indices in w.entries, by slot (a
// bot's place in the match, before rotations assign seats).
type pairing func(w *world) []int

// pairByPool chooses the bots of the next match as the ladders of timba do.
func pairByPool(w *world) (bots []int) {
	slots, _ := w.pool.Next(matchmaking.Constraints{}, w.r) // the pool knows all meetings
	for _, id := range slots {
		bots = append(bots, int(id))
	}
	return bots
}

// pairAtRandom chooses the bots of the next match at random. No bot plays twice in a round of matches; if a round
// leaves too few bots for a match, these do not play in it.
func pairAtRandom(w *world) (bots []int) {
	n := len(w.sides)
	if len(w.roundBots) < n {
		w.roundBots = w.r.Perm(len(w.strengths))
	}
	bots, w.roundBots = w.roundBots[:n], w.roundBots[n:]
	return bots
}

// rater is a function that simulates a match and then updates the ratings. bots has the indices of the bots in the
// match.
type rater func(w *world, bots []int)

// rateByOutcome plays a match, each deal with every seating of the bots, and rates the bots as a server does. It
// also records the results for the maximum-likelihood ratings.
func rateByOutcome(w *world, bots []int) {
	before := make([]rating.Entry, len(bots))
	for slot, i := range bots {
		before[slot] = w.entries[i]
	}
	out, err := rating.Current.Outcome(ladder.Match{Deals: w.deals}, w.variant, before, w.play(bots))
	if err != nil {
		panic(err) // the games were made for this match
	}
	for slot, i := range bots {
		w.entries[i] = out.Entries[slot]
	}
	if w.hasTeams() {
		w.addBout(bots, out.Changes[0].Score)
		return
	}
	for _, p := range out.Pairs {
		key := [2]int64{p.A, p.B}
		sum := w.pairs[key]
		w.pairs[key] = stats.Pair{A: int(p.A), B: int(p.B), Deals: sum.Deals + p.Deals, Score: sum.Score + p.Score, Squares: sum.Squares + p.Squares}
	}
}

func (w *world) hasTeams() bool { return w.variant.Sides < len(w.sides) }

// addBout records the result of a match between two teams for the maximum-likelihood ratings. score is the mean
// score of the first bot's team, from 0 to 1.
func (w *world) addBout(bots []int, score float64) {
	b := stats.Bout{Deals: float64(w.deals), Score: float64(w.deals) * score}
	for slot, i := range bots {
		if w.sides[slot] == w.sides[0] {
			b.A = append(b.A, i)
		} else {
			b.B = append(b.B, i)
		}
	}
	w.bouts = append(w.bouts, b)
}

// play simulates a match and returns its games: each deal is played with every seating of the bots. bots has the
// indices of the bots.
func (w *world) play(bots []int) []ladder.FinishedGame {
	var games []ladder.FinishedGame
	for d := range w.deals {
		l := luckWeight * w.r.NormFloat64()
		for rotation := range bots {
			g := ladder.FinishedGame{Deal: d, Rotation: rotation, Seats: make([]ladder.GameSeat, w.variant.Players)}
			strength := make([]float64, w.variant.Sides) // the mean of the side's seats
			for seat := range g.Seats {
				slot := rules.BotAt(seat, rotation, len(bots))
				g.Seats[seat] = ladder.GameSeat{Seat: seat, Slot: slot}
				strength[w.variant.Side(seat)] += w.strengths[bots[slot]] * float64(w.variant.Sides) / float64(w.variant.Players)
			}
			ranks := w.drawRanks(strength, l)
			for seat := range g.Seats {
				g.Seats[seat].Rank = ranks[w.variant.Side(seat)]
			}
			games = append(games, g)
		}
	}
	return games
}

// drawRanks simulates one game and returns the rank of each side, from 1 for the best. strength has the Elo of each
// side. If there are two sides, luck is the advantage of the first side from the deal, as in playGame. With more
// sides, luck has no effect: a random number with a Gumbel distribution is added to each strength, so that the
// results between two sides follow the Elo curve.
func (w *world) drawRanks(strength []float64, luck float64) []int {
	if len(strength) == 2 {
		return map[float64][]int{1: {1, 2}, 0.5: {1, 1}, 0: {2, 1}}[playGame(w.r, skill(strength[0]-strength[1]), luck)]
	}
	lead := make([]float64, len(strength))
	for side, s := range strength {
		lead[side] = s/400*math.Ln10 - math.Log(-math.Log(w.r.Float64()))
	}
	ranks := make([]int, len(strength))
	for side := range lead {
		ranks[side] = 1
		for _, other := range lead {
			if other > lead[side] {
				ranks[side]++
			}
		}
	}
	return ranks
}

// rateByMatch returns a function that simulates a match between two bots, and then updates their Elo once with the
// K-factor k. Each deal (shuffle of the cards) of the match is played twice, the second time with exchanged seats.
func rateByMatch(k float64) rater {
	return func(w *world, bots []int) {
		s, sum := w.skillDifference(bots), 0.0
		for range w.deals {
			sum += playDeal(w.r, s)
		}
		w.updateElo(bots, k, sum/float64(w.deals))
		w.countMatch(bots)
	}
}

// rateByGame returns a function that simulates a match between two bots, and updates their Elo after each game with
// the K-factor k. Each game has its own deal (shuffle of the cards).
func rateByGame(k float64) rater {
	return func(w *world, bots []int) {
		s := w.skillDifference(bots)
		for range 2 * w.deals {
			w.updateElo(bots, k, playSingle(w.r, s))
		}
		w.countMatch(bots)
	}
}

// skillDifference returns the skill of the first bot of a match minus the skill of the second.
func (w *world) skillDifference(bots []int) float64 {
	return skill(w.strengths[bots[0]] - w.strengths[bots[1]])
}

// updateElo updates the Elo of two bots. score is the score of the first bot, from 0 to 1. The Elo changes by k,
// the K-factor, times the difference between score and the expected score. A bot with a fixed rating (the anchor)
// keeps it.
func (w *world) updateElo(bots []int, k, score float64) {
	a, b := &w.entries[bots[0]], &w.entries[bots[1]]
	change := k * (score - rating.Current.ExpectedScore(a.Elo-b.Elo))
	if !a.Fixed {
		a.Elo += change
	}
	if !b.Fixed {
		b.Elo -= change
	}
}

// countMatch counts a match for each of its bots, which are rated with a fixed K-factor. It sets their uncertainty,
// which therefore depends only on the number of matches.
func (w *world) countMatch(bots []int) {
	for _, i := range bots {
		e := &w.entries[i]
		e.Matches++
		if !e.Fixed {
			e.Uncertainty = 1 / (1/rating.Current.Newcomer + float64(e.Matches))
		}
	}
}

// step simulates the next match, with pairing and ratings by method m, and returns the bots' indices.
func (w *world) step(m Method) []int {
	bots := m.pair(w)
	m.rate(w, bots)
	w.matches++
	var moved []matchmaking.PlayerRating
	for _, i := range bots {
		e := w.entries[i]
		moved = append(moved, matchmaking.PlayerRating{ID: e.VersionID, Elo: e.Elo, Uncertainty: e.Uncertainty, Matches: e.Matches})
	}
	w.pool.Finish(0, w.matches, moved)
	return bots
}

func (w *world) elos() (out []float64) {
	for _, e := range w.entries {
		out = append(out, e.Elo)
	}
	return out
}

// fit returns the maximum-likelihood ratings of all bots, based on all matches so far.
func (w *world) fit() *stats.Fit {
	anchor := &stats.Anchor{Bot: 0, Elo: rating.Current.Anchor}
	if w.hasTeams() {
		return stats.FitBouts(len(w.strengths), w.bouts, anchor)
	}
	pairs := slices.SortedFunc(maps.Values(w.pairs), func(p, q stats.Pair) int {
		return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
	})
	return stats.FitPairs(len(w.strengths), pairs, anchor)
}
