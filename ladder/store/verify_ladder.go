package store

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder/elo"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// recount computes the ratings, sums and pairs of a ladder again, match by match
// in their order, as they were at one moment.
type recount struct {
	*verifier
	ladder  queries.Ladder
	stored  []queries.Entry // by since
	pairs   []queries.Pair
	upto    int64                    // of the fit
	entries map[int64]*queries.Entry // by version, computed
	counts  map[[2]int64]*queries.Pair
	next    int // of stored, which has not come yet
}

func (v *verifier) ladder(id int64) error {
	c := &recount{verifier: v, entries: map[int64]*queries.Entry{}, counts: map[[2]int64]*queries.Pair{}}
	err := v.store.view(v.ctx, func(q *queries.Queries) (err error) {
		if c.ladder, err = q.LadderByID(v.ctx, id); err != nil {
			return err
		}
		if c.stored, err = q.AllEntries(v.ctx, id); err != nil {
			return err
		}
		if c.pairs, err = q.AllPairs(v.ctx, id); err != nil {
			return err
		}
		fit, err := q.Fit(v.ctx, id)
		c.upto = fit.Upto
		return none(err, nil)
	})
	if err != nil {
		return err
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
		start, uncertainty := elo.Start, elo.Newcomer
		if s.Predecessor.Valid {
			if p := c.entries[s.Predecessor.Int64]; p != nil {
				start = p.Elo
			} else {
				c.differ(c.whereVersion(s.VersionID), "its predecessor, version %d, came after it", s.Predecessor.Int64)
			}
		}
		if s.Held != 0 {
			start, uncertainty = elo.AnchorElo, 0
		}
		if s.Start != start {
			c.differ(c.whereVersion(s.VersionID), "it started at Elo %v where its predecessor had %v", s.Start, start)
		}
		c.entries[s.VersionID] = &queries.Entry{Elo: start, Uncertainty: uncertainty, Held: s.Held, Last: s.Since}
	}
}

// rate moves the ratings by one match and holds what is kept of it against that.
func (c *recount) rate(r *rebuilt) error {
	c.enter(r.row.Ord.Int64 - 1)
	if !r.complete() {
		return nil // what is wrong has been said
	}
	entries := make([]queries.Entry, len(r.versions))
	for slot, id := range r.versions {
		e := c.entries[id]
		if e == nil {
			r.differ("", "version %d is not on the ladder", id)
			c.found = append(c.found, r.found[len(r.found)-1])
			return nil
		}
		entries[slot] = *e
	}
	out, err := outcomeOf(r.variant, entries, r.games)
	if err != nil {
		c.differ(fmt.Sprintf("match %d", r.row.ID), "%s", err)
		return nil
	}
	if err := c.compareChanges(r, entries, out); err != nil {
		return err
	}
	for slot, id := range r.versions {
		e, sum := c.entries[id], out.sums[slot]
		e.Elo, e.Uncertainty, e.Last, e.LastAt = out.moves[slot].After, out.moves[slot].Uncertainty, r.row.Ord.Int64, r.row.Finished
		e.Matches++
		e.Games += sum.games
		e.Wins += sum.wins
		e.Draws += sum.draws
		e.Losses += sum.losses
		e.Faults += sum.faults
	}
	for _, p := range out.pairs {
		c.count(pairRow(c.ladder.ID, r.versions[p.A], r.versions[p.B], p))
	}
	return nil
}

func (c *recount) count(add queries.AddPairParams) {
	key := [2]int64{add.A, add.B}
	p := c.counts[key]
	if p == nil {
		p = &queries.Pair{LadderID: add.LadderID, A: add.A, B: add.B}
		c.counts[key] = p
	}
	p.Matches++
	p.Deals += add.Deals
	p.Score += add.Score
	p.Squares += add.Squares
}

// compareChanges holds the changes that a match has against those computed.
func (c *recount) compareChanges(r *rebuilt, entries []queries.Entry, out outcome) error {
	rows, err := c.store.read.ChangesOf(c.ctx, []int64{r.row.ID})
	if err != nil {
		return err
	}
	where := fmt.Sprintf("match %d", r.row.ID)
	if len(rows) != len(r.versions) {
		c.differ(where, "it has moved %d versions, not its %d", len(rows), len(r.versions))
		return nil
	}
	for slot, got := range rows {
		move := out.moves[slot]
		want := queries.Change{
			MatchID: r.row.ID, Slot: int64(slot), LadderID: c.ladder.ID, VersionID: r.versions[slot], Number: entries[slot].Matches + 1,
			EloBefore: move.Before, EloAfter: move.After, K: move.K, Score: move.Score, Expected: move.Expected, Uncertainty: move.Uncertainty,
		}
		if got != want {
			c.differ(where, "slot %d: the change is %+v where it has to be %+v", slot, got, want)
		}
	}
	return nil
}

// compare holds the sums against those computed, and the counts of pairs.
func (c *recount) compare() {
	for _, got := range c.stored {
		want := c.entries[got.VersionID]
		if want == nil {
			c.differ(c.whereVersion(got.VersionID), "it came after match %d, and there is none", got.Since)
			continue
		}
		full := *want
		// What does not follow from matches is as it is.
		full.LadderID, full.VersionID, full.Predecessor, full.Since, full.Start = got.LadderID, got.VersionID, got.Predecessor, got.Since, got.Start
		full.Active, full.Fit, full.PlusMinus = got.Active, got.Fit, got.PlusMinus
		if got.Elo != full.Elo {
			c.differ(c.whereVersion(got.VersionID), "its Elo is %v where its matches give %v", got.Elo, full.Elo)
			got.Elo = full.Elo
		}
		if got != full {
			c.differ(c.whereVersion(got.VersionID), "its sums are %+v where its matches give %+v", got, full)
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
			c.differ(c.where(), "the counts of versions %d and %d are %+v where their matches give %+v", got.A, got.B, got, *want)
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
