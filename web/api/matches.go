package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

func changeDoc(c ladder.Change, bot string, version int) wire.Change {
	return wire.Change{
		Slot: c.Slot, Bot: bot, Version: version, Before: c.EloBefore, After: c.EloAfter, K: c.K,
		Score: c.Score, ExpectedScore: c.ExpectedScore, Deals: c.Deals,
	}
}

// matchDoc returns the JSON document of the API about m, in the form for lists. This form lacks the attempts (tries
// to play the match), and the owners and hashes of the versions. people finds the name of the person who requested
// the match.
func (a *API) matchDoc(ctx context.Context, m ladder.Match, people *personNames) (wire.Match, error) {
	doc := wire.Match{
		ID: m.ID, Ladder: m.Ladder, Rated: m.Rated, Game: m.Game, Options: m.Options, Clock: m.Clock, Deals: m.Deals,
		State: string(m.State), Reason: m.Reason.String(), CreatedAt: m.CreatedAt, StartedAt: m.StartedAt, FinishedAt: m.FinishedAt, Order: m.Order,
		Versions: make([]wire.Ref, len(m.Versions)),
	}
	for i := range m.Versions {
		doc.Versions[i] = wire.Ref{Bot: m.Bots[i], Version: m.Numbers[i], House: m.Bots[i][0] == '@', Remote: m.Remote[i]}
	}
	for _, c := range m.Changes {
		doc.Changes = append(doc.Changes, changeDoc(c, m.Bots[c.Slot], m.Numbers[c.Slot]))
	}
	var err error
	doc.RequestedBy, err = people.name(ctx, m.RequestedBy)
	return doc, err
}

// matchQuery are the query parameters of every list of matches.
type matchQuery struct {
	State ladder.MatchState `query:"state"`
	paging
}

func (a *API) getLadderMatches(r *http.Request, q matchQuery) (wire.Page[wire.Match], error) {
	return a.listMatches(r, q, store.MatchFilter{Ladder: r.PathValue("ladder")})
}

type botMatchesQuery struct {
	Ladder  string        `query:"ladder" ref:"Name"`
	Version versionNumber `query:"version" doc:"Only of this version."`
	matchQuery
}

func (a *API) getBotMatches(r *http.Request, q botMatchesQuery) (wire.Page[wire.Match], error) {
	return a.matchesOf(r, matchesQuery{q.Ladder, r.PathValue("bot"), q.Version, q.matchQuery})
}

type matchesQuery struct {
	Ladder  string        `query:"ladder" ref:"Name"`
	Bot     string        `query:"bot" length:"64"`
	Version versionNumber `query:"version" doc:"Only together with a bot."`
	matchQuery
}

func (q *matchesQuery) check(p *middleware.Query) {
	if q.Version != 0 && q.Bot == "" {
		p.Fail("version", phrase.New("also name the bot"), "needs a bot")
	}
}

func (a *API) getMatches(r *http.Request, q matchesQuery) (wire.Page[wire.Match], error) {
	return a.matchesOf(r, q)
}

// matchesOf returns a page of the matches that q selects. If q.Bot is not "", these are only matches of that
// bot or, if q.Version is not 0, of that version.
func (a *API) matchesOf(r *http.Request, q matchesQuery) (page wire.Page[wire.Match], err error) {
	f := store.MatchFilter{Ladder: q.Ladder, Bot: q.Bot}
	if q.Version != 0 {
		v, err := a.Service.FindVersion(r.Context(), q.Bot, int(q.Version))
		if err != nil {
			return page, err
		}
		f.Version = v.ID
	}
	return a.listMatches(r, q.matchQuery, f)
}

func (a *API) listMatches(r *http.Request, q matchQuery, f store.MatchFilter) (page wire.Page[wire.Match], err error) {
	f.State, f.BeforeID = q.State, int64(q.From)
	f.Limit = q.Limit + 1 // one more match shows whether another page follows
	list, err := a.Store.Matches.List(r.Context(), f)
	if err != nil {
		return page, err
	}
	if len(list) > q.Limit {
		list = list[:q.Limit]
		page.Next = middleware.CursorOf("match", list[q.Limit-1].ID)
	}
	people := a.newPersonNames()
	page.Items = make([]wire.Match, len(list))
	for i, m := range list {
		if page.Items[i], err = a.matchDoc(r.Context(), m, people); err != nil {
			return page, err
		}
	}
	return page, nil
}

func (a *API) pathMatch(r *http.Request) (ladder.Match, error) {
	id, err := middleware.PathID(r, "match")
	if err != nil {
		return ladder.Match{}, err
	}
	return a.Store.Matches.Find(r.Context(), id)
}

func (a *API) getMatch(r *http.Request) (doc wire.Match, err error) {
	m, err := a.pathMatch(r)
	if err != nil {
		return doc, err
	}
	return a.fullMatchDoc(r.Context(), m)
}

// fullMatchDoc returns the JSON document of the API about m, with all attempts (tries to play the match). Each
// version in it has its owner, its hash and, after the match, the numbers of games that it won, drew and lost.
func (a *API) fullMatchDoc(ctx context.Context, m ladder.Match) (doc wire.Match, err error) {
	people := a.newPersonNames()
	if doc, err = a.matchDoc(ctx, m, people); err != nil {
		return doc, err
	}
	if m.State == ladder.Waiting {
		if doc.Place, err = a.Store.Matches.QueuePlace(ctx, m.ID); err != nil {
			return doc, err
		}
	}
	for i, id := range m.Versions {
		v, err := a.Store.Versions.Find(ctx, id)
		if err != nil {
			return doc, err
		}
		doc.Versions[i].SHA256 = v.Hash
		if doc.Versions[i].Owner, err = people.name(ctx, v.Owner); err != nil {
			return doc, err
		}
	}
	for _, t := range m.Attempts {
		attempt := wire.Attempt{Number: t.Number, Machine: t.Machine, Commitment: t.Commitment.String(), StartedAt: t.StartedAt, EndedAt: t.EndedAt, Reason: t.Reason.String()}
		if t.Seed != nil {
			attempt.Seed = t.Seed.String()
		}
		doc.Attempts = append(doc.Attempts, attempt)
	}
	err = a.addRecords(ctx, m, &doc)
	return doc, err
}

// addRecords sets the record of each version in doc, the document about m: the numbers of games that it has
// won, drawn and lost. It does nothing if the match has not finished.
func (a *API) addRecords(ctx context.Context, m ladder.Match, doc *wire.Match) error {
	if m.State != ladder.Finished {
		return nil
	}
	v, err := m.Variant()
	if err != nil {
		return err
	}
	games, err := a.Store.Matches.Games(ctx, m.ID)
	for slot := range doc.Versions {
		doc.Versions[slot].Record = new(wire.Record)
	}
	for _, g := range games {
		var slots, ranks []int
		for _, s := range g.Seats {
			slots, ranks = append(slots, s.Slot), append(ranks, s.Rank)
		}
		for slot, record := range rules.Records(v, slots, ranks) {
			sum := doc.Versions[slot].Record
			sum.Wins += record.Wins
			sum.Draws += record.Draws
			sum.Losses += record.Losses
		}
	}
	return err
}

func (a *API) postMatch(w http.ResponseWriter, r *http.Request, asked wire.AskedMatch) (doc wire.Match, err error) {
	m, err := a.Service.RequestMatch(r.Context(), middleware.RequestOf(r).Actor, service.MatchRequest(asked))
	if err != nil {
		return doc, err
	}
	w.Header().Set("Location", "/api/v1/matches/"+strconv.FormatInt(m.ID, 10))
	return a.fullMatchDoc(r.Context(), m)
}

func (a *API) postMatchCancel(r *http.Request) (doc wire.Match, err error) {
	id, err := middleware.PathID(r, "match")
	if err != nil {
		return doc, err
	}
	m, err := a.Service.CancelMatch(r.Context(), middleware.RequestOf(r).Actor, id)
	if err != nil {
		return doc, err
	}
	return a.fullMatchDoc(r.Context(), m)
}

func gameDoc(g ladder.FinishedGame, m ladder.Match) wire.Game {
	doc := wire.Game{
		ID: g.ID, Match: g.MatchID, Deal: g.Deal, Rotation: g.Rotation, Plies: g.Plies,
		TookMS: float64(g.Took.Microseconds()) / 1000, Seats: make([]wire.GameSeat, len(g.Seats)),
	}
	for i, s := range g.Seats {
		doc.Seats[i] = wire.GameSeat{
			Seat: s.Seat, Slot: s.Slot, Bot: m.Bots[s.Slot], Version: m.Numbers[s.Slot],
			Rank: s.Rank, Points: s.Points, Fault: s.Fault, Faults: s.Faults,
		}
	}
	return doc
}

func (a *API) getGames(r *http.Request, p paging) (page wire.Page[wire.Game], err error) {
	m, err := a.pathMatch(r)
	if err != nil {
		return page, err
	}
	all, err := a.Store.Matches.Games(r.Context(), m.ID)
	games := Docs(all, func(g ladder.FinishedGame) wire.Game { return gameDoc(g, m) })
	return pageOfList(games, p, "game"), err
}

func (a *API) getGame(r *http.Request) (doc wire.Game, err error) {
	id, err := middleware.PathID(r, "game")
	if err != nil {
		return doc, err
	}
	g, err := a.Store.Matches.Game(r.Context(), id)
	if err != nil {
		return doc, err
	}
	m, err := a.Store.Matches.Find(r.Context(), g.MatchID)
	if err != nil {
		return doc, err
	}
	doc = gameDoc(g, m)
	err = a.addReasons(r.Context(), &doc)
	return doc, err
}

// addReasons adds to doc, the document about a game, why each seat forfeited, as the replay records it.
func (a *API) addReasons(ctx context.Context, doc *wire.Game) error {
	if !slices.ContainsFunc(doc.Seats, func(s wire.GameSeat) bool { return s.Fault != "" }) {
		return nil
	}
	data, err := a.Store.Matches.Replay(ctx, doc.ID)
	if err != nil {
		return err
	}
	replay, err := referee.DecodeReplay(data)
	if err != nil {
		return fmt.Errorf("the replay of game %d: %w", doc.ID, err)
	}
	for _, f := range slices.Backward(replay.Faults) {
		doc.Seats[f.Seat].Reason = f.Reason
	}
	return nil
}

// getGameLog answers with the stored part of what a bot wrote to standard error in a game. Only the owner of the
// bot may see it.
func (a *API) getGameLog(w http.ResponseWriter, r *http.Request) error {
	game, err := middleware.PathID(r, "game")
	if err != nil {
		return err
	}
	seat, err := middleware.PathNumber(r, "seat", 0)
	if err != nil {
		return err
	}
	log, err := a.Service.GameLog(r.Context(), middleware.RequestOf(r).Actor, game, seat)
	if err != nil {
		return err
	}
	return text(w, log)
}
