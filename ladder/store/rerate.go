package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Rerated is a ladder that was rated again.
type Rerated struct {
	Ladder   string           `json:"ladder"`
	Matches  int64            `json:"matches"`
	Before   rating.Formula   `json:"before"`
	After    rating.Formula   `json:"after"`
	Versions []ReratedVersion `json:"versions"` // that the ladder has or had, those with the highest new Elo first
}

// ReratedVersion is a version before and after.
type ReratedVersion struct {
	Bot     string  `json:"bot"`
	Number  int     `json:"version"`
	Matches int     `json:"matches"`
	Before  float64 `json:"before"` // Elo
	After   float64 `json:"after"`
}

// Rerate computes all ratings of a ladder again by the current formula, from its matches in their
// order, and keeps them with the formula; Verify then finds no difference. It is one transaction:
// a stop changes nothing, and nor does a dry run. It reads a page of matches at a time. progress,
// if not nil, is told how many of the matches are done. It is only for who has the directory's lock.
func (s *Store) Rerate(ctx context.Context, name string, dry bool, progress func(done, total int64)) (out Rerated, err error) {
	errDry := errors.New("a dry run")
	err = s.update(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		from, err := rating.ParseFormula(l.Formula)
		if err != nil {
			return fmt.Errorf("data: ladder %q: %w", name, err)
		}
		r := &rerating{store: s, from: from}
		if r.fold, err = newFold(ctx, tx, l, s.formula); err != nil {
			return err
		}
		r.played, r.each, r.wrong = r.stored, r.change, r.damaged
		err = r.run(func(done int64) {
			if progress != nil {
				progress(done, l.Finished)
			}
		})
		if err == nil {
			out, err = r.result()
		}
		if err == nil && dry {
			err = errDry
		}
		if err == nil {
			err = r.keep()
		}
		return err
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	return out, err
}

// rerating is one run of Rerate.
type rerating struct {
	*fold
	store *Store
	from  rating.Formula
}

func (r *rerating) damaged(where, format string, args ...any) error {
	return unavailable("timba admin verify says what differs",
		"data: ladder %q cannot be rated again: %s: %s", r.ladder.Name, where, fmt.Sprintf(format, args...))
}

// stored returns matches with the games that are stored.
func (r *rerating) stored(rows []queries.MatchRow) (out []*played, err error) {
	list, err := r.tx.fill(r.ctx, rows)
	if err != nil {
		return nil, err
	}
	for i, m := range list {
		p := &played{row: rows[i], match: m}
		if p.variant, err = m.Variant(); err != nil {
			return nil, err
		}
		result, err := r.tx.ResultOf(r.ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if p.games, err = r.store.codec.games(result); err != nil {
			return nil, r.damaged(p.where(), "%s", err)
		}
		out = append(out, p)
	}
	return out, nil
}

// change keeps what a match moves.
func (r *rerating) change(p *played, out rating.Outcome) error {
	for slot, e := range out.Entries {
		c := changeRow(r.ladder.ID, out.Changes[slot])
		n, err := r.tx.RerateChange(r.ctx, queries.RerateChangeParams{
			EloBefore: c.EloBefore, EloAfter: c.EloAfter, K: c.K, Score: c.Score, Expected: c.Expected, Uncertainty: c.Uncertainty,
			MatchID: p.row.ID, Slot: int64(slot), VersionID: e.VersionID,
		})
		if err != nil {
			return err
		}
		if n != 1 {
			return r.damaged(p.where(), "there is no change of slot %d", slot)
		}
	}
	return nil
}

// keep keeps the new ratings and the formula.
func (r *rerating) keep() error {
	r.tx.forgets = true
	for id, p := range r.rated {
		err := r.tx.RerateEntry(r.ctx, queries.RerateEntryParams{
			Start: p.start, Elo: p.Elo, Uncertainty: p.Uncertainty, LadderID: r.ladder.ID, VersionID: id,
		})
		if err != nil {
			return err
		}
	}
	return r.tx.SetFormula(r.ctx, r.formula.String(), r.ladder.ID)
}

// result returns what has changed.
func (r *rerating) result() (Rerated, error) {
	out := Rerated{Ladder: r.ladder.Name, Matches: r.ladder.Finished, Before: r.from, After: r.formula, Versions: []ReratedVersion{}}
	for _, e := range r.entries {
		p := r.rated[e.VersionID]
		if p == nil {
			return out, r.damaged(r.whereVersion(e.VersionID), "it came after match %d, and there is none", e.Since)
		}
		bot := r.bots[e.VersionID]
		out.Versions = append(out.Versions, ReratedVersion{
			Bot: bot.Name, Number: int(bot.Number), Matches: p.Matches, Before: e.Elo, After: p.Elo,
		})
	}
	slices.SortStableFunc(out.Versions, func(a, b ReratedVersion) int { return cmp.Compare(b.After, a.After) })
	return out, nil
}
