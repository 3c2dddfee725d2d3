package api

import (
	"math"
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// LadderDoc returns the JSON document of the API about l.
func LadderDoc(l store.LadderInfo) wire.Ladder {
	return wire.Ladder{
		Name: l.Name, Title: l.Title, Game: l.Game, Options: l.Options, Clock: l.Clock,
		Deals: l.Deals, Slots: l.Bots, Active: l.Active, Matches: l.FinishedMatches, PausedAt: l.PausedAt,
	}
}

func (a *API) getLadders(r *http.Request) (wire.List[wire.Ladder], error) {
	all, err := a.Store.Ladders.List(r.Context())
	return wire.List[wire.Ladder]{Items: Docs(all, LadderDoc)}, err
}

func (a *API) getLadder(r *http.Request) (wire.Ladder, error) {
	l, err := a.Store.Ladders.Find(r.Context(), r.PathValue("ladder"))
	return LadderDoc(l), err
}

func (a *API) setPaused(paused bool) endpoint {
	return answer(func(r *http.Request) (wire.Ladder, error) {
		l, err := a.Service.SetPaused(r.Context(), middleware.RequestOf(r).Actor, r.PathValue("ladder"), paused)
		return LadderDoc(l), err
	})
}

func standingDoc(s ladder.Standing) wire.Standing {
	doc := wire.Standing{
		Rank: s.Place(), Bot: s.Bot, Version: s.Version, Owner: s.Owner, House: s.Owner == "", Remote: s.Remote, Elo: s.Elo, Provisional: s.IsProvisional(),
		Matches: s.Matches, Games: s.Games, Wins: s.Wins, Draws: s.Draws, Losses: s.Losses, Faults: s.Faults,
		Active: s.Active, LastMatchAt: s.LastMatchAt,
	}
	if s.Fit != nil || s.PlusMinus != nil {
		doc.Fit = &wire.Fit{Elo: s.Fit, PlusMinus: s.PlusMinus}
	}
	return doc
}

type standingsQuery struct {
	Active *bool `query:"active" default:"true"`
	paging
}

// getStandings returns the active versions of a ladder. The parameter active=false adds the inactive ones at
// the end.
func (a *API) getStandings(r *http.Request, q standingsQuery) (page wire.Page[wire.Standing], err error) {
	name := r.PathValue("ladder")
	if q.Active == nil || *q.Active {
		first := int(min(q.From, math.MaxInt32))
		places, total, err := a.Store.Ladders.StandingsPage(r.Context(), name, first, q.Limit)
		return newPage(Docs(places, standingDoc), int64(first), total, "place"), err
	}
	playing, err := a.Store.Ladders.Standings(r.Context(), name)
	if err != nil {
		return page, err
	}
	others, err := a.Store.Ladders.ListInactive(r.Context(), name)
	return pageOfList(Docs(slices.Concat(playing, others), standingDoc), q.paging, "place"), err
}

// pageOfList returns a page of a list. all is the whole list, and p has the request's parameters, which select the
// page. kind is the prefix of the list's cursors. In a cursor, it is followed by the number of items before the page.
func pageOfList[T any](all []T, p paging, kind string) wire.Page[T] {
	start := min(int64(p.From), int64(len(all)))
	rest := all[start:]
	return newPage(rest[:min(p.Limit, len(rest))], start, len(all), kind)
}

// newPage returns a page of a list with the given items. start is the number of items before them in the list, and
// total is the length of the list. kind is the prefix of the list's cursors.
func newPage[T any](items []T, start int64, total int, kind string) (page wire.Page[T]) {
	page.Items = items
	if end := start + int64(len(items)); end < int64(total) {
		page.Next = middleware.CursorOf(kind, end)
	}
	return page
}
