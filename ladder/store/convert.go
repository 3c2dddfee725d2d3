package store

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// This file converts rows of the database to types of package ladder and back. A stamp is a time in microseconds
// since 1970.

func stamp(t time.Time) int64 { return t.UnixMicro() }

func nullStamp(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

func nullID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }

func nullMoment(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return moment(us.Int64)
}

func boolColumn(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// jsonText returns v as JSON. v must be a value that can always be encoded, such as a map, a list or a clock.
func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("store: " + err.Error())
	}
	return string(data)
}

// phraseColumn returns a text as it is stored in a column: as JSON, or "" for an empty text.
func phraseColumn(t phrase.Text) string {
	if t.IsZero() {
		return ""
	}
	return jsonText(t)
}

// phraseOf returns the text that phraseColumn stored in a column. If the column is not JSON, it becomes a text that
// is not translated.
func phraseOf(column string) (t phrase.Text) {
	if column != "" && json.Unmarshal([]byte(column), &t) != nil {
		return phrase.Plain(column)
	}
	return t
}

func parse(what, text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("data: %s %q is damaged: %w", what, text, err)
	}
	return nil
}

func person(p queries.Person) ladder.Person {
	return ladder.Person{ID: p.ID, Name: p.Name, Admin: p.Admin != 0, CreatedAt: moment(p.Created), BlockedAt: nullMoment(p.Blocked), RemovedAt: nullMoment(p.Removed)}
}

func token(t queries.Token) ladder.Token {
	return ladder.Token{
		ID: t.ID, Label: t.Label, Scope: ladder.Scope(t.Scope), IsPasskey: t.Kind == kindPasskey,
		CreatedAt: moment(t.Created), UsedAt: nullMoment(t.Used), ExpiresAt: nullMoment(t.Expires), RevokedAt: nullMoment(t.Revoked),
	}
}

func message(m queries.Message) ladder.Message {
	return ladder.Message{
		ID: m.ID, Kind: ladder.MessageKind(m.Kind), Version: m.VersionID.Int64, Bot: m.Bot, Number: int(m.Number),
		Match: m.MatchID.Int64, Reason: phraseOf(m.Reason), CreatedAt: moment(m.Created), SeenAt: nullMoment(m.Seen),
	}
}

func bot(b queries.Bot) ladder.Bot {
	return ladder.Bot{
		ID: b.ID, PersonID: b.PersonID.Int64, Name: b.Name, CreatedAt: moment(b.Created), WithdrawnAt: nullMoment(b.Withdrawn),
		BannedAt: nullMoment(b.Banned), BanReason: b.BanReason,
	}
}

func convertRows[R, T any](rows []R, convert func(R) T) (out []T) {
	for _, r := range rows {
		out = append(out, convert(r))
	}
	return out
}

func version(v queries.VersionRow) (ladder.Version, error) {
	out := ladder.Version{
		ID: v.ID, BotID: v.BotID, Bot: v.Name, Owner: v.PersonID.Int64, Number: int(v.Number), Label: v.Label, Bundle: v.Bundle, Hash: v.Hash,
		Language: v.Language, State: ladder.VersionState(v.State), Reason: phraseOf(v.Reason), Remote: v.Remote != 0, Unplayable: phraseOf(v.Unplayable), Training: v.Training,
		CreatedAt: moment(v.Created), LiveAt: nullMoment(v.Began), EndedAt: nullMoment(v.Ended),
	}
	if out.State == ladder.Live && !out.Unplayable.IsZero() {
		out.Reason = phrase.New("it is not played: no machine has what it needs: %s", out.Unplayable)
	}
	if err := parse("a version's games", v.Games, &out.Games); err != nil {
		return out, err
	}
	if len(out.Games) == 0 {
		out.Games = nil
	}
	if err := parse("a version's needs", v.Needs, &out.Needs); err != nil {
		return out, err
	}
	return out, parse("a version's command", v.Command, &out.Command)
}

func versions(rows []queries.VersionRow) ([]ladder.Version, error) {
	out := make([]ladder.Version, 0, len(rows))
	for _, r := range rows {
		v, err := version(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func matchOf(m queries.MatchRow) (ladder.Match, error) {
	out := ladder.Match{
		ID: m.ID, Rated: m.LadderID.Valid, Game: m.Game, Deals: int(m.Deals), DistinctDeals: int(m.DistinctDeals.Int64), State: ladder.MatchState(m.State),
		RequestedBy: m.AskedBy.Int64, Reason: phraseOf(m.Reason), CreatedAt: moment(m.Created), StartedAt: nullMoment(m.Began),
		FinishedAt: nullMoment(m.Finished), Order: m.Ord.Int64,
	}
	if err := parse("a match's options", m.Options, &out.Options); err != nil {
		return out, err
	}
	return out, parse("a match's clock", m.Clock, &out.Clock)
}

// attempt converts the row of an attempt (one try to play a match). The result has the secret seed only if the
// attempt is over.
func attempt(a queries.Attempt) ladder.Attempt {
	out := ladder.Attempt{Number: int(a.Number), Machine: a.Machine, Commitment: referee.Commitment(rules.Seed(hexOf(a.Seed))), StartedAt: moment(a.Began), EndedAt: nullMoment(a.Ended), Reason: phraseOf(a.Reason)}
	if a.Ended.Valid {
		seed := hexOf(a.Seed)
		out.Seed = &seed
	}
	return out
}

func hexOf(data []byte) (h referee.Hex) {
	copy(h[:], data)
	return h
}

// fingerprint returns a hash of the game in replay r. Identical games between the same versions have the same hash. v
// has the rules of the game. versions has the ID of each version in the match.
func fingerprint(r *referee.Replay, v *rules.Variant, versions []int64) int64 {
	ids := make([]int, v.Players)
	for seat := range ids {
		ids[seat] = int(versions[rules.BotAt(seat, r.Match.Rotation, len(versions))])
	}
	print := r.Fingerprint(v, ids)
	return int64(binary.BigEndian.Uint64(print[:]))
}

// fingerprints returns, for each result, the fingerprint of its replay. If the same deal practically never occurs
// twice in the game (v.UniqueDeals), it returns nil.
func fingerprints(results []*referee.GameResult, v *rules.Variant, versions []int64) (prints []int64) {
	if v.UniqueDeals {
		return nil
	}
	for _, g := range results {
		prints = append(prints, fingerprint(&g.Replay, v, versions))
	}
	return prints
}

// gameOf converts replay r to a finished game, but without its duration. slots is the number of versions in the
// match. A seat without a result gets rank 0.
func gameOf(r *referee.Replay, slots int) ladder.FinishedGame {
	g := ladder.FinishedGame{Deal: r.Match.Deal, Rotation: r.Match.Rotation, Plies: len(r.Moves), Seats: make([]ladder.GameSeat, len(r.Seats))}
	g.Lost = len(lostSeats(r)) > 0
	for i := range g.Seats {
		g.Seats[i] = ladder.GameSeat{Seat: i, Slot: rules.BotAt(i, g.Rotation, slots)}
		if i < len(r.Ranks) && i < len(r.Points) {
			g.Seats[i].Rank, g.Seats[i].Points = r.Ranks[i], r.Points[i]
		}
	}
	for _, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= len(g.Seats) {
			continue
		}
		s := &g.Seats[f.Seat]
		if s.Faults++; s.Faults == 1 {
			s.Fault = string(f.Code)
		}
	}
	return g
}

func totalTime(games []ladder.FinishedGame) (sum int64) {
	for _, g := range games {
		sum += g.Took.Microseconds()
	}
	return sum
}

// faultySlots reports, for each version of a match, whether it made a fault in at least one of the games. slots is
// the number of versions.
func faultySlots(games []ladder.FinishedGame, slots int) []bool {
	faulty := make([]bool, slots)
	for _, g := range games {
		for _, s := range g.Seats {
			if s.Fault != "" && s.Slot >= 0 && s.Slot < slots {
				faulty[s.Slot] = true
			}
		}
	}
	return faulty
}

func change(c queries.Change, ladderName string, deals int) ladder.Change {
	return ladder.Change{
		MatchID: c.MatchID, Ladder: ladderName, VersionID: c.VersionID, Slot: int(c.Slot), Number: int(c.Number),
		EloBefore: c.EloBefore, EloAfter: c.EloAfter, K: c.K, Score: c.Score, ExpectedScore: c.Expected, Uncertainty: c.Uncertainty, Deals: deals,
	}
}

func changeRow(ladderID int64, c ladder.Change) queries.AddChangeParams {
	return queries.AddChangeParams{
		MatchID: c.MatchID, Slot: int64(c.Slot), LadderID: ladderID, VersionID: c.VersionID, Number: int64(c.Number),
		EloBefore: c.EloBefore, EloAfter: c.EloAfter, K: c.K, Score: c.Score, Expected: c.ExpectedScore, Uncertainty: c.Uncertainty,
	}
}

func pairRow(ladderID int64, p rating.PairChange) queries.AddPairParams {
	return queries.AddPairParams{LadderID: ladderID, A: p.A, B: p.B, Deals: p.Deals, Score: p.Score, Squares: p.Squares,
		Wins: int64(p.Games.Wins), Draws: int64(p.Games.Draws), Losses: int64(p.Games.Losses)}
}

func entry(e queries.Entry) rating.Entry {
	return rating.Entry{
		VersionID: e.VersionID, Player: rating.Player{Elo: e.Elo, Uncertainty: e.Uncertainty, Fixed: e.Held != 0}, Matches: int(e.Matches),
		Record: rules.Record{Games: int(e.Games), Wins: int(e.Wins), Draws: int(e.Draws), Losses: int(e.Losses)}, Faults: int(e.Faults),
	}
}

func ladderConfig(l queries.Ladder) (ladder.Ladder, error) {
	out := ladder.Ladder{Name: l.Name, Title: l.Title, Game: l.Game, Deals: int(l.Deals), Bots: int(l.Slots)}
	if err := parse("a ladder's options", l.Options, &out.Options); err != nil {
		return out, err
	}
	if err := parse("a ladder's clock", l.Clock, &out.Clock); err != nil {
		return out, err
	}
	return out, parse("a ladder's house bots", l.House, &out.House)
}

func standing(e queries.StandingRow) ladder.Standing {
	s := ladder.Standing{
		Ladder: e.Ladder, VersionID: e.VersionID, Bot: e.Name, Version: int(e.Number), Owner: e.Owner, Remote: e.Remote != 0, Elo: e.Elo,
		Matches: int(e.Matches), Games: int(e.Games), Wins: int(e.Wins), Draws: int(e.Draws), Losses: int(e.Losses),
		Faults: int(e.Faults), Opponents: int(e.Opponents), Active: e.Active != 0, LastMatchAt: nullMoment(e.LastAt),
	}
	if e.Fit.Valid {
		s.Fit = &e.Fit.Float64
	}
	if e.PlusMinus.Valid {
		s.PlusMinus = &e.PlusMinus.Float64
	}
	return s
}

func nullFloat(x float64) sql.NullFloat64 { return sql.NullFloat64{Float64: x, Valid: finite(x)} }

func someID(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: true} }
