package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// ListedBot is a bot with its owner and the version that is live, or else its last one.
type ListedBot struct {
	ladder.Bot
	Owner    string // its name, "" of a house bot
	Number   int
	State    ladder.State
	Language string
	Label    string // the manifest's version
}

// BotFilter says which bots; the zero value: all.
type BotFilter struct {
	Name     string // part of the bot's or the owner's name
	House    *bool  // only house bots, or only others
	Language string
	Ladder   string // on which the live version plays
}

// Search returns bots with an ID below before, 0 for all, the newest first, at most n.
func (s Bots) Search(ctx context.Context, f BotFilter, before int64, n int) (out []ListedBot, err error) {
	p := queries.ListBotsParams{Before: upperBound(before), Name: strings.ToLower(f.Name), House: houseParam(f.House), Language: f.Language, N: int64(n)}
	err = s.view(ctx, func(tx *Tx) error {
		if f.Ladder != "" {
			l, err := tx.ladder(ctx, f.Ladder)
			if err != nil {
				return err
			}
			p.LadderID = l.ID
		}
		rows, err := tx.ListBots(ctx, p)
		for _, r := range rows {
			out = append(out, ListedBot{bot(r.Bot), r.Owner, int(r.Number), ladder.State(r.State), r.Language, r.Label})
		}
		return err
	})
	return out, err
}

// ListByPerson returns the bots of a person with an ID below before, 0 for all, the newest first, at
// most n.
func (s Bots) ListByPerson(ctx context.Context, p ladder.Person, before int64, n int) (out []ListedBot, err error) {
	rows, err := s.read.BotsOfBefore(ctx, nullID(p.ID), upperBound(before), int64(n))
	for _, r := range rows {
		out = append(out, ListedBot{bot(r.Bot), p.Name, int(r.Number), ladder.State(r.State), r.Language, r.Label})
	}
	return out, machineError(err)
}

// Languages returns the languages that bots are written in, by name, at most n.
func (s Bots) Languages(ctx context.Context, n int) (out []string, err error) {
	last := ""
	for len(out) < n {
		if last, err = s.read.NextLanguage(ctx, last); err != nil {
			return out, machineError(ifNoRows(err, nil))
		}
		out = append(out, last)
	}
	return out, nil
}

// Names returns at most n names of bots and of people that contain a text: those that begin with
// it first.
func (s Bots) Names(ctx context.Context, text string, n int) (bots, people []string, err error) {
	text = strings.ToLower(text)
	if text == "" {
		return nil, nil, nil
	}
	err = s.view(ctx, func(tx *Tx) error {
		if bots, err = tx.BotsWith(ctx, text, int64(n)); err != nil {
			return err
		}
		people, err = tx.PeopleWith(ctx, text, int64(n))
		return err
	})
	return bots, people, err
}

// List returns the versions of a bot with a number below before, 0 for all, the last
// one first, at most n, -1 for all.
func (s Versions) List(ctx context.Context, botID int64, before, n int) ([]ladder.Version, error) {
	rows, err := s.read.VersionsOfBefore(ctx, botID, upperBound(int64(before)), int64(n))
	if err != nil {
		return nil, machineError(err)
	}
	return versions(rows)
}

// FindNumber returns a version of a bot by its number.
func (s Versions) FindNumber(ctx context.Context, b ladder.Bot, number int) (out ladder.Version, err error) {
	row, err := s.read.VersionByNumber(ctx, b.ID, int64(number))
	if err != nil {
		return out, machineError(ifNoRows(err, NoVersionOf(b.Name, number)))
	}
	return version(row)
}

// PlacesOfBot returns the places of the live version of a bot, or else of the last one that was on a ladder.
func (s Ladders) PlacesOfBot(ctx context.Context, botID int64) ([]ladder.Standing, error) {
	id, err := s.read.LastPlaced(ctx, botID)
	if err != nil {
		return nil, machineError(ifNoRows(err, nil))
	}
	return s.PlacesOf(ctx, id)
}

// PlacesOf returns the places of a version on all ladders, in the order of the ladders.
func (s Ladders) PlacesOf(ctx context.Context, versionID int64) ([]ladder.Standing, error) {
	return s.places(ctx, func(tx *Tx) ([]queries.StandingRow, error) { return tx.EntriesOfVersion(ctx, versionID) })
}

// places returns standings of rows, those of versions that play with their ranks.
func (s Ladders) places(ctx context.Context, find func(*Tx) ([]queries.StandingRow, error)) (out []ladder.Standing, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := find(tx)
		out = convertRows(rows, standing)
		return err
	})
	for i, place := range out {
		if !place.Active {
			continue
		}
		all, err := s.Standings(ctx, place.Ladder)
		if err != nil {
			return nil, err
		}
		above, _ := slices.BinarySearchFunc(all, place, ladder.ComparePlaces)
		out[i].Rank = above + 1
	}
	return out, err
}

// StandingsOn returns the last versions of a bot that have played on a ladder, at most n, the last one first.
func (s Ladders) StandingsOn(ctx context.Context, name string, botID int64, n int) (out []ladder.Standing, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.StandingsOnLadder(ctx, botID, l.ID, int64(n))
		out = convertRows(rows, standing)
		return err
	})
	return out, err
}

// RatingPoint is the Elo of a bot after one of its matches on a ladder.
type RatingPoint struct {
	Match      int64
	FinishedAt time.Time
	Version    int
	Count      int // matches of the bot up to it, counted from the first one of the versions in the list
	Elo        float64
}

// Ratings returns how the Elo of a bot on a ladder went over its last versions: at most n points,
// evenly spaced over the matches, the last one among them.
func (s Ladders) Ratings(ctx context.Context, name string, botID int64, versions, n int) (out []RatingPoint, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		own, err := tx.StandingsOnLadder(ctx, botID, l.ID, int64(versions))
		if err != nil {
			return err
		}
		slices.Reverse(own)
		wanted, points := spread(convertRows(own, standing), n)
		rows, err := tx.RatingPoints(ctx, jsonList(wanted), l.ID)
		for i, r := range rows { // in the order of the list
			points[i].Match, points[i].FinishedAt, points[i].Elo = r.MatchID, nullMoment(r.Finished), r.EloAfter
		}
		out = points[:len(rows)]
		return err
	})
	return out, err
}

// spread returns at most n matches of versions, as pairs of version and number, evenly spaced over
// all of them, with the points that are to be filled.
func spread(own []ladder.Standing, n int) (wanted [][2]int64, points []RatingPoint) {
	total := 0
	for _, e := range own {
		total += e.Matches
	}
	n = min(n, total)
	version, before := 0, 0
	for i := range n {
		at := (i + 1) * total / n
		for at > before+own[version].Matches {
			before += own[version].Matches
			version++
		}
		wanted = append(wanted, [2]int64{own[version].VersionID, int64(at - before)})
		points = append(points, RatingPoint{Version: own[version].Version, Count: at})
	}
	return wanted, points
}

// Opponent is the record of a bot against another one on a ladder, without squares.
type Opponent struct {
	Bot string
	Meeting
}

// Opponents returns the record of a bot's last versions against each opponent on a ladder, those
// with most games first: n after skip others, and how many there are.
func (s Ladders) Opponents(ctx context.Context, name string, botID int64, versions, skip, n int) (out []Opponent, total int, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		own, err := tx.StandingsOnLadder(ctx, botID, l.ID, int64(versions))
		if err != nil {
			return err
		}
		ids := convertRows(own, func(r queries.StandingRow) int64 { return r.VersionID })
		rows, err := tx.Opponents(ctx, queries.OpponentsParams{Versions: jsonList(ids), LadderID: l.ID, N: int64(n), Skip: int64(skip)})
		for _, r := range rows {
			total = int(r.Total)
			out = append(out, Opponent{r.Name, Meeting{r.Matches, r.Deals, r.Score, 0, recordOf(r.Wins, r.Draws, r.Losses)}})
		}
		return err
	})
	return out, total, err
}

// Forfeit is a game that a bot lost by a fault.
type Forfeit struct {
	GameID, Match int64
	Seat          int
	Code          string // of its first fault
	Version       int
	GameName      string // the game, by its name
	Ladder        string // "" for an unrated match
	FinishedAt    time.Time
}

// Forfeits returns the last games that a bot lost by a fault, at most n, those of the last match first.
func (s Matches) Forfeits(ctx context.Context, botID int64, n int) (out []Forfeit, err error) {
	rows, err := s.read.FaultsOfBot(ctx, botID, int64(n))
	if err != nil {
		return nil, machineError(err)
	}
	for _, r := range rows {
		games, err := s.codec.games(r.ResultRow)
		if err != nil {
			return nil, damageError(err, r.ResultRow.MatchID, "results")
		}
		for _, g := range games {
			for _, seat := range g.Seats {
				if seat.Slot == int(r.Slot) && seat.Fault != "" && len(out) < n {
					out = append(out, Forfeit{g.ID, g.MatchID, seat.Seat, seat.Fault, int(r.Number), r.Game, r.ResultRow.Ladder, nullMoment(r.Finished)})
				}
			}
		}
	}
	return out, nil
}

// MessagesOf returns the last messages about versions of a bot, the newest first, at most n.
func (s People) MessagesOf(ctx context.Context, botID int64, n int) (out []ladder.Message, err error) {
	rows, err := s.read.MessagesOfBot(ctx, botID, int64(n))
	return convertRows(rows, message), machineError(err)
}

// LadderSummary is a ladder with its first places.
type LadderSummary struct {
	LadderInfo
	Active int // versions that play
	Top    []ladder.Standing
}

// Summaries returns the ladders that are played, each with its first n places.
func (s Ladders) Summaries(ctx context.Context, n int) (out []LadderSummary, err error) {
	ladders, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range ladders {
		if !l.Active {
			continue
		}
		top, active, err := s.StandingsPage(ctx, l.Name, 0, n)
		if err != nil {
			return nil, err
		}
		out = append(out, LadderSummary{l, active, top})
	}
	return out, nil
}

// Trends returns how the Elo of versions on a ladder went, by version: their ratings after
// at most n of their matches, evenly spaced, the last one among them.
func (s Ladders) Trends(ctx context.Context, name string, of []ladder.Standing, n int) (map[int64][]float64, error) {
	wanted := [][2]int64{}
	for _, p := range of {
		own, _ := spread([]ladder.Standing{p}, n)
		wanted = append(wanted, own...)
	}
	out := make(map[int64][]float64, len(of))
	err := s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.RatingPoints(ctx, jsonList(wanted), l.ID)
		for _, r := range rows { // in the order of the list
			out[r.VersionID] = append(out[r.VersionID], r.EloAfter)
		}
		return err
	})
	return out, err
}

// Meeting is all that one version has against another on a ladder. A win is a game in which it was ahead.
type Meeting struct {
	Matches int64
	Deals   float64
	Score   float64 // the sum over the deals, each from 0 to 1
	Squares float64 // the sum of the squares of the scores
	rules.Record
}

// Meetings returns what versions have against each other on a ladder, by version and
// opponent; those that have not met are left out.
func (s Ladders) Meetings(ctx context.Context, name string, versions ...int64) (map[[2]int64]Meeting, error) {
	out := map[[2]int64]Meeting{}
	err := s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PairsAmong(ctx, jsonList(versions), l.ID)
		for _, r := range rows {
			m := Meeting{r.Matches, r.Deals, r.Score, r.Squares, recordOf(r.Wins, r.Draws, r.Losses)}
			out[[2]int64{r.A, r.B}] = m
			turned := stats.Pair{Deals: r.Deals, Score: r.Score, Squares: r.Squares}.Reverse()
			m.Score, m.Squares, m.Wins, m.Losses = turned.Score, turned.Squares, m.Losses, m.Wins
			out[[2]int64{r.B, r.A}] = m
		}
		return err
	})
	return out, err
}
