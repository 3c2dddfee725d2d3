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
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	stats "github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules"
)

// Finish keeps a running match with all its games and moves the ratings: all of it is on
// the disk, or nothing. The games are every deal in
// every rotation, or those of a match that ended early, in any order, their replays with the seed of the attempt
// revealed; an attempt that is over is refused with ErrOver, so that what an older one left cannot get
// in, and nothing counts twice. SQLite has one writer, so
// matches that finish at the same time have an order, in which they came, which is theirs for ever. Those that come while
// others are written are kept in one transaction, each for itself.
func (s *Store) Finish(ctx context.Context, matchID int64, attempt int, played []*referee.Result) (changes []ladder.Change, err error) {
	packed, documents := s.pack(played) // outside the transaction: it takes a while
	err = s.line(ctx, true, []func(context.Context, *Tx) error{func(ctx context.Context, tx *Tx) error {
		f := &finish{ctx: ctx, tx: tx, store: s, now: tx.now, games: packed, documents: documents}
		if err := f.load(matchID, attempt); err != nil {
			return err
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("match %d: %w", matchID, err)
		}
		if changes, err = f.rate(); err != nil {
			return err
		}
		return f.keep()
	}})[0]
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// packedGame is a finished game whose documents are packed.
type packedGame struct {
	*referee.Result
	counted ladder.Game // by check
}

// pack puts games in the order of deals and rotations and compresses their documents.
func (s *Store) pack(played []*referee.Result) ([]packedGame, []packedDocument) {
	out := make([]packedGame, len(played))
	for i, g := range played {
		out[i].Result = g
	}
	slices.SortStableFunc(out, func(a, b packedGame) int { return a.Match.Compare(b.Match) })
	return out, s.packGames(out)
}

// finish is one run of Finish.
type finish struct {
	ctx   context.Context
	tx    *Tx
	store *Store
	now   time.Time
	// running has its versions, too.
	running
	games     []packedGame
	documents []packedDocument
	out       rating.Outcome
	order     int64 // on the ladder; 0 for an unrated match
	// distinct counts the deals of a rated match that count.
	distinct sql.NullInt64
}

// load reads what the games are checked against.
func (f *finish) load(id int64, attempt int) error {
	s := f.store
	if r := s.running[id]; r != nil && r.attempt.Number == int64(attempt) && !f.tx.rows.over[id] {
		f.running = *r
		return nil
	}
	row, a, err := f.tx.attemptIn(f.ctx, id, attempt)
	if err != nil {
		return err
	}
	if f.match, err = matchOf(row); err != nil {
		return err
	}
	f.attempt, f.ladderID = a, row.LadderID.Int64
	if f.match.Rated {
		l, err := f.tx.LadderByID(f.ctx, f.ladderID)
		if err != nil {
			return err
		}
		f.match.Ladder = l.Name
	}
	slots, err := f.tx.SlotsOf(f.ctx, text([]int64{id}))
	if err != nil {
		return err
	}
	for _, r := range slots {
		f.match.Versions = append(f.match.Versions, r.VersionID)
	}
	f.variant, err = f.match.Variant()
	return err
}

// check refuses games that are not those of the match, and counts those that are.
func (f *finish) check() error {
	slots := len(f.match.Versions)
	counted := make([]ladder.Game, len(f.games))
	for i, g := range f.games {
		counted[i] = gameOf(&g.Replay, slots)
	}
	if err := rating.Complete(f.match.Deals, slots, counted); err != nil {
		return err
	}
	for i := range f.games {
		g := &f.games[i]
		if err := f.checkGame(g.Result); err != nil {
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
func (f *finish) checkGame(g *referee.Result) error {
	if err := checkReplay(&g.Replay, f.match, f.variant, f.attempt); err != nil {
		return err
	}
	if len(g.Bots) != len(g.Seats) {
		return fmt.Errorf("there are %d bots for %d seats", len(g.Bots), len(g.Seats))
	}
	for seat, bot := range g.Bots {
		if want := rules.BotAt(seat, g.Match.Rotation, len(f.match.Versions)); bot != want {
			return fmt.Errorf("seat %d was played by bot %d where the rotation has bot %d", seat, bot, want)
		}
	}
	return nil
}

// checkReplay returns an error unless a replay is one of a match by its head, and has moves, faults and
// results of the seats that there are. It does not play it again.
func checkReplay(r *referee.Replay, m ladder.Match, v *rules.Variant, a queries.Attempt) error {
	got, err := r.Resolve(v.Game)
	if err != nil {
		return err
	}
	clock := m.Clock.InReplay()
	switch seed := hexOf(a.Seed); {
	case r.Match.Seed == nil || *r.Match.Seed != seed:
		return fmt.Errorf("the replay is not of attempt %d: it has another seed", a.Number)
	case !slices.Equal(got.Settings, v.Settings):
		return fmt.Errorf("the replay's options are %s, the match's %s", optionsText(r.Options), optionsText(v.Settings.Map()))
	case text(r.Clock) != text(clock):
		return fmt.Errorf("the replay's clock is %s, the match's %s", clockText(r.Clock), clockText(clock))
	case r.Adjudication != nil || r.Adjudicated != nil:
		return errors.New("the game could be adjudicated by scores: the games of a competition are played to their end")
	case len(r.Ranks) != len(r.Seats) || len(r.Points) != len(r.Seats):
		return fmt.Errorf("there are %d ranks and %d points for %d seats", len(r.Ranks), len(r.Points), len(r.Seats))
	}
	for seat, s := range r.Seats {
		if s.Clock != nil || s.Untimed {
			return fmt.Errorf("seat %d has a clock of its own", seat)
		}
		if rank := r.Ranks[seat]; rank < 1 || rank > v.Sides {
			return fmt.Errorf("seat %d has rank %d of %d sides", seat, rank, v.Sides)
		}
	}
	return checkSeats(r)
}

// clockText returns the clock of a replay for people, in milliseconds.
func clockText(c referee.ClockMS) string {
	var inc int64
	if c.Inc != nil {
		inc = *c.Inc
	}
	return fmt.Sprintf("movetime=%d bank=%d inc=%d margin=%d", c.Movetime, c.Bank, inc, c.Margin)
}

// checkSeats refuses moves and faults of seats that a game does not have, and unknown faults.
func checkSeats(r *referee.Replay) error {
	for i, m := range r.Moves {
		if m.Seat < 0 || m.Seat >= len(r.Seats) {
			return fmt.Errorf("move %d is of seat %d, and there are %d", i, m.Seat, len(r.Seats))
		}
	}
	for _, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= len(r.Seats) {
			return fmt.Errorf("a fault is of seat %d, and there are %d", f.Seat, len(r.Seats))
		}
		if !slices.Contains(protocol.Codes, f.Code) {
			return fmt.Errorf("a fault has the code %q, which there is not", f.Code)
		}
	}
	return nil
}

// rate computes what a rated match moves.
func (f *finish) rate() ([]ladder.Change, error) {
	if !f.match.Rated {
		return nil, nil
	}
	l, err := f.store.ladderState(f.ctx, f.tx, f.match.Ladder)
	if err != nil {
		return nil, err
	}
	rows := &f.tx.rows
	if f.order = rows.orders[f.ladderID]; f.order == 0 {
		f.order = l.finished
	}
	f.order++
	before := make([]rating.Entry, len(f.match.Versions))
	for slot, id := range f.match.Versions {
		if before[slot], err = f.entry(l, id); err != nil {
			return nil, err
		}
	}
	counted := make([]ladder.Game, len(f.games))
	for i, g := range f.games {
		counted[i] = g.counted
	}
	repeats, err := repeatsBefore(f.ctx, f.tx, f.ladderID, f.order, counted)
	if err != nil {
		return nil, err
	}
	for _, g := range counted { // those that are not written yet
		if rows.fingerprints[ofLadder{f.ladderID, g.Fingerprint}] {
			repeats.Know(g.Fingerprint)
		}
	}
	if f.out, err = l.formula.Outcome(f.match, f.variant, before, counted, repeats); err != nil {
		return nil, fmt.Errorf("match %d: %w", f.match.ID, err)
	}
	f.distinct = sql.NullInt64{Int64: int64(f.out.Distinct), Valid: true}
	return f.out.Changes, nil
}

// entry returns that of a version as it is now.
func (f *finish) entry(l *ladderState, id int64) (rating.Entry, error) {
	if e, ok := f.tx.rows.moved[[2]int64{f.ladderID, id}]; ok {
		return e, nil
	}
	if m := l.members[id]; m != nil {
		return m.entry, nil
	}
	row, err := f.tx.Entry(f.ctx, f.ladderID, id) // it plays no more
	return entry(row), err
}

// repeatsBefore returns those of a match's games that were played on its ladder in
// the matches before it.
func repeatsBefore(ctx context.Context, tx *Tx, ladderID, order int64, games []ladder.Game) (*stats.Repeats, error) {
	repeats := new(stats.Repeats)
	for _, g := range games {
		played, err := tx.PlayedBefore(ctx, nullID(ladderID), g.Fingerprint[:], nullID(order))
		if err != nil {
			return nil, err
		}
		if played {
			repeats.Know(g.Fingerprint)
		}
	}
	return repeats, nil
}

// keep leaves the match with all that it moves to be written. From here on it is not refused.
func (f *finish) keep() error {
	rows, id := &f.tx.rows, f.match.ID
	if rows.lastGame == 0 {
		last, err := f.tx.LastGameID(f.ctx)
		if err != nil {
			return err
		}
		rows.lastGame = last
	}
	for _, g := range f.games {
		f.keepGame(g)
	}
	rows.documents = append(rows.documents, documentRows(id, f.documents)...)
	if f.match.Rated {
		f.keepOutcome()
	}
	rows.over[id] = true
	rows.ends = append(rows.ends, queries.EndAttemptParams{Ended: nullStamp(f.now), MatchID: id, Number: f.attempt.Number})
	var took time.Duration
	var replays []*referee.Replay
	for _, g := range f.games {
		took += g.Took.Truncate(time.Microsecond)
		replays = append(replays, &g.Replay)
	}
	reason := early(len(f.games) < f.match.Deals*len(f.match.Versions), replays)
	p := queries.FinishMatchParams{Finished: nullStamp(f.now), Ord: nullID(f.order), DistinctDeals: f.distinct, Reason: reason, ID: id}
	p.Took.Int64, p.Took.Valid = took.Microseconds(), true
	rows.finished = append(rows.finished, p)
	f.tx.tell(events.Event{Kind: events.MatchFinished, Ladder: f.match.Ladder, Match: id, Changes: f.out.Changes})
	f.tx.ended = append(f.tx.ended, id)
	return nil
}

func (f *finish) keepGame(g packedGame) {
	rows := &f.tx.rows
	rows.lastGame++
	counted := g.counted
	counted.ID, counted.MatchID, counted.Took = rows.lastGame, f.match.ID, g.Took
	rows.games = append(rows.games, gameRow(counted, nullID(f.ladderID), f.match.Rated))
	if f.match.Rated {
		rows.fingerprints[ofLadder{f.ladderID, counted.Fingerprint}] = true
	}
	for _, s := range counted.Seats {
		rows.seats = append(rows.seats, seatRow(counted.ID, s))
		if s.Fault != "" {
			rows.faulty = append(rows.faulty, queries.MatchSlot{MatchID: f.match.ID, Slot: int64(s.Slot)})
		}
	}
}

// keepOutcome leaves the ratings, the sums and the counts of pairs.
func (f *finish) keepOutcome() {
	rows, id := &f.tx.rows, f.ladderID
	for slot, e := range f.out.Entries {
		rows.changes = append(rows.changes, changeRow(id, f.out.Changes[slot]))
		rows.entries = append(rows.entries, queries.MoveEntryParams{
			Elo: e.Elo, Uncertainty: e.Uncertainty, Last: f.order, LastAt: nullStamp(f.now), Matches: int64(e.Matches), Games: int64(e.Games),
			Wins: int64(e.Wins), Draws: int64(e.Draws), Losses: int64(e.Losses), Faults: int64(e.Faults), LadderID: id, VersionID: e.VersionID,
		})
		rows.moved[[2]int64{id, e.VersionID}] = e
	}
	for _, p := range f.out.Pairs {
		rows.pairs = append(rows.pairs, pairRow(id, p))
	}
	rows.orders[id] = f.order
	f.tx.changes = append(f.tx.changes, Change{ladder: id, match: f.match.ID, entries: f.out.Entries, order: f.order, at: f.now})
}

// early returns why a match ended before all of its games were played; "" where it did
// not.
func early(ended bool, replays []*referee.Replay) string {
	if !ended {
		return ""
	}
	var names []string
	for _, r := range replays {
		for _, seat := range lostSeats(r) {
			names = append(names, r.Seats[seat].Name)
		}
	}
	slices.Sort(names)
	return "ended early: " + strings.Join(slices.Compact(names), ", ") + " lost the connection"
}

// lostSeats returns the seats that lost a game with their connection; r may be nil.
func lostSeats(r *referee.Replay) (seats []int) {
	if r == nil {
		return nil
	}
	for _, f := range r.Faults {
		if f.Reason.Kind == fault.ConnectionLost && f.Seat >= 0 && f.Seat < len(r.Seats) {
			seats = append(seats, f.Seat)
		}
	}
	return seats
}
