package site

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/stats"
)

const (
	standingsRows = 50 // on a page
	trendPoints   = 12 // of a trend line
)

// standingsRow is a row of the standings.
type standingsRow struct {
	ladder.Standing
	Trend []float64
}

type standingsPage struct {
	Ladder  store.LadderInfo
	Filter  standingsFilter
	Columns []column
	Places  []standingsRow
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
var standingsColumns = []sorting[ladder.Standing]{
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

func share(part, of int) float64 { return float64(part) / float64(max(of, 1)) }

// fitOf returns the fit of a place, below all others if it is unknown.
func fitOf(p ladder.Standing) float64 {
	if p.Fit == nil {
		return math.Inf(-1)
	}
	return *p.Fit
}

// getStandings shows who is where on a ladder.
func (s *Site) getStandings(v *visit, l store.LadderInfo) error {
	page := standingsPage{Ladder: l, Filter: v.standingsFilter()}
	read := s.Store.Ladders.Standings
	if page.Filter.Past {
		read = s.Store.Ladders.Inactive
	}
	list, err := read(v.ctx(), l.Name)
	if err != nil {
		return err
	}
	page.All = len(list)
	list = slices.DeleteFunc(slices.Clone(list), func(p ladder.Standing) bool { return !page.Filter.keeps(p) }) // it is shared
	page.Columns = sorted(v, list, standingsColumns)
	list, page.Pager = paged(v, list, standingsRows)
	page.Whole = page.Filter == standingsFilter{} && v.r.URL.RawQuery == ""
	if page.Places, err = s.withTrends(v.ctx(), l.Name, list); err != nil {
		return err
	}
	return v.page(http.StatusOK, "standings", page)
}

// withTrends returns places on a ladder as rows.
func (s *Site) withTrends(ctx context.Context, name string, places []ladder.Standing) (rows []standingsRow, err error) {
	trends, err := s.Store.Ladders.Trends(ctx, name, places, trendPoints)
	for _, p := range places {
		rows = append(rows, standingsRow{p, trends[p.VersionID]})
	}
	return rows, err
}

// pairsRows is the number of versions on a page: their pairs are its square.
const pairsRows = 16

// cell is what the version of a row has scored against that of a column.
type cell struct {
	store.Meeting
	Self bool
	Tone string // "win", "loss" or "even"
	URL  string // of the page of both
}

// pairsRow is a version with its scores against those of the page, in their order.
type pairsRow struct {
	ladder.Standing
	Cells []cell
}

type pairsPage struct {
	Ladder store.LadderInfo
	Rows   []pairsRow
	Pager  pager
}

// getPairs shows who beats whom on a ladder.
func (s *Site) getPairs(v *visit, l store.LadderInfo) error {
	page := pairsPage{Ladder: l}
	list, err := s.Store.Ladders.Standings(v.ctx(), l.Name)
	if err != nil {
		return err
	}
	list, page.Pager = paged(v, list, pairsRows)
	var versions []int64
	for _, p := range list {
		versions = append(versions, p.VersionID)
	}
	met, err := s.Store.Ladders.Meetings(v.ctx(), l.Name, versions...)
	if err != nil {
		return err
	}
	for _, p := range list {
		row := pairsRow{Standing: p}
		for _, other := range list {
			c := cellOf(met[[2]int64{p.VersionID, other.VersionID}], p.VersionID == other.VersionID)
			c.URL = pairPath(l.Name, p.Bot, p.Version, other.Bot, other.Version)
			row.Cells = append(row.Cells, c)
		}
		page.Rows = append(page.Rows, row)
	}
	return v.page(http.StatusOK, "pairs", page)
}

func cellOf(t store.Meeting, self bool) cell {
	c := cell{Meeting: t, Self: self}
	switch {
	case t.Deals == 0:
	case t.Score > 0.55*t.Deals:
		c.Tone = "win"
	case t.Score < 0.45*t.Deals:
		c.Tone = "loss"
	default:
		c.Tone = "even"
	}
	return c
}

const pairMatches = 20 // on a page

type pairPage struct {
	Ladder      store.LadderInfo
	One, Other  ladder.Version
	Met         store.Meeting
	Difference  stats.Estimate // of the Elo of One over that of Other, by these deals alone
	Bounded     bool           // the difference has an interval
	Matches     []shownMatch
	First, Next string
}

// pairPath returns the address of the page of two versions on a ladder.
func pairPath(on, one string, oneNumber int, other string, otherNumber int) string {
	part := func(bot string, number int) string { return url.PathEscape(bot + "@" + strconv.Itoa(number)) }
	return "/ladders/" + url.PathEscape(on) + "/pairs/" + part(one, oneNumber) + "/" + part(other, otherNumber)
}

// getPair shows all that two versions have played against each other on a ladder.
func (s *Site) getPair(v *visit, l store.LadderInfo) error {
	page := pairPage{Ladder: l}
	var err error
	if page.One, err = s.pathVersion(v, "one"); err != nil {
		return err
	}
	if page.Other, err = s.pathVersion(v, "other"); err != nil {
		return err
	}
	before := v.before()
	met, err := s.Store.Ladders.Meetings(v.ctx(), l.Name, page.One.ID, page.Other.ID)
	if err != nil {
		return err
	}
	page.Met = met[[2]int64{page.One.ID, page.Other.ID}]
	if page.Met.Deals > 0 {
		pairs := []stats.Pair{{A: 0, B: 1, Deals: page.Met.Deals, Score: page.Met.Score, Squares: page.Met.Squares}}
		list, err := stats.FitPairs(2, pairs, &stats.Anchor{Bot: 1}).Intervals()
		if err != nil {
			return err
		}
		page.Difference = list[0]
		page.Bounded = whole(list[0].PlusMinus()) != none
	}
	list, err := s.Store.Matches.List(v.ctx(), store.MatchFilter{Ladder: l.Name, Version: page.One.ID, Against: page.Other.ID, Before: before, Limit: pairMatches + 1})
	if err != nil {
		return err
	}
	list, page.First, page.Next = older(v, "before", list, before, pairMatches, func(m ladder.Match) int64 { return m.ID })
	if page.Matches, err = s.shown(v.ctx(), list); err != nil {
		return err
	}
	return v.page(http.StatusOK, "pair", page)
}

// pathVersion returns the version that a part of the path names: "lola@2".
func (s *Site) pathVersion(v *visit, part string) (ladder.Version, error) {
	bot, number, err := service.SplitRef(v.r.PathValue(part))
	if err != nil {
		return ladder.Version{}, err
	}
	return s.Service.FindVersion(v.ctx(), bot, number)
}
