package site

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/stats"
)

const (
	matchesRows    = 50   // matches on one page
	maxMatchesRead = 1000 // matches that are read to find the rows of one page
)

type matchesPage struct {
	Filter  matchesFilter
	Ladders []store.LadderInfo
	Matches []shownMatch
	Older   string // the address of the next page; "" on the last one
	Newest  string // the address of the first page; "" on that page
}

// matchesFilter selects the matches that a page lists. The query parameters of the page set it.
type matchesFilter struct {
	Ladder, Bot string
	RatedChoice string // "yes", "no", or "" for both
	State       string
	before      int64 // only matches with smaller IDs; 0 means all
}

// HasFilter reports whether the filter may leave out matches.
func (f matchesFilter) HasFilter() bool { return f.Ladder+f.Bot+f.RatedChoice+f.State != "" }

func (v *visit) matchesFilter() matchesFilter {
	q := v.query()
	return matchesFilter{
		Ladder: q.Text("ladder"), Bot: q.Text("bot"), RatedChoice: q.Choice("rated", "yes", "no"),
		State:  q.Choice("state", string(ladder.Waiting), string(ladder.Running), string(ladder.Finished), string(ladder.Dropped)),
		before: v.before(),
	}
}

func (s *Site) getMatches(v *visit) error {
	page := matchesPage{Filter: v.matchesFilter()}
	var err error
	if page.Ladders, err = s.Store.Ladders.List(v.ctx()); err != nil {
		return err
	}
	found, next, err := s.findMatches(v, page.Filter)
	if code := ladder.CodeOf(err); err != nil && code != ladder.NotFound { // an unknown bot or ladder has no matches
		return err
	}
	if page.Matches, err = s.withOutcomes(v.ctx(), found); err != nil {
		return err
	}
	if next > 0 {
		page.Older = addressWith(v.r, "before", strconv.FormatInt(next, 10))
	}
	if page.Filter.before > 0 {
		page.Newest = addressWith(v.r, "before", "")
	}
	return v.showPage(http.StatusOK, "matches", page)
}

// findMatches returns the matches of a page, and the cursor of the next page, which is 0 if there is none. It reads
// at most maxMatchesRead matches. If few of them pass the filter, the page is shorter although another page follows.
func (s *Site) findMatches(v *visit, f matchesFilter) (found []ladder.Match, next int64, err error) {
	if f.Ladder != "" && f.RatedChoice == "no" {
		return nil, 0, nil
	}
	look := store.MatchFilter{
		Ladder: f.Ladder, Bot: f.Bot, State: ladder.MatchState(f.State), BeforeID: f.before, Limit: matchesRows + 1,
		Unrated: f.RatedChoice == "no" && f.Bot == "",
	}
	for read := 0; read < maxMatchesRead; read += look.Limit {
		list, err := s.Store.Matches.List(v.ctx(), look)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range list {
			if f.RatedChoice != "" && m.Rated != (f.RatedChoice == "yes") {
				continue
			}
			if len(found) == matchesRows {
				return found, found[matchesRows-1].ID, nil
			}
			found = append(found, m)
		}
		if len(list) < look.Limit {
			return found, 0, nil
		}
		look.BeforeID = list[len(list)-1].ID
	}
	return found, look.BeforeID, nil
}

// shownMatch is a match with its outcome.
type shownMatch struct {
	ladder.Match
	Outcome *outcome // nil if the match has not finished
}

// outcome says who won a match, and how clearly. A side is a bot, or the partners of a team.
type outcome struct {
	Sides       [][]int   // the slots of each side, the best side first
	score       []float64 // the games that each side has won, plus half of those that it has drawn, in the order of Sides
	FirstPlaces int       // the games in which the best side had rank 1, alone or not
	Games       int
	Tied        bool // the best two sides have the same score
}

// outcomeOf computes the outcome of a match from its games. The score of a side in a game is the fraction of its
// opponents that it beat, plus half the fraction of opponents with the same rank. bots is the number of bots in the
// match, and sides the number of sides in the game.
func outcomeOf(bots, sides int, games []ladder.FinishedGame) *outcome {
	n := min(bots, sides) // one bot may play for all seats of a side
	score, first := make([]float64, n), make([]int, n)
	var all stats.DealResult
	for _, g := range games {
		seats, won := make([]stats.Seat, len(g.Seats)), make([]int, n)
		for i, s := range g.Seats {
			side := s.Slot % n
			seats[i] = stats.Seat{Bot: side, Side: side, Rank: s.Rank}
			if s.Rank == 1 {
				won[side] = 1
			}
		}
		all.Add(seats)
		for side := range won {
			first[side] += won[side]
		}
	}
	for _, d := range all.Deal() {
		part := float64(d.Games) / float64(n-1)
		score[d.A] += d.Score * part
		score[d.B] += (1 - d.Score) * part
	}
	order := make([]int, n)
	for side := range order {
		order[side] = side
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	o := &outcome{Games: len(games), FirstPlaces: first[order[0]], Tied: n > 1 && score[order[0]]-score[order[1]] < 1e-9}
	for _, side := range order {
		var slots []int
		for slot := side; slot < bots; slot += n {
			slots = append(slots, slot)
		}
		o.Sides, o.score = append(o.Sides, slots), append(o.score, score[side])
	}
	return o
}

// Text returns the score of two sides, such as "3½ – ½". For more sides it returns "".
func (o *outcome) Text() string {
	if len(o.Sides) != 2 {
		return ""
	}
	return points(o.score[0]) + " – " + points(o.score[1])
}

// points formats a multiple of one half, such as "3½".
func points(x float64) string {
	half := int(x*2 + 0.5)
	text := strconv.Itoa(half / 2)
	switch {
	case half%2 == 0:
		return text
	case half == 1:
		return "½"
	}
	return text + "½"
}

// withOutcomes adds the outcomes to matches.
func (s *Site) withOutcomes(ctx context.Context, list []ladder.Match) ([]shownMatch, error) {
	var ids []int64
	for _, m := range list {
		if m.State == ladder.Finished {
			ids = append(ids, m.ID)
		}
	}
	games, err := s.Store.Matches.GamesByMatch(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]shownMatch, len(list))
	for i, m := range list {
		out[i].Match = m
		if len(games[m.ID]) == 0 {
			continue
		}
		v, err := m.Variant()
		if err != nil {
			return nil, err
		}
		out[i].Outcome = outcomeOf(len(m.Bots), v.Sides, games[m.ID])
	}
	return out, nil
}
