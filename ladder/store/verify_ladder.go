package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	stats "github.com/timba-arena/timba/referee/rating"
)

// recount computes the ratings, sums and pairs of a ladder again, match by match
// in their order, as they were at one moment.
type recount struct {
	*verifier
	ladder  queries.Ladder
	formula rating.Formula
	stored  []queries.Entry // by since
	pairs   []queries.Pair
	upto    int64            // of the fit
	places  map[int64]*place // by version, computed
	counts  map[[2]int64]*queries.Pair
	next    int // of stored, which has not come yet
}

// place is an entry and the last match that moved it.
type place struct {
	rating.Entry
	last   int64 // its order; before the first match, that of the last one on the ladder
	lastAt sql.NullInt64
}

func (v *verifier) ladder(id int64) error {
	c := &recount{verifier: v, places: map[int64]*place{}, counts: map[[2]int64]*queries.Pair{}}
	err := v.store.view(v.ctx, func(tx *Tx) (err error) {
		if c.ladder, err = tx.LadderByID(v.ctx, id); err != nil {
			return err
		}
		if c.stored, err = tx.AllEntries(v.ctx, id); err != nil {
			return err
		}
		if c.pairs, err = tx.AllPairs(v.ctx, id); err != nil {
			return err
		}
		fit, err := tx.Fit(v.ctx, id)
		c.upto = fit.Upto
		return none(err, nil)
	})
	if err != nil {
		return err
	}
	if c.formula, err = rating.ParseFormula(c.ladder.Formula); err != nil {
		c.differ(c.where(), "%s", err)
		return nil
	}
	if err := c.matches(); err != nil {
		return err
	}
	c.enter(c.ladder.Finished)
	c.compare()
	return nil
}

func (c *recount) where() string { return "ladder " + c.ladder.Name }

func (c *recount) whereVersion(id int64) string {
	return fmt.Sprintf("ladder %s, version %d", c.ladder.Name, id)
}

// matches goes through the matches in their order.
func (c *recount) matches() error {
	for last := int64(0); ; {
		rows, err := c.store.read.FinishedOnLadder(c.ctx, queries.FinishedOnLadderParams{
			LadderID: nullID(c.ladder.ID), Last: someID(last), Upto: someID(c.ladder.Finished), N: page,
		})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			if last != c.ladder.Finished {
				c.differ(c.where(), "it has finished %d matches, and the last one has order %d", c.ladder.Finished, last)
			}
			return nil
		}
		done, err := c.rebuild(rows)
		if err != nil {
			return err
		}
		for _, r := range done {
			if order := r.row.Ord.Int64; order != last+1 {
				c.differ(c.where(), "no match has order %d", last+1)
			}
			last = r.row.Ord.Int64
			if err := c.rate(r); err != nil {
				return err
			}
		}
	}
}

// enter lets the versions in that came before a match, with the Elo that their
// predecessors have now.
func (c *recount) enter(finished int64) {
	for ; c.next < len(c.stored) && c.stored[c.next].Since <= finished; c.next++ {
		s := c.stored[c.next]
		var predecessor *rating.Entry
		if s.Predecessor.Valid {
			if p := c.places[s.Predecessor.Int64]; p != nil {
				predecessor = &p.Entry
			} else {
				c.differ(c.whereVersion(s.VersionID), "its predecessor, version %d, came after it", s.Predecessor.Int64)
			}
		}
		e := c.formula.Enter(s.VersionID, predecessor, s.Held != 0)
		if s.Start != e.Elo {
			c.differ(c.whereVersion(s.VersionID), "it started at Elo %v where its predecessor had %v", s.Start, e.Elo)
		}
		c.places[s.VersionID] = &place{Entry: e, last: s.Since}
	}
}

// rate moves the ratings by one match and compares what is kept of it with that.
func (c *recount) rate(r *rebuilt) error {
	c.enter(r.row.Ord.Int64 - 1)
	if !r.complete() {
		return nil // what is wrong has been said
	}
	before := make([]rating.Entry, len(r.match.Versions))
	for slot, id := range r.match.Versions {
		p := c.places[id]
		if p == nil {
			r.differ("", "version %d is not on the ladder", id)
			c.found = append(c.found, r.found[len(r.found)-1])
			return nil
		}
		before[slot] = p.Entry
	}
	var repeats *stats.Repeats // nil for a match rated when all deals counted
	if r.row.DistinctDeals.Valid {
		var err error
		if repeats, err = repeatsBefore(c.ctx, c.store.read, c.ladder.ID, r.row.Ord.Int64, r.games); err != nil {
			return err
		}
	}
	where := fmt.Sprintf("match %d", r.row.ID)
	out, err := c.formula.Outcome(r.match, r.variant, before, r.games, repeats)
	if err != nil {
		c.differ(where, "%s", err)
		return nil
	}
	if out.Distinct != r.match.Distinct {
		c.differ(where, "%d of its deals count where its games give %d", r.match.Distinct, out.Distinct)
	}
	if err := c.compareChanges(r, out.Changes); err != nil {
		return err
	}
	for _, e := range out.Entries {
		*c.places[e.VersionID] = place{e, r.row.Ord.Int64, r.row.Finished}
	}
	for _, p := range out.Pairs {
		c.count(p)
	}
	return nil
}

func (c *recount) count(add rating.Pair) {
	key := [2]int64{add.A, add.B}
	p := c.counts[key]
	if p == nil {
		p = &queries.Pair{LadderID: c.ladder.ID, A: add.A, B: add.B}
		c.counts[key] = p
	}
	p.Matches++
	p.Deals += add.Deals
	p.Score += add.Score
	p.Squares += add.Squares
	p.Wins += int64(add.Games.Wins)
	p.Draws += int64(add.Games.Draws)
	p.Losses += int64(add.Games.Losses)
}

// compareChanges compares the changes that a match has with those computed.
func (c *recount) compareChanges(r *rebuilt, computed []ladder.Change) error {
	rows, err := c.store.read.ChangesOf(c.ctx, text([]int64{r.row.ID}))
	if err != nil {
		return err
	}
	where := fmt.Sprintf("match %d", r.row.ID)
	if len(rows) != len(computed) {
		c.differ(where, "it has moved %d versions, not its %d", len(rows), len(computed))
		return nil
	}
	for slot, got := range rows {
		if want := queries.Change(changeRow(c.ladder.ID, computed[slot])); got != want {
			c.differ(where, "slot %d: the change is %s", slot, unlike(changeFigures(got), changeFigures(want)))
		}
	}
	return nil
}

// compare compares the sums with those computed, and the counts of pairs.
func (c *recount) compare() {
	for _, s := range c.stored {
		want := c.places[s.VersionID]
		if want == nil {
			c.differ(c.whereVersion(s.VersionID), "it came after match %d, and there is none", s.Since)
			continue
		}
		got := place{entry(s), s.Last, s.LastAt}
		if got.Elo != want.Elo {
			c.differ(c.whereVersion(s.VersionID), "its Elo is %v where its matches give %v", got.Elo, want.Elo)
			got.Elo = want.Elo
		}
		if got != *want {
			c.differ(c.whereVersion(s.VersionID), "its sums are %s by its matches", unlike(placeFigures(got), placeFigures(*want)))
		}
	}
	if c.upto > c.ladder.Finished {
		c.differ(c.where(), "the fit is of %d matches, and there are %d", c.upto, c.ladder.Finished)
	}
	for _, got := range c.pairs {
		key := [2]int64{got.A, got.B}
		if want := c.counts[key]; want == nil {
			c.differ(c.where(), "versions %d and %d have counts and no match", got.A, got.B)
		} else if got != *want {
			c.differ(c.where(), "the counts of versions %d and %d are %s by their matches", got.A, got.B, unlike(pairFigures(got), pairFigures(*want)))
		}
		delete(c.counts, key)
	}
	var missing [][2]int64
	for key := range c.counts {
		missing = append(missing, key)
	}
	slices.SortFunc(missing, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, key := range missing {
		c.differ(c.where(), "versions %d and %d have matches and no counts", key[0], key[1])
	}
}
