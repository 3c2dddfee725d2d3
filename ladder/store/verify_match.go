package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// rebuilt is a finished match made again from its replays.
type rebuilt struct {
	findings
	played  // its games as the replays tell them, or as stored where there is none
	slots   []queries.HashesOfRow
	result  queries.ResultRow
	stored  []ladder.Game
	first   int64           // its fingerprints that no earlier match had
	attempt queries.Attempt // the one that counts
	// replays and logs are nil where they are damaged.
	replays, logs []part
}

// rebuild makes a finished match again and notes what differs. The error is of a
// database that cannot be read at all.
func (s *Store) rebuild(ctx context.Context, row queries.MatchRow) (*rebuilt, error) {
	r := &rebuilt{played: played{row: row}}
	var err error
	if r.match, err = matchOf(row); err == nil {
		r.variant, err = r.match.Variant()
	}
	if err != nil {
		r.differ(r.where(), "%s", err)
		return r, nil
	}
	if err := s.view(ctx, func(tx *Tx) error { return r.read(ctx, s, tx) }); err != nil {
		return nil, err
	}
	return r, r.check(ctx, s.read)
}

// read reads all that the database has of the match.
func (r *rebuilt) read(ctx context.Context, s *Store, tx *Tx) (err error) {
	if r.slots, err = tx.HashesOf(ctx, r.row.ID); err != nil {
		return err
	}
	for _, slot := range r.slots {
		r.match.Versions = append(r.match.Versions, slot.VersionID)
	}
	attempts, err := tx.AttemptsOf(ctx, text([]int64{r.row.ID}))
	if err != nil {
		return err
	}
	if len(attempts) == 0 {
		r.differ(r.where(), "it is finished and was never begun")
	} else {
		r.attempt = attempts[len(attempts)-1]
	}
	r.checkAttempts(r.row, attempts)
	if err := r.readResult(ctx, s, tx); err != nil {
		return err
	}
	if r.changes, err = tx.ChangesOf(ctx, text([]int64{r.row.ID})); err != nil {
		return err
	}
	if r.logs, err = r.parts(ctx, s, tx, logsKind); err != nil {
		return err
	}
	r.replays, err = r.parts(ctx, s, tx, replaysKind)
	return err
}

// readResult reads the games, none where they are damaged or missing.
func (r *rebuilt) readResult(ctx context.Context, s *Store, tx *Tx) (err error) {
	if r.result, err = tx.ResultOf(ctx, r.row.ID); errors.Is(err, sql.ErrNoRows) {
		r.differ(r.where(), "it is finished and has no result")
		return nil
	}
	if err != nil {
		return err
	}
	if r.stored, err = s.codec.games(r.result); err != nil {
		r.differ(r.where(), "%s", err)
	}
	return nil
}

// parts returns the replays or the logs of the match, nil where they are not as they were kept.
func (r *rebuilt) parts(ctx context.Context, s *Store, tx *Tx, kind string) ([]part, error) {
	parts, err := s.parts(ctx, tx, r.row.ID, kind)
	var d damage
	if errors.As(err, &d) {
		r.differ(r.where(), "%s", d)
		return nil, nil
	}
	return append([]part{}, parts...), err
}

// check compares all that was read. The error is of the database.
func (r *rebuilt) check(ctx context.Context, tx *Tx) error {
	r.games = slices.Clone(r.stored)
	r.checkPlaces(replaysKind, r.replays)
	r.checkPlaces(logsKind, r.logs)
	if !r.match.Rated && len(r.changes) > 0 {
		r.differ(r.where(), "it has changes of ratings and is not rated")
	}
	if r.replays == nil {
		return nil
	}
	return r.checkGames(ctx, tx)
}

// place says where a game is.
func (r *rebuilt) place(deal, rotation int) string {
	return fmt.Sprintf("%s, deal %d, rotation %d", r.where(), deal, rotation)
}

// checkPlaces looks for documents that are there twice, or of games and seats that are not there.
func (r *rebuilt) checkPlaces(kind string, parts []part) {
	seats := map[[2]int]int{} // of the games
	for _, g := range r.games {
		seats[[2]int{g.Deal, g.Rotation}] = len(g.Seats)
		if kind == replaysKind {
			seats[[2]int{g.Deal, g.Rotation}] = 1
		}
	}
	seen := map[[3]int]bool{}
	for _, p := range parts {
		key := [3]int{p.Deal, p.Rotation, p.Seat}
		if p.Seat >= seats[[2]int{p.Deal, p.Rotation}] {
			r.differ(r.place(p.Deal, p.Rotation), "the %s have one of seat %d, which there is not", kind, p.Seat)
		}
		if seen[key] {
			r.differ(r.place(p.Deal, p.Rotation), "the %s have seat %d twice", kind, p.Seat)
		}
		seen[key] = true
	}
}

// checkGames rebuilds all games.
func (r *rebuilt) checkGames(ctx context.Context, tx *Tx) error {
	replays := make([]*referee.Replay, len(r.games)) // nil for those that are none
	for i := range r.games {
		g := &r.games[i]
		data := find(r.replays, g.Deal, g.Rotation, 0)
		if data == nil {
			r.differ(r.place(g.Deal, g.Rotation), "the replay is missing")
			continue
		}
		var err error
		if replays[i], err = referee.DecodeReplay(data); err != nil {
			r.differ(r.place(g.Deal, g.Rotation), "%s", err)
		}
	}
	if err := rating.Complete(r.match.Deals, len(r.slots), r.games); err != nil {
		r.differ(r.where(), "%s", err)
		return nil
	}
	for i, replay := range replays {
		if replay != nil {
			r.checkGame(i, replay)
		}
	}
	if err := r.checkRepeats(ctx, tx, replays); err != nil {
		return err
	}
	for i, g := range r.games {
		r.compareGame(r.stored[i], g)
	}
	want := r.row
	want.Reason = early(len(r.games) < r.match.Deals*len(r.slots), replays)
	r.compare(r.where(), r.row, want)
	result := r.result
	result.LadderID, result.Games, result.Took = r.row.LadderID, int64(len(r.games)), tookAll(r.games)
	r.compare(r.where(), r.result, result)
	r.checkFaulty()
	return nil
}

// checkGame plays game i again, and takes its seats from its replay.
func (r *rebuilt) checkGame(i int, replay *referee.Replay) {
	g := &r.games[i]
	where := r.place(g.Deal, g.Rotation)
	if m := replay.Match; m.Deal != g.Deal || m.Rotation != g.Rotation {
		r.differ(where, "the replay is of deal %d, rotation %d", m.Deal, m.Rotation)
		return
	}
	r.checkReplay(where, replay)
	again := gameOf(replay, len(r.slots))
	again.ID, again.MatchID, again.Took, again.Repeated = g.ID, g.MatchID, g.Took, g.Repeated
	*g = again
}

// compareGame compares a game with that of its replay.
func (r *rebuilt) compareGame(got, want ladder.Game) {
	where, seats, due := r.place(want.Deal, want.Rotation), got.Seats, want.Seats
	got.Seats, want.Seats = nil, nil
	r.compare(where, got, want)
	if len(seats) != len(due) {
		r.differ(where, "there are %d seats where the replay has %d", len(seats), len(due))
	}
	for i := range min(len(seats), len(due)) {
		r.compare(fmt.Sprintf("%s, seat %d", where, i), seats[i], due[i])
	}
}

// checkRepeats marks the games of a rated match that repeat earlier ones by their fingerprints, which have
// to be stored.
func (r *rebuilt) checkRepeats(ctx context.Context, tx *Tx, replays []*referee.Replay) error {
	var prints []int64
	if slices.Contains(replays, nil) {
		return nil // what is wrong has been said
	}
	if r.match.Rated {
		prints = fingerprints(replays, r.variant, r.match.Versions)
	}
	for i := range r.games {
		r.games[i].Repeated = false
	}
	return markRepeats(r.games, prints, func(print int64) (int64, error) {
		first, err := tx.FirstPlayed(ctx, r.row.LadderID.Int64, print)
		switch {
		case errors.Is(err, sql.ErrNoRows), first > r.row.Ord.Int64:
			r.differ(r.where(), "the fingerprint %d of a game is not kept, or is of a later match", print)
			return 0, nil
		case first == r.row.Ord.Int64:
			r.first++
			return 0, err
		}
		return first, err
	})
}

// checkReplay compares a replay with its match and with who sat there, and plays it again.
func (r *rebuilt) checkReplay(where string, d *referee.Replay) {
	var errs []error
	if err := checkReplay(d, r.match, r.variant, r.attempt); err != nil {
		errs = []error{err}
	} else {
		errs = d.Verify(r.variant.Game)
	}
	for _, err := range errs {
		r.differ(where, "%s", strings.TrimPrefix(err.Error(), "replay: "))
	}
	for i, s := range d.Seats {
		slot := r.slots[rules.BotAt(i, d.Match.Rotation, len(r.slots))]
		r.sat(fmt.Sprintf("%s, seat %d", where, i), s, slot.Name, slot.Hash, slot.PersonID.Valid)
	}
}

// sat compares who sat at a seat by its replay with the version that did. The program of a house bot
// changes with timba, so that the hash is only that of the versions of people.
func (f *findings) sat(where string, s referee.ReplaySeat, bot, hash string, hashed bool) {
	name, _, _ := strings.Cut(s.Name, "/") // the number of the version follows
	if name, _, _ = strings.Cut(name, "#"); name != bot {
		f.differ(where, "%q sat there by the replay, and %q by the version", s.Name, bot)
	}
	if hashed && s.SHA256 != hash {
		f.differ(where, "the program %s ran by the replay, and %s by the version", s.SHA256, hash)
	}
}

// checkFaulty compares the numbers of the slots, and which have a fault with the seats of the games.
func (r *rebuilt) checkFaulty() {
	faulty := faultySlots(r.games, len(r.slots))
	for slot, s := range r.slots {
		if s.Slot != int64(slot) {
			r.differ(r.where(), "it has slot %d where slot %d is due", s.Slot, slot)
		}
		if due := oneIf(faulty[slot]); s.Faulty != due {
			r.differ(r.where(), "slot %d: the mark of a fault is %d where its games give %d", slot, s.Faulty, due)
		}
	}
}

// complete reports whether a match has all that ratings need.
func (r *rebuilt) complete() bool {
	if r.variant == nil || len(r.slots) == 0 || rating.Complete(r.match.Deals, len(r.slots), r.games) != nil {
		return false
	}
	for _, g := range r.games {
		if len(g.Seats) != r.variant.Players {
			return false
		}
	}
	return true
}
