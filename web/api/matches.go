package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/parameters"
)

func changeDoc(c ladder.Change, bot string, version int) wire.Change {
	return wire.Change{
		Slot: c.Slot, Bot: bot, Version: version, Before: c.Before, After: c.After, K: c.K,
		Score: c.Score, Expected: c.Expected, Deals: c.Deals,
	}
}

// matchDoc returns the document of a match for lists: without attempts, owners and hashes.
func (a *API) matchDoc(ctx context.Context, m ladder.Match, people *names) (wire.Match, error) {
	doc := wire.Match{
		ID: m.ID, Ladder: m.Ladder, Rated: m.Rated, Game: m.Game, Options: m.Options, Clock: m.Clock, Deals: m.Deals,
		State: string(m.State), Reason: m.Reason, Created: m.Created, Began: m.Began, Finished: m.Finished, Order: m.Order,
		Versions: make([]wire.Ref, len(m.Versions)),
	}
	for i := range m.Versions {
		doc.Versions[i] = wire.Ref{Bot: m.Bots[i], Version: m.Numbers[i], House: m.Bots[i][0] == '@', Remote: m.Remote[i]}
	}
	for _, c := range m.Changes {
		doc.Changes = append(doc.Changes, changeDoc(c, m.Bots[c.Slot], m.Numbers[c.Slot]))
	}
	var err error
	doc.AskedBy, err = people.of(ctx, m.AskedBy)
	return doc, err
}

func (a *API) ladderMatches(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	f := store.MatchFilter{Ladder: r.PathValue("ladder")}
	return a.listMatches(w, r, q, f)
}

func (a *API) botMatches(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	f := store.MatchFilter{Ladder: q.Text("ladder")}
	return a.matchesOf(w, r, q, f, r.PathValue("bot"))
}

func (a *API) matches(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	f := store.MatchFilter{Ladder: q.Text("ladder")}
	return a.matchesOf(w, r, q, f, q.Text("bot"))
}

// matchesOf lists the matches of a bot or one of its versions; of all bots if the name is "".
func (a *API) matchesOf(w http.ResponseWriter, r *http.Request, q *parameters.Query, f store.MatchFilter, bot string) error {
	number := int(q.Number("version", 1, service.MaxVersion, 0))
	if number != 0 && bot == "" {
		q.Fail("version", "also name the bot", "needs a bot")
	}
	if q.Err() == nil && bot != "" {
		f.Bot = bot
		if number != 0 {
			v, err := a.Service.FindVersion(r.Context(), bot, number)
			if err != nil {
				return err
			}
			f.Version = v.ID
		}
	}
	return a.listMatches(w, r, q, f)
}

func (a *API) listMatches(w http.ResponseWriter, r *http.Request, q *parameters.Query, f store.MatchFilter) error {
	f.State = ladder.MatchState(q.Choice(
		"state", string(ladder.Waiting), string(ladder.Running), string(ladder.Finished), string(ladder.Dropped),
	))
	f.Before = q.CursorID("cursor", "match")
	limit := q.Limit()
	f.Limit = limit + 1 // one more shows whether another page follows
	if err := q.Done(); err != nil {
		return err
	}
	list, err := a.Store.Matches(r.Context(), f)
	if err != nil {
		return err
	}
	page := wire.Page[wire.Match]{Items: []wire.Match{}}
	if len(list) > limit {
		list = list[:limit]
		page.Next = parameters.CursorOf("match", list[limit-1].ID)
	}
	people := a.names()
	for _, m := range list {
		doc, err := a.matchDoc(r.Context(), m, people)
		if err != nil {
			return err
		}
		page.Items = append(page.Items, doc)
	}
	return respond(w, http.StatusOK, page)
}

// pathMatch returns the match in the path.
func (a *API) pathMatch(r *http.Request) (ladder.Match, error) {
	id, err := parameters.PathID(r, "match")
	if err != nil {
		return ladder.Match{}, err
	}
	return a.Store.Match(r.Context(), id)
}

func (a *API) match(w http.ResponseWriter, r *http.Request) error {
	m, err := a.pathMatch(r)
	if err != nil {
		return err
	}
	return a.answerMatch(w, r, http.StatusOK, m)
}

// answerMatch answers with the complete document of a match.
func (a *API) answerMatch(w http.ResponseWriter, r *http.Request, status int, m ladder.Match) error {
	ctx, people := r.Context(), a.names()
	doc, err := a.matchDoc(ctx, m, people)
	if err != nil {
		return err
	}
	for i, id := range m.Versions {
		v, err := a.Store.Version(ctx, id)
		if err != nil {
			return err
		}
		doc.Versions[i].SHA256 = v.Hash
		if doc.Versions[i].Owner, err = people.of(ctx, v.Owner); err != nil {
			return err
		}
	}
	if err := a.addRecords(ctx, m, &doc); err != nil {
		return err
	}
	for _, t := range m.Attempts {
		attempt := wire.Attempt{Number: t.Number, Machine: t.Machine, Commitment: t.Commitment.String(), Began: t.Began, Ended: t.Ended, Reason: t.Reason}
		if t.Seed != nil {
			attempt.Seed = t.Seed.String()
		}
		doc.Attempts = append(doc.Attempts, attempt)
	}
	return respond(w, status, doc)
}

// addRecords sets what the versions of a finished match have won, drawn and lost.
func (a *API) addRecords(ctx context.Context, m ladder.Match, doc *wire.Match) error {
	if m.State != ladder.Finished {
		return nil
	}
	v, err := m.Variant()
	if err != nil {
		return err
	}
	games, err := a.Store.Games(ctx, m.ID)
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
			sum.Won += record.Wins
			sum.Drawn += record.Draws
			sum.Lost += record.Losses
		}
	}
	return err
}

func (a *API) askMatch(w http.ResponseWriter, r *http.Request) error {
	var asked wire.AskedMatch
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	m, err := a.Service.RequestMatch(r.Context(), middleware.Of(r).Actor, service.MatchRequest(asked))
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/matches/"+strconv.FormatInt(m.ID, 10))
	return a.answerMatch(w, r, http.StatusAccepted, m)
}

// cancelMatch drops a match that is not over.
func (a *API) cancelMatch(w http.ResponseWriter, r *http.Request) error {
	id, err := parameters.PathID(r, "match")
	if err != nil {
		return err
	}
	m, err := a.Service.CancelMatch(r.Context(), middleware.Of(r).Actor, id)
	if err != nil {
		return err
	}
	return a.answerMatch(w, r, http.StatusOK, m)
}

func gameDoc(g ladder.Game, m ladder.Match) wire.Game {
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

func (a *API) games(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	from, limit := q.CursorID("cursor", "game"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	m, err := a.pathMatch(r)
	if err != nil {
		return err
	}
	all, err := a.Store.Games(r.Context(), m.ID)
	if err != nil {
		return err
	}
	games := Docs(all, func(g ladder.Game) wire.Game { return gameDoc(g, m) })
	return respond(w, http.StatusOK, cut(games, from, limit, "game"))
}

// pathGame returns the game in the path, and its match.
func (a *API) pathGame(r *http.Request) (ladder.Game, ladder.Match, error) {
	id, err := parameters.PathID(r, "game")
	if err != nil {
		return ladder.Game{}, ladder.Match{}, err
	}
	g, err := a.Store.Game(r.Context(), id)
	if err != nil {
		return g, ladder.Match{}, err
	}
	m, err := a.Store.Match(r.Context(), g.MatchID)
	return g, m, err
}

func (a *API) game(w http.ResponseWriter, r *http.Request) error {
	g, m, err := a.pathGame(r)
	if err != nil {
		return err
	}
	doc := gameDoc(g, m)
	if err := a.addReasons(r.Context(), &doc); err != nil {
		return err
	}
	return respond(w, http.StatusOK, doc)
}

// addReasons sets the reason of each seat's first fault, from the replay.
func (a *API) addReasons(ctx context.Context, doc *wire.Game) error {
	if !slices.ContainsFunc(doc.Seats, func(s wire.GameSeat) bool { return s.Fault != "" }) {
		return nil
	}
	data, err := a.Store.Replay(ctx, doc.ID)
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

// gameLog answers with what a bot wrote to stderr in a game, for its owner.
func (a *API) gameLog(w http.ResponseWriter, r *http.Request) error {
	g, m, err := a.pathGame(r)
	if err != nil {
		return err
	}
	name := r.PathValue("seat")
	seat, err := strconv.Atoi(name)
	i := slices.IndexFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Seat == seat })
	if err != nil || i < 0 {
		return ladder.Errorf(ladder.NotFound, "the seats are 0 to "+strconv.Itoa(len(g.Seats)-1), "game %d has no seat %q", g.ID, ladder.Clip(name))
	}
	v, err := a.Store.Version(r.Context(), m.Versions[g.Seats[i].Slot])
	if err != nil {
		return err
	}
	if err := middleware.Of(r).MustOwn(v.Owner, "see what a bot wrote"); err != nil {
		return err
	}
	log, err := a.Store.Log(r.Context(), g.ID, seat)
	if err != nil {
		return err
	}
	return text(w, log)
}
