package simulation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/elo"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/referee/rating"
)

// table is a ladder whose matches have four versions: in two teams, or each for
// itself.
type table struct {
	r       *rand.Rand
	sides   []int
	truth   []float64
	players []matchmaking.Player
	met     map[int64]map[int64]int
	pairs   []rating.Pair // each for itself
	bouts   []rating.Bout // teams
}

// teams reports whether slots 0 and 2 are partners, as are 1 and 3.
func (t *table) teams() bool { return t.sides[0] == t.sides[2] }

func newTable(r *rand.Rand, bots int, sides []int) *table {
	t := &table{r: r, sides: sides, truth: draw(r, bots), met: map[int64]map[int64]int{}}
	for i := range bots {
		t.players = append(t.players, matchmaking.Player{ID: int64(i), Elo: elo.Start, Uncertainty: elo.Newcomer})
		t.met[int64(i)] = map[int64]int{}
	}
	t.players[0].Uncertainty = 0
	return t
}

// deals plays a match: teams by the mean of their members, others by a race of
// all at once, two of whom score as their difference says.
func (t *table) deals(slots []int64) []rating.Deal {
	var deals []rating.Deal
	for range 10 {
		var d rating.Deal
		if t.teams() {
			diff := (t.truth[slots[0]] + t.truth[slots[2]] - t.truth[slots[1]] - t.truth[slots[3]]) / 2
			s := deal(t.r, skill(diff))
			d = rating.Deal{{A: 0, B: 1, Games: 2, Score: s}, {A: 0, B: 3, Games: 2, Score: s}, {A: 2, B: 1, Games: 2, Score: s}, {A: 2, B: 3, Games: 2, Score: s}}
		} else {
			d = t.race(slots)
		}
		deals = append(deals, d)
	}
	return deals
}

// race returns four rotations of a game for four; a seat's time has the Gumbel
// distribution about its bot's strength, which makes the logistic curve.
func (t *table) race(slots []int64) rating.Deal {
	var result rating.DealResult
	for range 4 {
		var seats []rating.Seat
		for slot, id := range slots {
			time := t.truth[id]/400*math.Ln10 - math.Log(-math.Log(t.r.Float64()))
			seats = append(seats, rating.Seat{Bot: slot, Side: slot, Points: time})
		}
		for i := range seats {
			seats[i].Rank = 1
			for _, other := range seats {
				if other.Points > seats[i].Points {
					seats[i].Rank++
				}
			}
		}
		result.Add(seats)
	}
	return result.Deal()
}

func (t *table) step(test *testing.T) {
	met := func(a int64) (map[int64]int, error) { return t.met[a], nil }
	slots, _, _ := matchmaking.Next(matchmaking.Ladder{Slots: 4, Players: t.players}, met, t.r)
	deals := t.deals(slots)
	players := make([]elo.Player, 4)
	for i, id := range slots {
		p := t.players[id]
		players[i] = elo.Player{Elo: p.Elo, Uncertainty: p.Uncertainty, Fixed: id == 0}
	}
	moves := kit.Get[[]elo.Move](test)(elo.Current.Match(players, t.sides, deals, 1))
	t.count(test, slots, deals, moves[0].Score)
	for i := range t.players {
		t.players[i].Waited++
	}
	for i, id := range slots {
		p := &t.players[id]
		p.Elo, p.Uncertainty, p.Waited = moves[i].After, moves[i].Uncertainty, 0
		p.Matches++
		for j, other := range slots {
			if t.sides[i] != t.sides[j] {
				t.met[id][other]++
			}
		}
	}
}

// count keeps a match for the fit.
func (t *table) count(test *testing.T, slots []int64, deals []rating.Deal, score float64) {
	if t.teams() {
		n := float64(len(deals))
		t.bouts = append(t.bouts, rating.Bout{A: []int{int(slots[0]), int(slots[2])}, B: []int{int(slots[1]), int(slots[3])}, Deals: n, Score: n * score})
		return
	}
	pairs := elo.Counts(deals, t.sides)
	for _, p := range pairs {
		p.A, p.B = int(slots[p.A]), int(slots[p.B])
		t.pairs = append(t.pairs, p)
	}
}

func (t *table) fit(test *testing.T) []rating.Estimate {
	anchor := &rating.Anchor{Bot: 0, Elo: elo.AnchorElo}
	fit := rating.FitPairs(len(t.truth), t.pairs, anchor)
	if t.teams() {
		fit = rating.FitBouts(len(t.truth), t.bouts, anchor)
	}
	return kit.Get[[]rating.Estimate](test)(fit.Intervals())
}

// slope returns how the ratings' scale compares with the truth's.
func slope(truth, elos []float64) float64 {
	_, b := stat.LinearRegression(truth, elos, nil, false)
	return b
}

// With four at a table Elo finds the order and the scale, too, in teams with
// about four times the matches; and the fit's intervals hold the truth.
func TestTables(t *testing.T) {
	const bots, runs = 30, 6
	for _, c := range []struct {
		name     string
		sides    []int
		matches  int // a bot
		spearman float64
	}{{"two teams", []int{0, 1, 0, 1}, 40, 0.965}, {"each for itself", []int{0, 1, 2, 3}, 10, 0.975}} {
		t.Run(c.name, func(t *testing.T) {
			var order, scale, fitScale, covered float64
			for run := range runs {
				w := newTable(rand.New(rand.NewPCG(uint64(run), 7)), bots, c.sides)
				for range c.matches * bots / 4 {
					w.step(t)
				}
				var elos, fitted []float64
				for i, e := range w.fit(t) {
					elos, fitted = append(elos, w.players[i].Elo), append(fitted, e.Value)
					if i > 0 && e.Low <= w.truth[i] && w.truth[i] <= e.High {
						covered += 1.0 / (bots - 1) / runs
					}
				}
				order += lookAt(w.truth, elos).spearman / runs
				scale += slope(w.truth, elos) / runs
				fitScale += slope(w.truth, fitted) / runs
			}
			t.Logf("rank correlation %.4f, scale %.2f, of the fit %.2f, whose intervals hold %.3f", order, scale, fitScale, covered)
			if order < c.spearman || math.Abs(scale-1) > 0.2 || math.Abs(fitScale-1) > 0.05 || covered < 0.88 {
				t.Error("that is not what the ladder promises")
			}
		})
	}
}
