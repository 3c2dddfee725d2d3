package store

import (
	"context"
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
	played, documents := s.pack(played) // outside the transaction: it takes a while
	err = s.line(ctx, true, []func(context.Context, *Tx) error{func(ctx context.Context, tx *Tx) error {
		f := &finish{ctx: ctx, tx: tx, store: s, now: tx.now, played: played, documents: documents}
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

// pack puts games in the order of deals and rotations and compresses their documents.
func (s *Store) pack(played []*referee.Result) ([]*referee.Result, []packedDocument) {
	played = slices.SortedStableFunc(slices.Values(played), func(a, b *referee.Result) int { return a.Match.Compare(b.Match) })
	return played, s.packGames(played)
}

// finish is one run of Finish.
type finish struct {
	ctx   context.Context
	tx    *Tx
	store *Store
	now   time.Time
	// running has its versions, too.
	running
	played    []*referee.Result
	documents []packedDocument
	games     []ladder.Game
	prints    []int64 // of the games, where deals can be alike
	out       rating.Outcome
	order     int64 // on the ladder; 0 for an unrated match
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

// check refuses games that are not those of the match.
func (f *finish) check() error {
	slots := len(f.match.Versions)
	f.games = make([]ladder.Game, len(f.played))
	for i, g := range f.played {
		f.games[i] = gameOf(&g.Replay, slots)
		f.games[i].Took = g.Took.Truncate(time.Microsecond)
	}
	if err := rating.Complete(f.match.Deals, slots, f.games); err != nil {
		return err
	}
	for _, g := range f.played {
		if err := f.checkGame(g); err != nil {
			return fmt.Errorf("deal %d, rotation %d: %w", g.Match.Deal, g.Match.Rotation, err)
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
	if !f.variant.Unique {
		for _, g := range f.played {
			f.prints = append(f.prints, fingerprint(&g.Replay, f.variant, f.match.Versions))
		}
	}
	err = markRepeats(f.games, f.prints, func(print int64) (int64, error) {
		if first := rows.first[[2]int64{f.ladderID, print}]; first != 0 { // not written yet
			return first, nil
		}
		first, err := f.tx.FirstPlayed(f.ctx, f.ladderID, print)
		return first, none(err, nil)
	})
	if err != nil {
		return nil, err
	}
	if f.out, err = l.formula.Outcome(f.match, f.variant, before, f.games); err != nil {
		return nil, fmt.Errorf("match %d: %w", f.match.ID, err)
	}
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

// markRepeats marks the games of a match that were played before: earlier in it, or in an earlier match
// of the ladder. first returns the order of the first match that had a game, 0 without one. Where no deals can be alike
// there are no fingerprints.
func markRepeats(games []ladder.Game, prints []int64, first func(print int64) (int64, error)) error {
	for i, print := range prints {
		if games[i].Repeated = slices.Contains(prints[:i], print); games[i].Repeated {
			continue
		}
		order, err := first(print)
		if err != nil {
			return err
		}
		games[i].Repeated = order != 0
	}
	return nil
}

// keep leaves the match with all that it moves to be written. From here on it is not refused.
func (f *finish) keep() error {
	rows, id := &f.tx.rows, f.match.ID
	if rows.lastResult == 0 {
		last, err := f.tx.LastResultID(f.ctx)
		if err != nil {
			return err
		}
		rows.lastResult = last
	}
	rows.lastResult++
	var replays []*referee.Replay
	for _, g := range f.played {
		replays = append(replays, &g.Replay)
	}
	result := resultRow(f.match, f.ladderID, f.games)
	result.ID, result.Ord, result.Data = rows.lastResult, nullID(f.order), f.store.codec.pack(joinGames(f.games, len(f.match.Versions)))
	rows.documents = append(rows.documents, documentRows(id, f.documents)...)
	if f.match.Rated {
		result.DistinctDeals = someID(int64(f.out.Distinct))
		f.keepOutcome()
	}
	rows.results = append(rows.results, queries.AddResultParams{
		ID: result.ID, MatchID: id, LadderID: result.LadderID, Ord: result.Ord, DistinctDeals: result.DistinctDeals,
		Games: result.Games, Took: result.Took, Data: result.Data,
	})
	for slot, faulty := range faultySlots(f.games, len(f.match.Versions)) {
		if faulty {
			rows.faulty = append(rows.faulty, queries.MatchSlot{MatchID: id, Slot: int64(slot)})
		}
	}
	rows.over[id] = true
	rows.ends = append(rows.ends, queries.EndAttemptParams{Ended: nullStamp(f.now), MatchID: id, Number: f.attempt.Number})
	reason := early(len(f.games) < f.match.Deals*len(f.match.Versions), replays)
	rows.finished = append(rows.finished, queries.MatchRow{ID: id, Finished: nullStamp(f.now), Reason: reason})
	f.tx.tell(events.Event{Kind: events.MatchFinished, Ladder: f.match.Ladder, Match: id, Changes: f.out.Changes})
	f.tx.ended = append(f.tx.ended, id)
	return nil
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
	for i, print := range f.prints {
		if !f.games[i].Repeated {
			rows.first[[2]int64{id, print}] = f.order
		}
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
