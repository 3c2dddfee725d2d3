package store

import (
	"context"
	"encoding/json"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	stats "github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules"
)

// Glance is a ladder with its first places.
type Glance struct {
	LadderInfo
	Active int64 // versions that play
	Top    []ladder.Standing
}

// Glances returns the ladders that are played, each with its first n places.
func (s *Store) Glances(ctx context.Context, n int) (out []Glance, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.Ladders(ctx)
		if err != nil {
			return err
		}
		for _, l := range rows {
			if l.Active == 0 {
				continue
			}
			g, err := glance(ctx, tx, l, int64(n))
			if err != nil {
				return err
			}
			out = append(out, g)
		}
		return nil
	})
	return out, err
}

func glance(ctx context.Context, tx *Tx, l queries.Ladder, n int64) (g Glance, err error) {
	if g.LadderInfo, err = ladderInfo(l); err != nil {
		return g, err
	}
	if g.Active, err = tx.CountActive(ctx, l.ID); err != nil {
		return g, err
	}
	rows, err := tx.TopStandings(ctx, l.ID, n)
	for _, r := range rows {
		g.Top = append(g.Top, standing(r))
	}
	rank(g.Top, 0)
	return g, err
}

// rank gives standings, which are sorted by place, their ranks, after the first ones.
// Equals share one.
func rank(list []ladder.Standing, first int) {
	for i := range list {
		list[i].Rank = first + i + 1
		if i > 0 && ladder.ComparePlaces(list[i-1], list[i]) == 0 {
			list[i].Rank = list[i-1].Rank
		}
	}
}

// Trends returns how the Elo of versions on a ladder went, by version: their ratings after
// at most n of their matches, evenly spaced, the last one among them.
func (s *Store) Trends(ctx context.Context, name string, of []ladder.Standing, n int) (map[int64][]float64, error) {
	wanted := [][2]int64{}
	for _, p := range of {
		for i := range min(n, p.Matches) {
			wanted = append(wanted, [2]int64{p.VersionID, int64((i + 1) * p.Matches / min(n, p.Matches))})
		}
	}
	list, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]float64, len(of))
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.TrendPoints(ctx, string(list), l.ID)
		for _, r := range rows { // in the order of the list
			out[r.VersionID] = append(out[r.VersionID], r.EloAfter)
		}
		return err
	})
	return out, err
}

// Tally is what one version has scored against another on a ladder.
type Tally struct {
	Matches int64
	Deals   float64
	Score   float64 // the sum over the deals, each from 0 to 1
}

// Meeting is all that one version has against another on a ladder. A win is a game in which it was ahead.
type Meeting struct {
	Tally
	Squares float64 // the sum of the squares of the scores
	rules.Record
}

// Meeting returns what a version has against another one on a ladder, nothing if they have not met.
func (s *Store) Meeting(ctx context.Context, name string, a, b int64) (out Meeting, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		r, err := tx.PairOf(ctx, l.ID, min(a, b), max(a, b))
		if err != nil {
			return none(err, nil)
		}
		out = Meeting{Tally{r.Matches, r.Deals, r.Score}, r.Squares, recordOf(r.Wins, r.Draws, r.Losses)}
		if a > b {
			turned := stats.Pair{Deals: r.Deals, Score: r.Score, Squares: r.Squares}.Reverse()
			out.Score, out.Squares, out.Wins, out.Losses = turned.Score, turned.Squares, out.Losses, out.Wins
		}
		return nil
	})
	return out, err
}

// Tallies returns what versions have scored against each other on a ladder, by version and
// opponent; those that have not met are left out.
func (s *Store) Tallies(ctx context.Context, name string, versions []int64) (map[[2]int64]Tally, error) {
	list, err := json.Marshal(append([]int64{}, versions...))
	if err != nil {
		return nil, err
	}
	out := map[[2]int64]Tally{}
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PairsAmong(ctx, string(list), l.ID)
		for _, r := range rows {
			out[[2]int64{r.A, r.B}] = Tally{r.Matches, r.Deals, r.Score}
			out[[2]int64{r.B, r.A}] = Tally{r.Matches, r.Deals, r.Deals - r.Score}
		}
		return err
	})
	return out, err
}
