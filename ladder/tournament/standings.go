package tournament

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
)

// Standing is what a bot has made of a tournament.
type Standing struct {
	referee.Score
	Bot    int             // by number
	Match  float64         // points of the matches: what Swiss and knockout go by
	Rating rating.Estimate // Elo with mean 0, ± 95 %
	Byes   int
}

// Results are a tournament's figures.
type Results struct {
	Standings []Standing         // the best first
	Pairs     [][]rating.Summary // by bot and bot
	Deals     int
}

// Results adds up what has been played. Ratings are there when there are more
// than two bots.
func (t *Tournament) Results() (Results, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Results{Standings: make([]Standing, len(t.Bots))}
	for i, b := range t.Bots {
		r.Standings[i] = Standing{Bot: i, Score: referee.Score{Name: b.Name, Version: b.Version, Hash: b.Hash}}
	}
	var deals []rating.Deal
	for _, m := range t.matches {
		deals = append(deals, m.deals()...)
		if len(m.Bots) == 1 && len(t.Bots) > 1 {
			r.Standings[m.Bots[0]].Byes++
		}
		for i, p := range m.points() {
			s := &r.Standings[m.Bots[i]]
			s.Match += p
			s.add(m.Tally.Scores[i])
		}
	}
	r.Deals = len(deals)
	var err error
	if r.Pairs, err = rating.Table(len(t.Bots), deals); err != nil {
		return r, err
	}
	if len(t.Bots) > 2 && len(deals) > 0 {
		estimates, err := rating.Bootstrap(len(t.Bots), deals, rating.Options{}, rating.Resampling{})
		if err != nil {
			return r, err
		}
		for i, e := range estimates {
			r.Standings[i].Rating = e
		}
	}
	t.Format.sort(t, r.Standings)
	return r, nil
}

func (s *Standing) add(o referee.Score) {
	s.Games += o.Games
	s.Wins += o.Wins
	s.Draws += o.Draws
	s.Losses += o.Losses
	s.Points += o.Points
	s.Faults += o.Faults
	if s.Version == "" {
		s.Version = o.Version
	}
}

// sort puts the best first: by the last round reached in a knockout, by match
// points in a Swiss tournament, by rating elsewhere; bots named first come first
// among equals. Two bots stay as they were named.
func (f Format) sort(t *Tournament, s []Standing) {
	if len(s) < 3 {
		return
	}
	last := make([]int, len(t.Bots))
	for _, m := range t.matches {
		for _, b := range m.Bots {
			last[b] = 2*m.Round + 1
		}
		if f == Knockout && t.finished(m) {
			last[m.winner()]++
		}
	}
	slices.SortStableFunc(s, func(a, b Standing) int {
		switch f {
		case Knockout:
			if c := cmp.Compare(last[b.Bot], last[a.Bot]); c != 0 {
				return c
			}
		case Swiss:
			if c := cmp.Compare(b.Match, a.Match); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Rating.Value, a.Rating.Value)
	})
}
