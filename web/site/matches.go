package site

import (
	"net/http"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const (
	matchesRows = 50   // on a page
	matchesRead = 1000 // at most, to find the rows of a page
)

type matchesPage struct {
	Filter  matchesFilter
	Ladders []store.LadderInfo
	Matches []shownMatch
	Older   string // the address of the next page, "" at the end
	Newest  string // that of the first page, "" on it
}

// matchesFilter is what the parameters choose.
type matchesFilter struct {
	Ladder, Bot string
	Rated       string // "yes", "no", "" for both
	State       string
	before      int64 // the cursor: only matches with a smaller ID
}

// Any reports whether the filter leaves something out.
func (f matchesFilter) Any() bool { return f.Ladder+f.Bot+f.Rated+f.State != "" }

func (v *visit) matchesFilter() matchesFilter {
	q := v.query()
	return matchesFilter{
		Ladder: q.Text("ladder"), Bot: q.Text("bot"), Rated: q.Choice("rated", "yes", "no"),
		State:  q.Choice("state", string(ladder.Waiting), string(ladder.Running), string(ladder.Finished), string(ladder.Dropped)),
		before: q.Number("before", 1, 1<<62, 0),
	}
}

// matches lists matches, the latest first.
func (s *Site) matches(v *visit) error {
	page := matchesPage{Filter: v.matchesFilter()}
	var err error
	if page.Ladders, err = s.Store.Ladders(v.ctx()); err != nil {
		return err
	}
	found, next, err := s.findMatches(v, page.Filter)
	if code := ladder.CodeOf(err); err != nil && code != ladder.NotFound { // no such bot or ladder: no matches
		return err
	}
	if page.Matches, err = s.shown(v.ctx(), found); err != nil {
		return err
	}
	if next > 0 {
		page.Older = with(v.r, "before", strconv.FormatInt(next, 10))
	}
	if page.Filter.before > 0 {
		page.Newest = with(v.r, "before", "")
	}
	return v.page(http.StatusOK, "matches", page)
}

// findMatches returns the matches of a page, and the cursor of the next one, 0 at the end. It
// reads at most matchesRead of them: where few fit, a page has fewer rows, and there is another.
func (s *Site) findMatches(v *visit, f matchesFilter) (found []ladder.Match, next int64, err error) {
	if f.Ladder != "" && f.Rated == "no" {
		return nil, 0, nil
	}
	look := store.MatchFilter{
		Ladder: f.Ladder, Bot: f.Bot, State: ladder.MatchState(f.State), Before: f.before, Limit: matchesRows + 1,
		Unrated: f.Rated == "no" && f.Bot == "",
	}
	for read := 0; read < matchesRead; read += look.Limit {
		list, err := s.Store.Matches(v.ctx(), look)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range list {
			if f.Rated != "" && m.Rated != (f.Rated == "yes") {
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
		look.Before = list[len(list)-1].ID
	}
	return found, look.Before, nil
}
