package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/parameters"
)

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
	games := docs(all, func(g ladder.Game) wire.Game { return gameDoc(g, m) })
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
