package api

import (
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/parameters"
)

func ladderDoc(l store.LadderInfo) wire.Ladder {
	return wire.Ladder{
		Name: l.Name, Title: l.Title, Game: l.Game, Options: l.Options, Clock: l.Clock,
		Deals: l.Deals, Slots: l.Bots, Active: l.Active, Matches: l.Finished,
	}
}

func (a *API) ladders(w http.ResponseWriter, r *http.Request) error {
	all, err := a.Store.Ladders(r.Context())
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, wire.Page[wire.Ladder]{Items: Docs(all, ladderDoc)})
}

func (a *API) ladder(w http.ResponseWriter, r *http.Request) error {
	l, err := a.Store.Ladder(r.Context(), r.PathValue("ladder"))
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, ladderDoc(l))
}

func standingDoc(s ladder.Standing) wire.Standing {
	doc := wire.Standing{
		Rank: s.Place(), Bot: s.Bot, Version: s.Version, Owner: s.Owner, House: s.Owner == "", Remote: s.Remote, Elo: s.Elo,
		Matches: s.Matches, Games: s.Games, Wins: s.Wins, Draws: s.Draws, Losses: s.Losses, Faults: s.Faults,
		Active: s.Active, Last: s.Last,
	}
	if s.Fit != nil || s.PlusMinus != nil {
		doc.Fit = &wire.Fit{Elo: s.Fit, PlusMinus: s.PlusMinus}
	}
	return doc
}

// standings answers with the active versions; with active=false followed by the inactive ones.
func (a *API) standings(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	active, from, limit := q.Flag("active"), q.CursorID("cursor", "place"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	name := r.PathValue("ladder")
	var places wire.Page[ladder.Standing]
	var err error
	if active != nil && !*active {
		places, err = a.allStandings(r.Context(), name, from, limit)
	} else {
		places, err = a.activeStandings(r.Context(), name, from, limit)
	}
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, wire.Page[wire.Standing]{Items: Docs(places.Items, standingDoc), Next: places.Next})
}

func (a *API) activeStandings(ctx context.Context, name string, from int64, limit int) (page wire.Page[ladder.Standing], err error) {
	first := int(min(from, math.MaxInt32))
	places, total, err := a.Store.StandingsPage(ctx, name, first, limit)
	if err != nil {
		return page, err
	}
	return part(places, int64(first), total, "place"), nil
}

func (a *API) allStandings(ctx context.Context, name string, from int64, limit int) (page wire.Page[ladder.Standing], err error) {
	active, err := a.Store.Standings(ctx, name)
	if err != nil {
		return page, err
	}
	inactive, err := a.Store.Inactive(ctx, name)
	if err != nil {
		return page, err
	}
	return cut(slices.Concat(active, inactive), from, limit, "place"), nil
}

// cut returns a page of a complete list. Its cursor is the number of items before the next page.
func cut[T any](all []T, from int64, limit int, kind string) wire.Page[T] {
	start := min(from, int64(len(all)))
	rest := all[start:]
	return part(rest[:min(limit, len(rest))], start, len(all), kind)
}

// part returns a page of a list of total items; start is how many come before the page.
func part[T any](items []T, start int64, total int, kind string) (page wire.Page[T]) {
	page.Items = items
	if page.Items == nil {
		page.Items = []T{}
	}
	if end := start + int64(len(items)); end < int64(total) {
		page.Next = parameters.CursorOf(kind, end)
	}
	return page
}
