package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/rules"
)

// fold rates the matches of a ladder again, in their order, by a formula: Verify compares what comes
// out, and Rerate keeps it.
type fold struct {
	ctx     context.Context
	tx      *Tx
	ladder  queries.Ladder
	formula rating.Formula
	entries []queries.StandingRow         // as they came
	bots    map[int64]queries.StandingRow // the same by version

	// played returns matches with their games, as rebuilt from their rows.
	played func([]queries.MatchRow) ([]*played, error)
	// each gets each match with what it moves.
	each func(*played, rating.Outcome) error
	// wrong gets what cannot be; with an error the fold ends.
	wrong func(where, format string, args ...any) error

	rated map[int64]*ratedEntry // by version
	came  map[string]bool       // bots with a version among them
	next  int                   // of entries, which has not come yet
}

// played is a finished match with its games.
type played struct {
	row     queries.MatchRow
	match   ladder.Match
	variant *rules.Variant // nil: the match is left out
	games   []ladder.Game
	changes []queries.Change // as they are stored
}

func (p *played) where() string { return fmt.Sprintf("match %d", p.row.ID) }

// ratedEntry is an entry, the Elo with which it came, and the last match that moved it.
type ratedEntry struct {
	rating.Entry
	start  float64
	last   int64 // its order; before the first match, that of the last one on the ladder
	lastAt sql.NullInt64
}

// newFold reads what the matches of a ladder move.
func newFold(ctx context.Context, tx *Tx, l queries.Ladder, formula rating.Formula) (*fold, error) {
	f := &fold{
		ctx: ctx, tx: tx, ladder: l, formula: formula,
		bots: map[int64]queries.StandingRow{}, rated: map[int64]*ratedEntry{}, came: map[string]bool{},
	}
	entries, err := tx.AllEntries(ctx, l.ID)
	for _, e := range entries {
		f.bots[e.VersionID] = e
	}
	f.entries = f.asTheyCame(entries)
	return f, err
}

// asTheyCame returns entries that are in the order of Since so that each comes after its predecessor:
// an older version may be used again before the next match.
func (f *fold) asTheyCame(entries []queries.StandingRow) []queries.StandingRow {
	var out []queries.StandingRow
	added := map[int64]bool{}
	var add func(queries.StandingRow)
	add = func(e queries.StandingRow) {
		if added[e.VersionID] {
			return
		}
		added[e.VersionID] = true
		if p, ok := f.bots[e.Predecessor.Int64]; ok && p.Since == e.Since {
			add(p)
		}
		out = append(out, e)
	}
	for _, e := range entries {
		add(e)
	}
	return out
}

func (f *fold) where() string { return "ladder " + f.ladder.Name }

func (f *fold) whereVersion(id int64) string { return fmt.Sprintf("%s, version %d", f.where(), id) }

// page is how many matches are read at a time.
const page = 128

// run goes through the matches, and tells progress how many are done.
func (f *fold) run(progress func(done int64)) error {
	for last := int64(0); last < f.ladder.Finished; progress(last) {
		rows, err := f.tx.FinishedOnLadder(f.ctx, queries.FinishedOnLadderParams{
			LadderID: nullID(f.ladder.ID), Last: someID(last), Upto: someID(f.ladder.Finished), N: page,
		})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			if err := f.wrong(f.where(), "it has finished %d matches, and the last one has order %d", f.ladder.Finished, last); err != nil {
				return err
			}
			break
		}
		list, err := f.played(rows)
		if err != nil {
			return err
		}
		for _, p := range list {
			if order := p.row.Ord.Int64; order != last+1 {
				if err := f.wrong(f.where(), "no match has order %d", last+1); err != nil {
					return err
				}
			}
			last = p.row.Ord.Int64
			if err := f.rate(p); err != nil {
				return err
			}
		}
	}
	return f.enter(f.ladder.Finished)
}

// enter lets the versions in that came before a match, with the Elo that their
// predecessors have now.
func (f *fold) enter(finished int64) error {
	for ; f.next < len(f.entries) && f.entries[f.next].Since <= finished; f.next++ {
		e := f.entries[f.next]
		predecessor, err := f.predecessor(e)
		if err != nil {
			return err
		}
		bot := f.bots[e.VersionID].Name
		p := &ratedEntry{Entry: f.formula.Enter(e.VersionID, predecessor, bot == ladder.Anchor), last: e.Since}
		p.start = p.Elo
		f.rated[e.VersionID], f.came[bot] = p, true
	}
	return nil
}

// predecessor returns the entry of the version whose Elo an entry starts with, nil for none.
func (f *fold) predecessor(e queries.StandingRow) (*rating.Entry, error) {
	bot, id := f.bots[e.VersionID].Name, e.Predecessor.Int64
	p := f.rated[id]
	switch {
	case !e.Predecessor.Valid:
		if f.came[bot] {
			return nil, f.wrong(f.whereVersion(e.VersionID), "it has no predecessor, and another version of %q came before it", bot)
		}
		return nil, nil
	case p == nil:
		return nil, f.wrong(f.whereVersion(e.VersionID), "its predecessor, version %d, came after it", id)
	case f.bots[id].Name != bot:
		return &p.Entry, f.wrong(f.whereVersion(e.VersionID), "its predecessor is of %q, and it is of %q", f.bots[id].Name, bot)
	}
	return &p.Entry, nil
}

// rate moves the ratings by one match.
func (f *fold) rate(p *played) error {
	if err := f.enter(p.row.Ord.Int64 - 1); err != nil || p.variant == nil {
		return err
	}
	before := make([]rating.Entry, len(p.match.Versions))
	for slot, id := range p.match.Versions {
		if f.rated[id] == nil {
			return f.wrong(p.where(), "version %d is not on the ladder", id)
		}
		before[slot] = f.rated[id].Entry
	}
	out, err := f.formula.Outcome(p.match, p.variant, before, p.games)
	if err != nil {
		return f.wrong(p.where(), "%s", err)
	}
	for _, e := range out.Entries {
		at := f.rated[e.VersionID]
		at.Entry, at.last, at.lastAt = e, p.row.Ord.Int64, p.row.Finished
	}
	return f.each(p, out)
}
