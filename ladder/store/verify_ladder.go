package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// recount compares the ratings, sums and pairs of a ladder, as they were at one moment, with those that
// its matches give.
type recount struct {
	*fold
	found  *verifier
	pairs  []queries.Pair
	last   int64   // the order of the last match
	active []int64 // versions that play and must not, or the other way round
	prints int64   // fingerprints that are kept
	first  int64   // those that its matches give
	counts map[[2]int64]*queries.Pair
}

func (v *verifier) ladder(l queries.Ladder) error {
	c := &recount{found: v, counts: map[[2]int64]*queries.Pair{}}
	formula, err := rating.ParseFormula(l.Formula)
	if err != nil {
		v.differ("ladder "+l.Name, "%s", err)
		return nil
	}
	if err := v.store.view(v.ctx, func(tx *Tx) error { return c.read(tx, l.ID, formula) }); err != nil {
		return err
	}
	c.tx, c.each = v.store.read, c.compareMatch // matches do not change any more
	c.wrong = func(where, format string, args ...any) error {
		v.differ(where, format, args...)
		return nil
	}
	c.played = func(rows []queries.MatchRow) (list []*played, err error) {
		done, err := v.rebuild(rows)
		for _, r := range done {
			if !r.complete() {
				r.variant = nil // what is wrong has been said
			}
			c.first += r.first
			list = append(list, &r.played)
		}
		return list, err
	}
	if c.last > c.ladder.Finished {
		c.found.differ(c.where(), "it has finished %d matches, and the last one has order %d", c.ladder.Finished, c.last)
	}
	if err := c.run(func(int64) {}); err != nil {
		return err
	}
	if c.first != c.prints {
		v.differ(c.where(), "%d fingerprints of games are kept, and its matches have %d", c.prints, c.first)
	}
	c.compareEntries()
	c.comparePairs()
	return nil
}

// read reads what is compared, as it is at one moment.
func (c *recount) read(tx *Tx, id int64, formula rating.Formula) error {
	l, err := tx.LadderByID(c.found.ctx, id)
	if err != nil {
		return err
	}
	if c.fold, err = newFold(c.found.ctx, tx, l, formula); err != nil {
		return err
	}
	if c.last, err = tx.LastOrder(c.found.ctx, nullID(id)); err != nil {
		return err
	}
	if c.prints, err = tx.CountFingerprints(c.found.ctx, id, l.Finished); err != nil {
		return err
	}
	if c.active, err = tx.WronglyActive(c.found.ctx, id); err != nil {
		return err
	}
	if c.pairs, err = tx.AllPairs(c.found.ctx, id); err != nil {
		return err
	}
	return nil
}

// compareMatch compares what is kept of a match with what it moves, and counts its pairs.
func (c *recount) compareMatch(p *played, out rating.Outcome) error {
	row := p.row
	row.DistinctDeals = someID(int64(out.Distinct))
	c.found.compare(p.where(), p.row, row)
	for _, pair := range out.Pairs {
		c.count(pair)
	}
	if len(p.changes) != len(out.Changes) {
		c.found.differ(p.where(), "it has moved %d versions, not its %d", len(p.changes), len(out.Changes))
		return nil
	}
	for slot, got := range p.changes {
		want := queries.Change(changeRow(c.ladder.ID, out.Changes[slot]))
		c.found.compare(fmt.Sprintf("%s, slot %d", p.where(), slot), got, want)
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

// compareEntries compares who is on the ladder, with which ratings and sums.
func (c *recount) compareEntries() {
	for _, e := range c.entries {
		where, p := c.whereVersion(e.VersionID), c.rated[e.VersionID]
		if p == nil {
			c.found.differ(where, "it came after match %d, and there is none", e.Since)
			continue
		}
		want := e
		want.Elo, want.Uncertainty, want.Held, want.Matches, want.Faults = p.Elo, p.Uncertainty, oneIf(p.Fixed), int64(p.Matches), int64(p.Faults)
		want.Games, want.Wins, want.Draws, want.Losses = int64(p.Games), int64(p.Wins), int64(p.Draws), int64(p.Losses)
		want.Start, want.Last, want.LastAt = p.start, p.last, p.lastAt
		if slices.Contains(c.active, e.VersionID) {
			want.Active = 1 - e.Active
		}
		c.found.compare(where, e, want)
	}
	for _, id := range c.active {
		if c.bots[id].VersionID == 0 {
			c.found.differ(c.whereVersion(id), "it plays, and is not on the ladder")
		}
	}
}

// comparePairs compares the counts of pairs.
func (c *recount) comparePairs() {
	for _, got := range c.pairs {
		key := [2]int64{got.A, got.B}
		if want := c.counts[key]; want == nil {
			c.found.differ(c.where(), "versions %d and %d have counts and no match", got.A, got.B)
		} else {
			c.found.compare(fmt.Sprintf("%s, versions %d and %d", c.where(), got.A, got.B), got, *want)
		}
		delete(c.counts, key)
	}
	missing := slices.SortedFunc(maps.Keys(c.counts), func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
	for _, key := range missing {
		c.found.differ(c.where(), "versions %d and %d have matches and no counts", key[0], key[1])
	}
}
