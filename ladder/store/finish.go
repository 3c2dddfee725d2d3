package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/outcome"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Finish keeps a running match with all its games and moves the ratings, in one
// transaction: all of it is on the disk, or nothing. The games are every deal in
// every rotation, or those of a match that ended early, in any order, their replays with the seed of the running attempt
// revealed: so what an older attempt left cannot get in. SQLite has one writer, so
// matches that finish at the same time have an order, which is theirs for ever.
func (s *Store) Finish(ctx context.Context, matchID int64, played []*referee.Game) (changes []ladder.Change, err error) {
	packed := s.pack(played) // outside the transaction: it takes a while
	err = s.update(ctx, func(q *queries.Queries) error {
		f := &finish{ctx: ctx, q: q, now: s.now(), games: packed}
		if f.row, err = s.matchIn(ctx, q, matchID, ladder.Running); err != nil {
			return err
		}
		if err := f.load(); err != nil {
			return err
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("match %d: %w", matchID, err)
		}
		if err := f.keepGames(); err != nil {
			return err
		}
		if changes, err = f.rate(); err != nil {
			return err
		}
		return f.end()
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// packedGame is a finished game with its documents compressed.
type packedGame struct {
	*referee.Game
	counted ladder.Game // by check
	size    int         // of the replay before it was compressed
	replay  []byte
	logs    [][]byte // by seat; nil where the bot wrote nothing
}

// pack compresses games and puts them in the order of deals and rotations.
func (s *Store) pack(played []*referee.Game) []packedGame {
	out := make([]packedGame, len(played))
	for i, g := range played {
		document := g.Encode()
		out[i] = packedGame{Game: g, size: len(document), replay: s.codec.pack(document), logs: make([][]byte, len(g.Logs))}
		for seat, log := range g.Logs {
			if len(log) > 0 {
				out[i].logs[seat] = s.codec.pack(log)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b packedGame) int { return a.Match.Compare(b.Match) })
	return out
}

// finish is one run of Finish.
type finish struct {
	ctx     context.Context
	q       *queries.Queries
	now     time.Time
	row     queries.Match
	match   ladder.Match // its versions, too
	variant rules.Variant
	attempt queries.Attempt
	games   []packedGame
	order   int64 // on the ladder; 0 for an unrated match
	// distinct counts the deals of a rated match that count.
	distinct sql.NullInt64
}

// load reads what the games are checked against.
func (f *finish) load() (err error) {
	if f.match, err = match(f.row); err != nil {
		return err
	}
	slots, err := f.q.SlotsOf(f.ctx, []int64{f.row.ID})
	if err != nil {
		return err
	}
	for _, r := range slots {
		f.match.Versions = append(f.match.Versions, r.VersionID)
	}
	if f.attempt, err = f.q.LastAttempt(f.ctx, f.row.ID); err != nil {
		return err
	}
	g, err := games.Find(f.match.Game)
	if err != nil {
		return err
	}
	f.variant, err = rules.Resolve(g, f.match.Options)
	return err
}

// check refuses games that are not those of the match, and counts those that are.
func (f *finish) check() error {
	slots := len(f.match.Versions)
	counted := make([]ladder.Game, len(f.games))
	for i, g := range f.games {
		counted[i] = gameOf(&g.Replay, slots)
	}
	if err := outcome.Complete(f.match.Deals, slots, counted); err != nil {
		return err
	}
	for i := range f.games {
		g := &f.games[i]
		if err := f.checkGame(g.Game); err != nil {
			return fmt.Errorf("deal %d, rotation %d: %w", g.Match.Deal, g.Match.Rotation, err)
		}
		g.counted = counted[i]
		if f.match.Rated {
			g.counted.Fingerprint = fingerprint(&g.Replay, f.variant, f.match.Versions)
		}
	}
	return nil
}

// checkGame compares a game with the match, and its result with its seats.
func (f *finish) checkGame(g *referee.Game) error {
	v, err := g.Resolve(f.variant.Game())
	if err != nil {
		return err
	}
	switch seed := hexOf(f.attempt.Seed); {
	case g.Match.Seed == nil || *g.Match.Seed != seed:
		return fmt.Errorf("the replay is not of attempt %d: it has another seed", f.attempt.Number)
	case !slices.Equal(v.Settings(), f.variant.Settings()):
		return fmt.Errorf("the replay's options are %v, the match's %v", g.Options, f.match.Options)
	case g.Adjudication != nil || g.Adjudicated != nil:
		return errors.New("the game could be adjudicated by scores: the games of a competition are played to their end")
	case len(g.Bots) != len(g.Seats) || len(g.Ranks) != len(g.Seats) || len(g.Points) != len(g.Seats):
		return fmt.Errorf("there are %d bots, %d ranks and %d points for %d seats", len(g.Bots), len(g.Ranks), len(g.Points), len(g.Seats))
	}
	sides := rules.Sides(f.variant)
	for seat, bot := range g.Bots {
		if want := rules.BotAt(seat, g.Match.Rotation, len(f.match.Versions)); bot != want {
			return fmt.Errorf("seat %d was played by bot %d where the rotation has bot %d", seat, bot, want)
		}
		if rank := g.Ranks[seat]; rank < 1 || rank > sides {
			return fmt.Errorf("seat %d has rank %d of %d sides", seat, rank, sides)
		}
	}
	return nil
}

func (f *finish) keepGames() error {
	for _, g := range f.games {
		row := queries.AddGameParams{
			MatchID: f.row.ID, LadderID: f.row.LadderID, Deal: int64(g.counted.Deal), Rotation: int64(g.counted.Rotation),
			Plies: int64(g.counted.Plies), Took: g.Took.Microseconds(),
		}
		if f.match.Rated {
			row.Fingerprint = g.counted.Fingerprint[:]
		}
		id, err := f.q.AddGame(f.ctx, row)
		if err != nil {
			return err
		}
		for _, s := range g.counted.Seats {
			err := f.q.AddSeat(f.ctx, queries.AddSeatParams{
				GameID: id, Seat: int64(s.Seat), Slot: int64(s.Slot), Rank: int64(s.Rank), Points: s.Points, Fault: s.Fault, Faults: int64(s.Faults),
			})
			if err != nil {
				return err
			}
			if s.Fault == "" {
				continue
			}
			if err := f.q.MarkFaulty(f.ctx, f.row.ID, int64(s.Slot)); err != nil {
				return err
			}
		}
		if err := f.q.AddReplay(f.ctx, id, int64(g.size), g.replay); err != nil {
			return err
		}
		for seat, log := range g.logs {
			if log == nil {
				continue
			}
			if err := f.q.AddLog(f.ctx, queries.AddLogParams{GameID: id, Seat: int64(seat), Size: int64(len(g.Logs[seat])), Data: log}); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate moves the ratings, the sums and the counts of pairs of a rated match.
func (f *finish) rate() ([]ladder.Change, error) {
	if !f.match.Rated {
		return nil, nil
	}
	l, err := f.q.LadderByID(f.ctx, f.row.LadderID.Int64)
	if err != nil {
		return nil, err
	}
	if f.order, err = f.q.NextOrder(f.ctx, l.ID); err != nil {
		return nil, err
	}
	f.match.Ladder = l.Name
	before := make([]outcome.Entry, len(f.match.Versions))
	for slot, id := range f.match.Versions {
		row, err := f.q.Entry(f.ctx, l.ID, id)
		if err != nil {
			return nil, err
		}
		before[slot] = entry(row)
	}
	counted := make([]ladder.Game, len(f.games))
	for i, g := range f.games {
		counted[i] = g.counted
	}
	repeats, err := repeatsBefore(f.ctx, f.q, l.ID, f.order, counted)
	if err != nil {
		return nil, err
	}
	out, err := outcome.Of(f.match, f.variant, before, counted, repeats)
	if err != nil {
		return nil, fmt.Errorf("match %d: %w", f.match.ID, err)
	}
	f.distinct = sql.NullInt64{Int64: int64(out.Distinct), Valid: true}
	return out.Changes, f.keepOutcome(l.ID, out)
}

// repeatsBefore returns those of a match's games that were played on its ladder in
// the matches before it.
func repeatsBefore(ctx context.Context, q *queries.Queries, ladderID, order int64, games []ladder.Game) (*rating.Repeats, error) {
	repeats := new(rating.Repeats)
	for _, g := range games {
		played, err := q.PlayedBefore(ctx, nullID(ladderID), g.Fingerprint[:], nullID(order))
		if err != nil {
			return nil, err
		}
		if played {
			repeats.Know(g.Fingerprint)
		}
	}
	return repeats, nil
}

func (f *finish) keepOutcome(ladderID int64, out outcome.Outcome) error {
	for slot, e := range out.Entries {
		if err := f.q.AddChange(f.ctx, changeRow(ladderID, out.Changes[slot])); err != nil {
			return err
		}
		err := f.q.MoveEntry(f.ctx, queries.MoveEntryParams{
			Elo: e.Elo, Uncertainty: e.Uncertainty, Last: f.order, LastAt: nullStamp(f.now), Matches: int64(e.Matches), Games: int64(e.Games),
			Wins: int64(e.Wins), Draws: int64(e.Draws), Losses: int64(e.Losses), Faults: int64(e.Faults), LadderID: ladderID, VersionID: e.VersionID,
		})
		if err != nil {
			return err
		}
	}
	for _, p := range out.Pairs {
		if err := f.q.AddPair(f.ctx, pairRow(ladderID, p)); err != nil {
			return err
		}
	}
	return nil
}

func (f *finish) end() error {
	err := f.q.EndAttempt(f.ctx, queries.EndAttemptParams{Ended: nullStamp(f.now), MatchID: f.row.ID, Number: f.attempt.Number})
	if err != nil {
		return err
	}
	var took time.Duration
	for _, g := range f.games {
		took += g.Took.Truncate(time.Microsecond)
	}
	p := queries.FinishMatchParams{Finished: nullStamp(f.now), Ord: nullID(f.order), DistinctDeals: f.distinct, Reason: f.early(), ID: f.row.ID}
	p.Took.Int64, p.Took.Valid = took.Microseconds(), true
	return f.q.FinishMatch(f.ctx, p)
}

// early returns why the match ended before all of its games were played; "" where they
// were.
func (f *finish) early() string {
	if len(f.games) == f.match.Deals*len(f.match.Versions) {
		return ""
	}
	var names []string
	for _, g := range f.games {
		for _, seat := range lostSeats(&g.Replay) {
			names = append(names, g.Seats[seat].Name)
		}
	}
	slices.Sort(names)
	return "ended early: " + strings.Join(slices.Compact(names), ", ") + " lost the connection"
}

// lostSeats returns the seats that lost a game with their connection.
func lostSeats(r *referee.Replay) (seats []int) {
	for _, f := range r.Faults {
		if f.Reason.Kind == fault.ConnectionLost && f.Seat >= 0 && f.Seat < len(r.Seats) {
			seats = append(seats, f.Seat)
		}
	}
	return seats
}
