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
	last    int64            // the order of the last match
	bots    map[int64]string // by version
	came    map[string]bool  // bots with a version on the ladder
	active  []int64          // versions that play and must not, or the other way round
	places  map[int64]*place // by version, computed
	counts  map[[2]int64]*queries.Pair
	next    int // of stored, which has not come yet
}

// place is an entry and the last match that moved it.
type place struct {
	rating.Entry
	start  float64
	last   int64 // its order; before the first match, that of the last one on the ladder
	lastAt sql.NullInt64
}

func (v *verifier) ladder(id int64) error {
	c := &recount{verifier: v, bots: map[int64]string{}, came: map[string]bool{}, places: map[int64]*place{}, counts: map[[2]int64]*queries.Pair{}}
	if err := v.store.view(v.ctx, func(tx *Tx) error { return c.read(tx, id) }); err != nil {
		return err
	}
	var err error
	if c.last != c.ladder.Finished {
		c.differ(c.where(), "it has finished %d matches, and the last one has order %d", c.ladder.Finished, c.last)
	}
	if c.formula, err = rating.ParseFormula(c.ladder.Formula); err != nil {
		c.differ(c.where(), "%s", err)
		return nil
	}
	if err := c.matches(); err != nil {
		return err
	}
	c.enter(c.ladder.Finished)
	c.compareAll()
	return nil
}

// read reads what is compared, as it is at one moment.
func (c *recount) read(tx *Tx, id int64) (err error) {
	if c.ladder, err = tx.LadderByID(c.ctx, id); err != nil {
		return err
	}
	if c.last, err = tx.LastOrder(c.ctx, nullID(id)); err != nil {
		return err
	}
	entries, err := tx.AllEntries(c.ctx, id)
	if err != nil {
		return err
	}
	c.stored = asTheyCame(entries)
	bots, err := tx.BotsOnLadder(c.ctx, id)
	if err != nil {
		return err
	}
	for _, b := range bots {
		c.bots[b.VersionID] = b.Name
	}
	if c.active, err = tx.WronglyActive(c.ctx, id); err != nil {
		return err
	}
	if c.pairs, err = tx.AllPairs(c.ctx, id); err != nil {
		return err
	}
	fit, err := tx.Fit(c.ctx, id)
	c.upto = fit.Upto
	return none(err, nil)
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
		bot := c.bots[s.VersionID]
		var predecessor *rating.Entry
		if s.Predecessor.Valid {
			if p := c.places[s.Predecessor.Int64]; p != nil {
				predecessor = &p.Entry
			} else {
				c.differ(c.whereVersion(s.VersionID), "its predecessor, version %d, came after it", s.Predecessor.Int64)
			}
			if other := c.bots[s.Predecessor.Int64]; other != bot {
				c.differ(c.whereVersion(s.VersionID), "its predecessor is of %q, and it is of %q", other, bot)
			}
		} else if c.came[bot] {
			c.differ(c.whereVersion(s.VersionID), "it has no predecessor, and another version of %q came before it", bot)
		}
		e := c.formula.Enter(s.VersionID, predecessor, bot == ladder.Anchor)
		c.places[s.VersionID], c.came[bot] = &place{Entry: e, start: e.Elo, last: s.Since}, true
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
			c.differ(r.where, "version %d is not on the ladder", id)
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
	out, err := c.formula.Outcome(r.match, r.variant, before, r.games, repeats)
	if err != nil {
		c.differ(r.where, "%s", err)
		return nil
	}
	if out.Distinct != r.match.Distinct {
		c.differ(r.where, "%d of its deals count where its games give %d", r.match.Distinct, out.Distinct)
	}
	c.compareChanges(r, out.Changes)
	for _, e := range out.Entries {
		p := c.places[e.VersionID]
		p.Entry, p.last, p.lastAt = e, r.row.Ord.Int64, r.row.Finished
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
func (c *recount) compareChanges(r *rebuilt, computed []ladder.Change) {
	if len(r.changes) != len(computed) {
		c.differ(r.where, "it has moved %d versions, not its %d", len(r.changes), len(computed))
		return
	}
	for slot, got := range r.changes {
		c.compare(fmt.Sprintf("%s, slot %d", r.where, slot), got, queries.Change(changeRow(c.ladder.ID, computed[slot])))
	}
}

// compareAll compares the sums with those computed, and the counts of pairs.
func (c *recount) compareAll() {
	for _, s := range c.stored {
		p := c.places[s.VersionID]
		if p == nil {
			c.differ(c.whereVersion(s.VersionID), "it came after match %d, and there is none", s.Since)
			continue
		}
		want := entryRow(p.Entry)
		want.LadderID, want.Predecessor, want.Since, want.Start = s.LadderID, s.Predecessor, s.Since, p.start
		want.Active, want.Last, want.LastAt, want.Fit, want.PlusMinus = s.Active, p.last, p.lastAt, s.Fit, s.PlusMinus
		if slices.Contains(c.active, s.VersionID) {
			want.Active = 1 - s.Active
		}
		c.compare(c.whereVersion(s.VersionID), s, want)
	}
	for _, id := range c.active {
		if c.bots[id] == "" {
			c.differ(c.whereVersion(id), "it plays, and is not on the ladder")
		}
	}
	if c.upto > c.ladder.Finished {
		c.differ(c.where(), "the fit is of %d matches, and there are %d", c.upto, c.ladder.Finished)
	}
	for _, got := range c.pairs {
		key := [2]int64{got.A, got.B}
		if want := c.counts[key]; want == nil {
			c.differ(c.where(), "versions %d and %d have counts and no match", got.A, got.B)
		} else {
			c.compare(fmt.Sprintf("%s, versions %d and %d", c.where(), got.A, got.B), got, *want)
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
