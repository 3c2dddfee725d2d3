package store

import (
	"context"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	stats "github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules"
)

// Glance is a ladder with its first places.
type Glance struct {
	LadderInfo
	Active int // versions that play
	Top    []ladder.Standing
}

// Glances returns the ladders that are played, each with its first n places.
func (s *Store) Glances(ctx context.Context, n int) (out []Glance, err error) {
	ladders, err := s.Ladders(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range ladders {
		if !l.Active {
			continue
		}
		top, active, err := s.StandingsPage(ctx, l.Name, 0, n)
		if err != nil {
			return nil, err
		}
		out = append(out, Glance{l, active, top})
	}
	return out, nil
}

// Trends returns how the Elo of versions on a ladder went, by version: their ratings after
// at most n of their matches, evenly spaced, the last one among them.
func (s *Store) Trends(ctx context.Context, name string, of []ladder.Standing, n int) (map[int64][]float64, error) {
	wanted := [][2]int64{}
	for _, p := range of {
		own, _ := spread([]ladder.Standing{p}, n)
		wanted = append(wanted, own...)
	}
	out := make(map[int64][]float64, len(of))
	err := s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.RatingPoints(ctx, list(wanted), l.ID)
		for _, r := range rows { // in the order of the list
			out[r.VersionID] = append(out[r.VersionID], r.EloAfter)
		}
		return err
	})
	return out, err
}

// Meeting is all that one version has against another on a ladder. A win is a game in which it was ahead.
type Meeting struct {
	Matches int64
	Deals   float64
	Score   float64 // the sum over the deals, each from 0 to 1
	Squares float64 // the sum of the squares of the scores
	rules.Record
}

// Meetings returns what versions have against each other on a ladder, by version and
// opponent; those that have not met are left out.
func (s *Store) Meetings(ctx context.Context, name string, versions ...int64) (map[[2]int64]Meeting, error) {
	out := map[[2]int64]Meeting{}
	err := s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PairsAmong(ctx, list(versions), l.ID)
		for _, r := range rows {
			m := Meeting{r.Matches, r.Deals, r.Score, r.Squares, recordOf(r.Wins, r.Draws, r.Losses)}
			out[[2]int64{r.A, r.B}] = m
			turned := stats.Pair{Deals: r.Deals, Score: r.Score, Squares: r.Squares}.Reverse()
			m.Score, m.Squares, m.Wins, m.Losses = turned.Score, turned.Squares, m.Losses, m.Wins
			out[[2]int64{r.B, r.A}] = m
		}
		return err
	})
	return out, err
}
