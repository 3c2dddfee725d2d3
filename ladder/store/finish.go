package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Finish stores the games of a running match and updates the ratings, in one transaction. results has one game for
// every deal and seating, in any order, or fewer if the match ended early. The replays must contain the seed of the
// attempt (the try to play the match) with the number attempt. changes has the change of rating of each version; it
// is empty for an unrated match. If the attempt is over, Finish stores nothing and returns an error that wraps
// ErrAttemptOver, so no match counts twice.
//
// Ratings change in the order in which matches are written. Calls that wait at the same time share a transaction, but
// each succeeds or fails alone.
func (s Matches) Finish(ctx context.Context, matchID int64, attempt int, results []*referee.GameResult) (changes []ladder.Change, err error) {
	results, documents := s.pack(results) // outside the transaction: it takes a while
	err = s.updateGrouped(ctx, func(ctx context.Context, tx *Tx) (err error) {
		changes, err = s.finishMatch(ctx, tx, matchID, attempt, results, documents)
		return err
	})[0]
	return changes, err
}

// finishMatch does the work of Finish in a transaction. results and attempt are as in Finish. documents has the
// compressed replays and logs of results.
func (s *db) finishMatch(ctx context.Context, tx *Tx, matchID int64, attempt int, results []*referee.GameResult, documents []queries.AddDocumentParams) ([]ladder.Change, error) {
	f := &finisher{ctx: ctx, tx: tx, codec: s.codec, results: results, documents: documents}
	for _, step := range []func() error{func() error { return f.load(matchID, attempt) }, f.check, f.markRepeated, f.computeOutcome, f.save} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return f.outcome.Changes, nil
}

// pack returns the results sorted by deal and rotation (seating), and their replays and logs in compressed form.
func (s *db) pack(results []*referee.GameResult) ([]*referee.GameResult, []queries.AddDocumentParams) {
	results = slices.SortedStableFunc(slices.Values(results), func(a, b *referee.GameResult) int { return a.Match.Compare(b.Match) })
	return results, s.packGames(results)
}

// finisher is the state of one call of Finish.
type finisher struct {
	ctx       context.Context
	tx        *Tx
	codec     *codec
	results   []*referee.GameResult
	documents []queries.AddDocumentParams

	match   ladder.Match // with its versions
	attempt queries.Attempt
	variant *rules.Variant
	ladder  queries.Ladder // zero for an unrated match

	games   []ladder.FinishedGame
	reason  string  // why the match ended early, as phraseColumn returns it; "" if it did not
	prints  []int64 // fingerprints of the games, if deals can repeat
	outcome rating.Outcome
	order   int64 // position of the match on its ladder; 0 for an unrated match
}

// load reads the running match with the given ID into f. attempt is the number of the present try to play it. If that
// try is over, load returns an error.
func (f *finisher) load(id int64, attempt int) error {
	row, a, err := f.tx.runningAttempt(f.ctx, id, attempt)
	if err != nil {
		return err
	}
	f.attempt = a
	if f.match, err = matchOf(row); err != nil {
		return err
	}
	if f.match.Rated {
		if f.ladder, err = f.tx.LadderByID(f.ctx, row.LadderID.Int64); err != nil {
			return err
		}
		f.match.Ladder = f.ladder.Name
	}
	slots, err := f.tx.SlotsOf(f.ctx, jsonText([]int64{id}))
	if err != nil {
		return err
	}
	for _, r := range slots {
		f.match.Versions = append(f.match.Versions, r.VersionID)
	}
	f.variant, err = f.match.Variant()
	return err
}

// check returns an error unless the results belong to the match: no game is missing, and the replays and bots are the
// right ones. It also sets f.games and f.reason.
func (f *finisher) check() error {
	slots := len(f.match.Versions)
	f.games = make([]ladder.FinishedGame, len(f.results))
	for i, g := range f.results {
		f.games[i] = gameOf(&g.Replay, slots)
		f.games[i].Took = g.Took.Truncate(time.Microsecond)
	}
	if err := rating.CheckComplete(f.match.Deals, slots, f.games); err != nil {
		return fmt.Errorf("match %d: %w", f.match.ID, err)
	}
	for _, g := range f.results {
		if err := f.checkGame(g); err != nil {
			return fmt.Errorf("match %d: deal %d, rotation %d: %w", f.match.ID, g.Match.Deal, g.Match.Rotation, err)
		}
	}
	f.reason = phraseColumn(earlyEndReason(len(f.games) < f.match.Deals*slots, f.results))
	return nil
}

func (f *finisher) checkGame(g *referee.GameResult) error {
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

// checkReplay returns an error unless the header of r matches m and a, and its moves, faults and results refer
// to existing seats. It does not play the replay again: package cluster has done that for results of other
// machines, and results of this machine are trusted. These checks only keep rows and replays consistent.
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
	case jsonText(r.Clock) != jsonText(clock):
		return fmt.Errorf("the replay's clock is %s, the match's %s", clockText(r.Clock), clockText(clock))
	case r.Adjudication != nil || r.AdjudicationResult != nil:
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

func clockText(c referee.ClockMS) string {
	var inc int64
	if c.Inc != nil {
		inc = *c.Inc
	}
	return fmt.Sprintf("movetime=%d bank=%d inc=%d margin=%d", c.Movetime, c.Bank, inc, c.Margin)
}

// checkSeats returns an error if a move or a fault belongs to a seat that does not exist, or if a fault has an
// unknown code.
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

// markRepeated marks the games of a rated match that are identical to earlier ones of the match or the ladder.
func (f *finisher) markRepeated() error {
	if !f.match.Rated {
		return nil
	}
	f.prints = fingerprints(f.results, f.variant, f.match.Versions)
	return markRepeats(f.games, f.prints, func(print int64) (int64, error) {
		first, err := f.tx.FirstPlayed(f.ctx, f.ladder.ID, print)
		return first, ifNoRows(err, nil)
	})
}

// computeOutcome computes how a rated match changes ratings and counts. For an unrated match it does nothing.
func (f *finisher) computeOutcome() error {
	if !f.match.Rated {
		return nil
	}
	f.order = f.ladder.Finished + 1
	before := make([]rating.Entry, len(f.match.Versions))
	for slot, id := range f.match.Versions {
		row, err := f.tx.Entry(f.ctx, f.ladder.ID, id)
		if err != nil {
			return ifNoRows(err, fmt.Errorf("match %d: version %d is not on the ladder", f.match.ID, id))
		}
		before[slot] = entry(row)
	}
	var err error
	if f.outcome, err = f.tx.formula.Outcome(f.match, f.variant, before, f.games); err != nil {
		return fmt.Errorf("match %d: %w", f.match.ID, err)
	}
	return nil
}

// markRepeats marks each game that is identical to an earlier game of the same match or of an earlier match on the
// ladder. prints has the fingerprint of each game; if it is empty, no game is marked. The parameter first is a
// function that looks up a fingerprint: it returns the number of the first match on the ladder with such a game, or
// 0.
func markRepeats(games []ladder.FinishedGame, prints []int64, first func(print int64) (int64, error)) error {
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

// save writes the result of the match, its replays and logs, the events and, for a rated match, the changed
// ratings.
func (f *finisher) save() error {
	id := f.match.ID
	result := queries.AddResultParams{
		MatchID: id, LadderID: nullID(f.ladder.ID), Ord: nullID(f.order), Games: int64(len(f.games)), Took: totalTime(f.games),
		Data: f.codec.pack([]byte(jsonText(f.games))),
	}
	if f.match.Rated {
		result.DistinctDeals = someID(int64(f.outcome.Distinct))
		if err := f.saveOutcome(); err != nil {
			return err
		}
	}
	if err := f.tx.AddResult(f.ctx, result); err != nil {
		return err
	}
	for _, d := range f.documents {
		d.MatchID = id
		if err := f.tx.AddDocument(f.ctx, d); err != nil {
			return err
		}
	}
	for slot, faulty := range faultySlots(f.games, len(f.match.Versions)) {
		if !faulty {
			continue
		}
		if err := f.tx.MarkFaulty(f.ctx, id, int64(slot)); err != nil {
			return err
		}
	}
	if err := f.tx.EndAttempt(f.ctx, queries.EndAttemptParams{Ended: nullStamp(f.tx.now), MatchID: id, Number: f.attempt.Number}); err != nil {
		return err
	}
	f.tx.addEvent(events.Event{Kind: events.MatchFinished, Ladder: f.match.Ladder, Match: id, Changes: f.outcome.Changes})
	return f.tx.FinishMatch(f.ctx, nullStamp(f.tx.now), f.reason, id)
}

// saveOutcome writes the changed ratings, the results of each pair of versions, and the fingerprints of games
// that are not repeated.
func (f *finisher) saveOutcome() error {
	id, at := f.ladder.ID, f.tx.now
	for slot, e := range f.outcome.Entries {
		if err := f.tx.AddChange(f.ctx, changeRow(id, f.outcome.Changes[slot])); err != nil {
			return err
		}
		if err := f.tx.MoveEntry(f.ctx, queries.MoveEntryParams{
			Elo: e.Elo, Uncertainty: e.Uncertainty, Last: f.order, LastAt: nullStamp(at), Matches: int64(e.Matches), Games: int64(e.Games),
			Wins: int64(e.Wins), Draws: int64(e.Draws), Losses: int64(e.Losses), Faults: int64(e.Faults), LadderID: id, VersionID: e.VersionID,
		}); err != nil {
			return err
		}
	}
	for i, print := range f.prints {
		if f.games[i].Repeated {
			continue
		}
		if err := f.tx.AddFingerprint(f.ctx, id, print, f.order); err != nil {
			return err
		}
	}
	for _, p := range f.outcome.Pairs {
		if err := f.tx.AddPair(f.ctx, pairRow(id, p)); err != nil {
			return err
		}
	}
	f.tx.addLadderChange(id, func(l *ladderState) { l.finishMatch(f.match.ID, f.order, at, f.outcome.Entries) })
	return f.tx.SetFinished(f.ctx, f.order, id)
}

// earlyEndReason returns why a match ended before all its games were played. results has the games. If ended is
// false, the match did not end early, and the text is empty.
func earlyEndReason(ended bool, results []*referee.GameResult) (reason phrase.Text) {
	if !ended {
		return reason
	}
	var names []string
	isSlow := false
	for _, g := range results {
		for _, seat := range lostSeats(&g.Replay) {
			names = append(names, g.Seats[seat].Name)
		}
		isSlow = isSlow || slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Reason.Kind == fault.ConnectionSlow })
	}
	slices.Sort(names)
	list := strings.Join(slices.Compact(names), ", ")
	if isSlow {
		return phrase.New("ended early: the connection of %s is too slow", list)
	}
	return phrase.New("ended early: %s lost the connection", list)
}

// lostSeats returns the seats that forfeited the game of replay r because the connection to their bot was lost or
// too slow. r may be nil.
func lostSeats(r *referee.Replay) (seats []int) {
	if r == nil {
		return nil
	}
	for _, f := range r.Faults {
		if f.Reason.Kind.IsOfConnection() && f.Seat >= 0 && f.Seat < len(r.Seats) {
			seats = append(seats, f.Seat)
		}
	}
	return seats
}
