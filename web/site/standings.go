package site

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const (
	standingsRows = 50 // on a page
	trendPoints   = 12 // of a trend line
)

// place is a row of the standings.
type place struct {
	ladder.Standing
	Trend []float64
}

type standingsPage struct {
	Ladder  store.LadderInfo
	Filter  standingsFilter
	Columns []column
	Places  []place
	Pager   pager
	All     int  // places without the filter
	Whole   bool // the places are the first ones of all, by rank
}

// standingsFilter is what the parameters choose.
type standingsFilter struct {
	Query string // part of a bot's or an owner's name
	Who   string // "people", "house", "" for both
	Past  bool   // versions that do not play any more, in place of those that do
}

func (v *visit) standingsFilter() standingsFilter {
	q := v.query()
	return standingsFilter{Query: q.Text("q"), Who: q.Choice("who", "people", "house"), Past: q.Choice("show", "past") != ""}
}

// keeps reports whether the filter keeps a place.
func (f standingsFilter) keeps(p ladder.Standing) bool {
	text := strings.ToLower(f.Query)
	return (strings.Contains(strings.ToLower(p.Bot), text) || strings.Contains(strings.ToLower(p.Owner), text)) &&
		(f.Who == "" || (f.Who == "house") == (p.Owner == ""))
}

// standingsColumns are the columns of the standings.
var standingsColumns = []sorting[place]{
	{"rank", "number", false, func(a, b place) int { return cmp.Compare(a.Rank, b.Rank) }},
	{"bot", "", false, func(a, b place) int { return cmp.Compare(strings.ToLower(a.Bot), strings.ToLower(b.Bot)) }},
	{"owner", "", false, func(a, b place) int { return cmp.Compare(strings.ToLower(a.Owner), strings.ToLower(b.Owner)) }},
	{"elo", "number second", true, func(a, b place) int { return cmp.Compare(a.Elo, b.Elo) }},
	{"fit", "number", true, func(a, b place) int { return cmp.Compare(fitOf(a), fitOf(b)) }},
	{"games", "number", true, func(a, b place) int { return cmp.Compare(a.Games, b.Games) }},
	{"wins", "number", true, func(a, b place) int { return cmp.Compare(share(a.Wins, a.Games), share(b.Wins, b.Games)) }},
	{"faults", "number", true, func(a, b place) int { return cmp.Compare(a.Faults, b.Faults) }},
	{"trend", "", false, nil},
}

func share(part, of int) float64 { return float64(part) / float64(max(of, 1)) }

// fitOf returns the fit of a place, below all others if it is unknown.
func fitOf(p place) float64 {
	if p.Fit == nil {
		return math.Inf(-1)
	}
	return *p.Fit
}

// standings shows who is where on a ladder.
func (s *Site) standings(v *visit, l store.LadderInfo) error {
	page := standingsPage{Ladder: l, Filter: v.standingsFilter()}
	read := s.Store.Standings
	if page.Filter.Past {
		read = s.Store.Inactive
	}
	list, err := read(v.ctx(), l.Name)
	if err != nil {
		return err
	}
	page.All = len(list)
	var rows []place
	for _, p := range list {
		if page.Filter.keeps(p) {
			rows = append(rows, place{Standing: p})
		}
	}
	page.Columns = sorted(v, rows, standingsColumns)
	page.Places, page.Pager = paged(v, rows, standingsRows)
	page.Whole = page.Filter == standingsFilter{} && v.r.URL.RawQuery == ""
	if err := s.addTrends(v.ctx(), l.Name, page.Places); err != nil {
		return err
	}
	return v.page(http.StatusOK, "standings", page)
}

func (s *Site) addTrends(ctx context.Context, name string, places []place) error {
	var list []ladder.Standing
	for _, p := range places {
		list = append(list, p.Standing)
	}
	trends, err := s.Store.Trends(ctx, name, list, trendPoints)
	for i := range places {
		places[i].Trend = trends[places[i].VersionID]
	}
	return err
}
