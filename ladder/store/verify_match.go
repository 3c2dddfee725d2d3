package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// rebuilt is a finished match made again from its replays.
type rebuilt struct {
	row     queries.Match
	match   ladder.Match
	variant *rules.Variant
	games   []ladder.Game // their seats as the replays tell them, or as stored where there is none
	found   []Difference
}

func (r *rebuilt) differ(where, format string, args ...any) {
	r.found = append(r.found, Difference{fmt.Sprintf("match %d%s", r.row.ID, where), fmt.Sprintf(format, args...)})
}

// rebuild makes a finished match again and notes what differs. The error is of a
// database that cannot be read at all.
func (s *Store) rebuild(ctx context.Context, row queries.Match) (*rebuilt, error) {
	r := &rebuilt{row: row}
	err := s.view(ctx, func(tx *Tx) error {
		if _, err := matchOf(row); err != nil {
			r.differ("", "%s", err)
			return nil
		}
		slots, err := tx.HashesOf(ctx, row.ID)
		if err != nil {
			return err
		}
		attempts, err := tx.AttemptsOf(ctx, text([]int64{row.ID}))
		if err != nil {
			return err
		}
		if r.games, err = gamesOf(ctx, tx, row.ID); err != nil {
			return err
		}
		replays, whole, err := s.checkParts(ctx, tx, r)
		if err != nil {
			return err
		}
		list, err := tx.fill(ctx, []queries.Match{row})
		if err != nil {
			return err
		}
		r.match = list[0]
		g, err := games.Find(r.match.Game)
		if err == nil {
			r.variant, err = g.Resolve(r.match.Options)
		}
		if err != nil {
			r.differ("", "%s", err)
			return nil
		}
		last := r.checkAttempts(attempts)
		if whole {
			r.checkGames(slots, last, decodeAll(replays))
		}
		return nil
	})
	return r, err
}

// checkParts reads the replays and the logs of a match and returns the replays, and whether they are
// as they were kept.
func (s *Store) checkParts(ctx context.Context, tx *Tx, r *rebuilt) (replays []part, whole bool, err error) {
	for _, kind := range []string{logsKind, replaysKind} {
		replays, err = s.parts(ctx, tx, r.row.ID, kind)
		var d damage
		if whole = err == nil; errors.As(err, &d) {
			r.differ("", "%s", d)
		} else if err != nil {
			return nil, false, err
		}
	}
	return replays, whole, nil
}

// decodeAll returns the replays of a match by deal and rotation; those that are no replays are
// errors.
func decodeAll(parts []part) map[[2]int]document {
	out := make(map[[2]int]document, len(parts))
	for _, p := range parts {
		replay, err := referee.DecodeReplay(p.data)
		out[[2]int{p.deal, p.rotation}] = document{replay, err}
	}
	return out
}

type document struct {
	replay *referee.Replay
	err    error
}

// checkAttempts compares seeds with commitments and returns the attempt that counts.
func (r *rebuilt) checkAttempts(rows []queries.Attempt) queries.Attempt {
	var last queries.Attempt
	for i, a := range rows {
		where := fmt.Sprintf(", attempt %d", a.Number)
		if a.Number != int64(i+1) {
			r.differ(where, "it is attempt %d of the match", i+1)
		}
		if want := referee.Commitment(rules.Seed(hexOf(a.Seed))); want != hexOf(a.Commitment) {
			r.differ(where, "the commitment is %s where SHA-256 of the seed is %s", hexOf(a.Commitment), want)
		}
		if !a.Ended.Valid {
			r.differ(where, "it has not ended, and the match is finished")
		}
		last = a
	}
	if len(rows) == 0 {
		r.differ("", "it is finished and was never begun")
	}
	return last
}

// checkGames rebuilds all games.
func (r *rebuilt) checkGames(slots []queries.HashesOfRow, a queries.Attempt, docs map[[2]int]document) {
	for i := range r.games {
		if d := docs[[2]int{r.games[i].Deal, r.games[i].Rotation}]; d.replay != nil {
			r.games[i].Lost = len(lostSeats(d.replay)) > 0
		}
	}
	if err := rating.Complete(r.match.Deals, len(slots), r.games); err != nil {
		r.differ("", "%s", err)
		return
	}
	var took time.Duration
	for i := range r.games {
		g := &r.games[i]
		took += g.Took
		where := fmt.Sprintf(", deal %d, rotation %d", g.Deal, g.Rotation)
		d, ok := docs[[2]int{g.Deal, g.Rotation}]
		if !ok {
			d.err = errors.New("the replay is missing")
		}
		if d.err != nil {
			r.differ(where, "%s", d.err)
			continue
		}
		for _, err := range d.replay.Verify(r.variant.Game) {
			r.differ(where, "%s", strings.TrimPrefix(err.Error(), "replay: "))
		}
		r.checkReplay(where, d.replay, slots, a)
		replayed := gameOf(d.replay, len(slots))
		if r.row.DistinctDeals.Valid {
			replayed.Fingerprint = fingerprint(d.replay, r.variant, r.match.Versions)
		}
		if err := agree(*g, replayed); err != nil {
			r.differ(where, "%s", err)
		}
		g.Seats, g.Fingerprint = replayed.Seats, replayed.Fingerprint
	}
	if len(docs) > len(r.games) {
		r.differ("", "there are %d replays for %d games", len(docs), len(r.games))
	}
	r.checkFaulty(slots)
	if took.Microseconds() != r.row.Took.Int64 {
		r.differ("", "it took %d µs where its games took %d", r.row.Took.Int64, took.Microseconds())
	}
}

// checkFaulty compares which slots have a fault with the seats of the games.
func (r *rebuilt) checkFaulty(slots []queries.HashesOfRow) {
	faulty := make([]int64, len(slots))
	for _, g := range r.games {
		for _, s := range g.Seats {
			if s.Fault != "" && s.Slot < len(slots) {
				faulty[s.Slot] = 1
			}
		}
	}
	for slot, s := range slots {
		if s.Faulty != faulty[slot] {
			r.differ("", "slot %d: the mark of a fault is %d where its games give %d", slot, s.Faulty, faulty[slot])
		}
	}
}

// checkReplay compares a replay with its match: options, seed, who sat there.
func (r *rebuilt) checkReplay(where string, d *referee.Replay, slots []queries.HashesOfRow, a queries.Attempt) {
	if v, err := d.Resolve(r.variant.Game); err != nil || !slices.Equal(v.Settings, r.variant.Settings) {
		r.differ(where, "the replay is of %s %s where the match is of %s %s", d.Game, optionsText(d.Options), r.row.Game, optionsText(r.match.Options))
	}
	if seed := hexOf(a.Seed); d.Match.Seed == nil || *d.Match.Seed != seed {
		r.differ(where, "the replay does not have the seed of attempt %d", a.Number)
	}
	for i, s := range d.Seats {
		slot := slots[rules.BotAt(i, max(0, d.Match.Rotation), len(slots))]
		// A house bot goes on under the hash of a new program.
		if slot.PersonID.Valid && s.SHA256 != slot.Hash {
			r.differ(where, "at seat %d ran %s where the version is %s", i, s.SHA256, slot.Hash)
		}
	}
}

// agree returns an error that names the first difference between the rows of a game
// and its replay.
func agree(stored, replayed ladder.Game) error {
	switch {
	case replayed.Deal != stored.Deal || replayed.Rotation != stored.Rotation:
		return fmt.Errorf("the replay is of deal %d, rotation %d", replayed.Deal, replayed.Rotation)
	case stored.Plies != replayed.Plies:
		return fmt.Errorf("there are %d plies where the replay has %d", stored.Plies, replayed.Plies)
	case stored.Fingerprint != replayed.Fingerprint:
		return fmt.Errorf("the fingerprint is %x where the replay has %x", stored.Fingerprint, replayed.Fingerprint)
	case len(stored.Seats) != len(replayed.Seats):
		return fmt.Errorf("there are %d seats where the replay has %d", len(stored.Seats), len(replayed.Seats))
	}
	for i, s := range stored.Seats {
		if s != replayed.Seats[i] {
			return fmt.Errorf("seat %d is %s by its replay", i, unlike(seatFigures(s), seatFigures(replayed.Seats[i])))
		}
	}
	return nil
}

// complete reports whether a match has all that ratings need.
func (r *rebuilt) complete() bool {
	slots := len(r.match.Versions)
	return r.variant != nil && slots > 0 && rating.Complete(r.match.Deals, slots, r.games) == nil &&
		!slices.ContainsFunc(r.games, func(g ladder.Game) bool { return len(g.Seats) != r.variant.Players })
}
