package tournament

import (
	"cmp"
	"slices"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rating"
)

// Standing is what a bot has made of a tournament.
type Standing struct {
	referee.Score
	Bot    int             // by number
	Match  float64         // match points: what Swiss tournaments go by
	Out    int             // the round of a knockout that the bot did not survive, from 0; -1 if none
	Rating rating.Estimate // Elo with mean 0, ± 95 %
	Byes   int
}

// Results are a tournament's figures.
type Results struct {
	Standings []Standing         // the best first
	Pairs     [][]rating.Summary // by bot and bot, from the distinct deals
	Deals     int                // finished
	Distinct  int                // of them, those that repeat no games of the same bots
	Champion  int                // by number; -1 where there is none, or none yet
}

// Results adds up what has been played. Ratings are there when there are more
// than two bots.
func (t *Tournament) Results() Results {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Results{Standings: make([]Standing, len(t.Bots))}
	for i, b := range t.Bots {
		r.Standings[i] = Standing{Bot: i, Out: -1, Score: referee.Score{Name: b.Name, Version: b.Version, Hash: b.Hash}}
	}
	var deals []rating.Deal // distinct
	var repeats rating.Repeats
	for _, m := range t.matches {
		for deal, games := range m.finishedDeals() {
			r.Deals++
			if repeats.Add(games) {
				deals = append(deals, deal)
			}
		}
		if len(m.Bots) == 1 && len(t.Bots) > 1 {
			r.Standings[m.Bots[0]].Byes++
		}
		for i, p := range m.Points() {
			s := &r.Standings[m.Bots[i]]
			s.Match += p
			if t.Format == Knockout && t.Finished(m) && m.Winner() != m.Bots[i] {
				s.Out = m.Round
			}
			s.add(m.Tally.Scores[i])
		}
	}
	r.Distinct = repeats.Distinct
	r.Pairs = rating.Table(len(t.Bots), deals)
	if len(t.Bots) > 2 && len(deals) > 0 {
		for i, e := range rating.Bootstrap(len(t.Bots), deals) {
			r.Standings[i].Rating = e
		}
	}
	t.Format.sort(r.Standings)
	r.Champion = t.Format.champion(t, r.Standings)
	return r
}

func (s *Standing) add(o referee.Score) {
	s.Record.Add(o.Record)
	s.Points += o.Points
	s.Faults += o.Faults
	s.Credit += o.Credit
	if s.Version == "" {
		s.Version = o.Version
	}
}

// sort puts the best first: in a knockout by the round that they were out in, in a
// Swiss tournament by match points, elsewhere, and among equals, by rating; then bots
// named first come first.
func (f Format) sort(s []Standing) {
	slices.SortStableFunc(s, func(a, b Standing) int {
		switch f {
		case Single:
			if len(s) < 3 { // two bots stay as they were named
				return 0
			}
		case Knockout:
			if a.Out != b.Out {
				return cmp.Compare(uint(b.Out), uint(a.Out)) // -1 is above all
			}
		case Swiss:
			if c := cmp.Compare(b.Match, a.Match); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Rating.Value, a.Rating.Value)
	})
}
