package store

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// ListedBot is a bot with its owner and the version with which it plays or, if there is none, its last version.
type ListedBot struct {
	ladder.Bot
	Owner    string // name of the owner; empty for a house bot
	Number   int    // of that version
	State    ladder.VersionState
	Language string
	Label    string // name of that version according to the bot's manifest
}

// BotFilter selects bots. The zero value selects all.
type BotFilter struct {
	Name     string // substring of the bot's or the owner's name, in any case
	House    *bool  // if not nil, only house bots (true) or only others (false)
	Language string
	Ladder   string // name of a ladder on which the live version plays
}

// Search returns at most n bots that f selects, the newest first. The argument before, if not 0, is an upper bound:
// only bots with smaller IDs are returned.
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
			out = append(out, ListedBot{bot(r.Bot), r.Owner, int(r.Number), ladder.VersionState(r.State), r.Language, r.Label})
		}
		return err
	})
	return out, err
}

// ListByPerson returns at most n bots of a person, the newest first. The argument before, if not 0, is an upper
// bound: only bots with smaller IDs are returned.
func (s Bots) ListByPerson(ctx context.Context, p ladder.Person, before int64, n int) (out []ListedBot, err error) {
	rows, err := s.read.BotsOfBefore(ctx, nullID(p.ID), upperBound(before), int64(n))
	for _, r := range rows {
		out = append(out, ListedBot{bot(r.Bot), p.Name, int(r.Number), ladder.VersionState(r.State), r.Language, r.Label})
	}
	return out, machineError(err)
}

// Languages returns the languages in which bots are written, sorted by name, at most n.
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

// SearchNames returns at most n names of bots and at most n names of people that contain text, in upper or
// lower case. Names that begin with text come first. An empty text finds nothing.
func (s Bots) SearchNames(ctx context.Context, text string, n int) (bots, people []string, err error) {
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

// List returns at most n versions of a bot, the last one first. The argument before, if not 0, is an upper bound:
// only versions with smaller numbers are returned. If n is -1, there is no limit.
func (s Versions) List(ctx context.Context, botID int64, before, n int) ([]ladder.Version, error) {
	rows, err := s.read.VersionsOfBefore(ctx, botID, upperBound(int64(before)), int64(n))
	if err != nil {
		return nil, machineError(err)
	}
	return versions(rows)
}

// FindNumber returns the version of a bot with the given number.
func (s Versions) FindNumber(ctx context.Context, b ladder.Bot, number int) (out ladder.Version, err error) {
	row, err := s.read.VersionByNumber(ctx, b.ID, int64(number))
	if err != nil {
		return out, machineError(ifNoRows(err, NoVersionError(b.Name, number)))
	}
	return version(row)
}

// PlacesOfBot returns the standings on all ladders of the version with which a bot plays. If the bot does not play,
// they are those of its last version that was on a ladder. If no version was on a ladder, the list is empty.
func (s Ladders) PlacesOfBot(ctx context.Context, botID int64) ([]ladder.Standing, error) {
	id, err := s.read.LastPlaced(ctx, botID)
	if err != nil {
		return nil, machineError(ifNoRows(err, nil))
	}
	return s.PlacesOf(ctx, id)
}

// PlacesOf returns the standings of a version on all ladders, in the order of the ladders.
func (s Ladders) PlacesOf(ctx context.Context, versionID int64) ([]ladder.Standing, error) {
	return s.places(ctx, func(tx *Tx) ([]queries.StandingRow, error) { return tx.EntriesOfVersion(ctx, versionID) })
}

// places calls find, converts the rows to standings, and adds the rank of each version that still plays.
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

// StandingsOn returns the standings of a bot's versions on the ladder called name, the newest version first, at most
// n of them.
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
	Version    int // number of the version
	Count      int // matches of the bot up to this one, without those of versions older than the selected ones
	Elo        float64
}

// RatingHistory returns how the Elo of a bot on the ladder called name has changed over time. It covers only the
// given number of the bot's last versions. The result has at most n points, evenly spaced over the matches of these
// versions. The last match is among them.
func (s Ladders) RatingHistory(ctx context.Context, name string, botID int64, versions, n int) (out []RatingPoint, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		own, err := tx.StandingsOnLadder(ctx, botID, l.ID, int64(versions))
		if err != nil {
			return err
		}
		slices.Reverse(own)
		wanted, points := spreadMatches(convertRows(own, standing), n)
		rows, err := tx.RatingPoints(ctx, jsonList(wanted), l.ID)
		for i, r := range rows { // in the order of the list
			points[i].Match, points[i].FinishedAt, points[i].Elo = r.MatchID, nullMoment(r.Finished), r.EloAfter
		}
		out = points[:len(rows)]
		return err
	})
	return out, err
}

// spreadMatches chooses at most n matches, evenly spaced over all matches of the versions in own. wanted names each
// chosen match by two numbers: the ID of its version, and the number of the match among the matches of that version.
// points has a point for each of them; the caller must set its Match, FinishedAt and Elo.
func spreadMatches(own []ladder.Standing, n int) (wanted [][2]int64, points []RatingPoint) {
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

// Opponent is the record of a bot against another bot on a ladder. The field Squares is not set.
type Opponent struct {
	Bot string
	Meeting
}

// Opponents returns the records of a bot against other bots on the ladder called name. Only the given number of
// the bot's last versions count. The records are sorted by the number of games, the most first; Opponents omits
// the first skip and returns at most n. total is the number of all opponents.
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
	Code          string // code of its first fault
	Version       int    // number of the version
	GameName      string // name of the kind of game
	Ladder        string // empty for an unrated match
	FinishedAt    time.Time
}

// Forfeits returns at most n games that a bot lost by a fault, such as a crash or an illegal move, the games of the
// newest match first.
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

// MessagesOf returns at most n messages about versions of a bot, the newest first.
func (s People) MessagesOf(ctx context.Context, botID int64, n int) (out []ladder.Message, err error) {
	rows, err := s.read.MessagesOfBot(ctx, botID, int64(n))
	return convertRows(rows, message), machineError(err)
}

// LadderSummary is a ladder with its leaders.
type LadderSummary struct {
	LadderInfo
	Active int               // number of active versions
	Top    []ladder.Standing // the best versions
	// Leader is the version whose rating interval has the highest lower end, except the anchor, whose rating is fixed.
	// It is nil if no interval is known.
	Leader *ladder.Standing
}

// Summaries returns the ladders that are still configured, each with its best n versions.
func (s Ladders) Summaries(ctx context.Context, n int) (out []LadderSummary, err error) {
	ladders, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range ladders {
		if !l.Active {
			continue
		}
		all, err := s.Standings(ctx, l.Name)
		if err != nil {
			return nil, err
		}
		summary, low := LadderSummary{LadderInfo: l, Active: len(all), Top: all[:min(n, len(all))]}, math.Inf(-1)
		for i, place := range all {
			if !place.IsAnchor() && place.LowEnd() > low {
				summary.Leader, low = &all[i], place.LowEnd()
			}
		}
		out = append(out, summary)
	}
	return out, nil
}

// Trends returns how the Elo of each version in standings, on the ladder called name, has changed over time.
// The key is the version ID. The value has the Elo after at most n of the version's matches, evenly spaced and
// including the last match.
func (s Ladders) Trends(ctx context.Context, name string, standings []ladder.Standing, n int) (map[int64][]float64, error) {
	wanted := [][2]int64{}
	for _, p := range standings {
		own, _ := spreadMatches([]ladder.Standing{p}, n)
		wanted = append(wanted, own...)
	}
	out := make(map[int64][]float64, len(standings))
	err := s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.RatingPoints(ctx, jsonList(wanted), l.ID)
		for _, r := range rows { // in the order of the list
			out[r.VersionID] = append(out[r.VersionID], r.EloAfter)
		}
		return err
	})
	return out, err
}

// Meeting is the record of a first version against a second one on a ladder. A win is a game in which the first
// version had the better rank.
type Meeting struct {
	Matches int64
	Deals   float64
	Score   float64 // sum of the first version's scores in the deals, each from 0 to 1
	Squares float64 // sum of the squares of these scores, for estimating their variance
	rules.Record
}

// Meetings returns the records of the given versions against each other on the ladder called name. A key has the ID
// of a version and the ID of its opponent. Each pair that has met has two entries, one for each order of the IDs.
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
