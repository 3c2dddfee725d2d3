package site

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const (
	standingsRows = 50 // versions on one page
	trendPoints   = 12 // points of a trend line
)

// standingsRow is a row of the standings. Trend has the recent ratings of the version.
type standingsRow struct {
	ladder.Standing
	Trend []float64
}

type standingsPage struct {
	Ladder        store.LadderInfo
	Filter        standingsFilter
	Columns       []column
	Places        []standingsRow
	Pager         pager
	TotalPlaces   int  // the number of places without the filter
	IsDefaultView bool // the page shows the top places by rank, so live updates can replace its rows
}

// standingsFilter selects the standings that a page lists. The query parameters of the page set it.
type standingsFilter struct {
	Query     string // a part of a bot's or an owner's name
	OwnerKind string // "people", "house", or "" for both
	Past      bool   // shows the versions that no longer play instead of the active ones
}

func (v *visit) standingsFilter() standingsFilter {
	q := v.query()
	return standingsFilter{Query: q.Text("q"), OwnerKind: q.Choice("who", "people", "house"), Past: q.Choice("show", "past") != ""}
}

// matches reports whether a standing passes the filter by owner and by name. It ignores f.Past.
func (f standingsFilter) matches(p ladder.Standing) bool {
	text := strings.ToLower(f.Query)
	return (strings.Contains(strings.ToLower(p.Bot), text) || strings.Contains(strings.ToLower(p.Owner), text)) &&
		(f.OwnerKind == "" || (f.OwnerKind == "house") == (p.Owner == ""))
}

var standingsColumns = []sortColumn[ladder.Standing]{
	{"rank", "number", false, func(a, b ladder.Standing) int { return cmp.Compare(a.Rank, b.Rank) }},
	{"bot", "", false, func(a, b ladder.Standing) int { return cmp.Compare(strings.ToLower(a.Bot), strings.ToLower(b.Bot)) }},
	{"owner", "", false, func(a, b ladder.Standing) int { return cmp.Compare(strings.ToLower(a.Owner), strings.ToLower(b.Owner)) }},
	{"elo", "number second", true, func(a, b ladder.Standing) int { return cmp.Compare(a.Elo, b.Elo) }},
	{"fit", "number", true, func(a, b ladder.Standing) int { return cmp.Compare(fitOf(a), fitOf(b)) }},
	{"games", "number", true, func(a, b ladder.Standing) int { return cmp.Compare(a.Games, b.Games) }},
	{"wins", "number", true, func(a, b ladder.Standing) int { return cmp.Compare(share(a.Wins, a.Games), share(b.Wins, b.Games)) }},
	{"faults", "number", true, func(a, b ladder.Standing) int { return cmp.Compare(a.Faults, b.Faults) }},
	{"trend", "", false, nil},
}

func share(part, total int) float64 { return float64(part) / float64(max(total, 1)) }

// fitOf returns the maximum-likelihood rating in a row of the standings, or minus infinity if it is unknown.
func fitOf(p ladder.Standing) float64 {
	if p.Fit == nil {
		return math.Inf(-1)
	}
	return *p.Fit
}

func (s *Site) getStandings(v *visit, l store.LadderInfo) error {
	page := standingsPage{Ladder: l, Filter: v.standingsFilter()}
	read := s.Store.Ladders.Standings
	if page.Filter.Past {
		read = s.Store.Ladders.ListInactive
	}
	list, err := read(v.ctx(), l.Name)
	if err != nil {
		return err
	}
	page.TotalPlaces = len(list)
	list = slices.DeleteFunc(slices.Clone(list), func(p ladder.Standing) bool { return !page.Filter.matches(p) }) // the store shares the list
	page.Columns = sortRows(v, list, standingsColumns)
	list, page.Pager = rowsOfPage(v, list, standingsRows)
	page.IsDefaultView = page.Filter == standingsFilter{} && v.r.URL.RawQuery == ""
	if page.Places, err = s.withTrends(v.ctx(), l.Name, list); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "standings", page)
}

func (s *Site) withTrends(ctx context.Context, name string, places []ladder.Standing) (rows []standingsRow, err error) {
	trends, err := s.Store.Ladders.Trends(ctx, name, places, trendPoints)
	for _, p := range places {
		rows = append(rows, standingsRow{p, trends[p.VersionID]})
	}
	return rows, err
}
