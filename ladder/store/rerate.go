package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	stats "github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules/games"
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
// a stop changes nothing, and nor does a dry run. It reads a page of matches at a time. progress, if not nil, is
// told how many of the matches are done. It is only for who has the directory's lock.
func (s *Store) Rerate(ctx context.Context, name string, dry bool, progress func(done, total int64)) (out Rerated, err error) {
	r := &rerating{store: s, ctx: ctx, to: s.formula, places: map[int64]*rating.Entry{}, starts: map[int64]float64{}, progress: progress}
	errDry := errors.New("a dry run")
	err = s.update(ctx, func(tx *Tx) error {
		r.tx = tx
		if err := r.run(name); err != nil {
			return err
		}
		if out, err = r.result(); err != nil || !dry {
			return err
		}
		return errDry
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	return out, err
}

// rerating is one run of Rerate.
type rerating struct {
	store    *Store
	ctx      context.Context
	tx       *Tx
	ladder   queries.Ladder
	from, to rating.Formula
	stored   []queries.Entry // by since
	next     int             // of stored, which has not come yet
	places   map[int64]*rating.Entry
	starts   map[int64]float64
	progress func(done, total int64)
}

func (r *rerating) run(name string) (err error) {
	if r.ladder, err = r.tx.ladder(r.ctx, name); err != nil {
		return err
	}
	if r.from, err = rating.ParseFormula(r.ladder.Formula); err != nil {
		return fmt.Errorf("data: ladder %q: %w", name, err)
	}
	entries, err := r.tx.AllEntries(r.ctx, r.ladder.ID)
	if err != nil {
		return err
	}
	r.stored = asTheyCame(entries)
	for last := int64(0); last < r.ladder.Finished; {
		rows, err := r.tx.FinishedOnLadder(r.ctx, queries.FinishedOnLadderParams{
			LadderID: nullID(r.ladder.ID), Last: someID(last), Upto: someID(r.ladder.Finished), N: page,
		})
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return r.damaged("it has finished %d matches, and the last one has order %d", r.ladder.Finished, last)
		}
		for _, row := range rows {
			if row.Ord.Int64 != last+1 {
				return r.damaged("no match has order %d", last+1)
			}
			last = row.Ord.Int64
			if err := r.rate(row); err != nil {
				return err
			}
		}
		if r.progress != nil {
			r.progress(last, r.ladder.Finished)
		}
	}
	if err := r.enter(r.ladder.Finished); err != nil {
		return err
	}
	return r.keep()
}

func (r *rerating) damaged(format string, args ...any) error {
	return unavailable("timba admin verify says what differs", "data: ladder %q cannot be rated again: %s", r.ladder.Name, fmt.Sprintf(format, args...))
}

// asTheyCame returns entries that are in the order of Since so that each comes after its predecessor:
// an older version may be used again before the next match.
func asTheyCame(entries []queries.Entry) []queries.Entry {
	byVersion := map[int64]queries.Entry{}
	for _, e := range entries {
		byVersion[e.VersionID] = e
	}
	var out []queries.Entry
	added := map[int64]bool{}
	var add func(queries.Entry)
	add = func(e queries.Entry) {
		if added[e.VersionID] {
			return
		}
		added[e.VersionID] = true
		if p, ok := byVersion[e.Predecessor.Int64]; ok && p.Since == e.Since {
			add(p)
		}
		out = append(out, e)
	}
	for _, e := range entries {
		add(e)
	}
	return out
}

// enter lets the versions in that came before a match.
func (r *rerating) enter(finished int64) error {
	for ; r.next < len(r.stored) && r.stored[r.next].Since <= finished; r.next++ {
		s := r.stored[r.next]
		var predecessor *rating.Entry
		if s.Predecessor.Valid {
			if predecessor = r.places[s.Predecessor.Int64]; predecessor == nil {
				return r.damaged("version %d came before its predecessor, version %d", s.VersionID, s.Predecessor.Int64)
			}
		}
		e := r.to.Enter(s.VersionID, predecessor, s.Held != 0)
		r.places[s.VersionID], r.starts[s.VersionID] = &e, e.Elo
	}
	return nil
}

// rate moves the ratings by one match.
func (r *rerating) rate(row queries.Match) error {
	if err := r.enter(row.Ord.Int64 - 1); err != nil {
		return err
	}
	list, err := r.tx.fill(r.ctx, []queries.Match{row})
	if err != nil {
		return err
	}
	m := list[0]
	game, err := games.Find(m.Game)
	if err != nil {
		return err
	}
	v, err := game.Resolve(m.Options)
	if err != nil {
		return err
	}
	played, err := r.played(m)
	if err != nil {
		return err
	}
	before := make([]rating.Entry, len(m.Versions))
	for slot, id := range m.Versions {
		if r.places[id] == nil {
			return r.damaged("match %d: version %d is not on the ladder", m.ID, id)
		}
		before[slot] = *r.places[id]
	}
	var repeats *stats.Repeats // nil for a match rated when all deals counted
	if row.DistinctDeals.Valid {
		if repeats, err = repeatsBefore(r.ctx, r.tx, r.ladder.ID, row.Ord.Int64, played); err != nil {
			return err
		}
	}
	out, err := r.to.Outcome(m, v, before, played, repeats)
	if err != nil {
		return r.damaged("match %d: %s", m.ID, err)
	}
	for slot, e := range out.Entries {
		*r.places[e.VersionID] = e
		c := changeRow(r.ladder.ID, out.Changes[slot])
		n, err := r.tx.RerateChange(r.ctx, queries.RerateChangeParams{
			EloBefore: c.EloBefore, EloAfter: c.EloAfter, K: c.K, Score: c.Score, Expected: c.Expected, Uncertainty: c.Uncertainty,
			MatchID: m.ID, Slot: int64(slot), VersionID: e.VersionID,
		})
		if err != nil {
			return err
		}
		if n != 1 {
			return r.damaged("match %d has no change of slot %d", m.ID, slot)
		}
	}
	return nil
}

// played returns the games of a match. Those that were lost with a connection are only told by their
// replays, and only matter where the match ended early by it.
func (r *rerating) played(m ladder.Match) ([]ladder.Game, error) {
	played, err := gamesOf(r.ctx, r.tx, m.ID)
	if err != nil || len(played) == m.Deals*len(m.Versions) {
		return played, err
	}
	parts, err := r.store.parts(r.ctx, r.tx, m.ID, replaysKind)
	if err != nil {
		return nil, r.damaged("match %d: %s", m.ID, err)
	}
	for i := range played {
		g := &played[i]
		replay, err := referee.DecodeReplay(find(parts, int64(g.Deal), int64(g.Rotation), 0))
		if err != nil {
			return nil, r.damaged("match %d: %s", m.ID, err)
		}
		g.Lost = len(lostSeats(replay)) > 0
	}
	return played, nil
}

// keep keeps the new ratings and the formula.
func (r *rerating) keep() error {
	r.tx.changes = append(r.tx.changes, Change{all: true})
	for id, e := range r.places {
		err := r.tx.RerateEntry(r.ctx, queries.RerateEntryParams{
			Start: r.starts[id], Elo: e.Elo, Uncertainty: e.Uncertainty, LadderID: r.ladder.ID, VersionID: id,
		})
		if err != nil {
			return err
		}
	}
	if r.from.Anchor != r.to.Anchor { // the fit is relative to it, and is made again
		if err := r.tx.DeleteFit(r.ctx, r.ladder.ID); err != nil {
			return err
		}
	}
	if err := r.tx.SetFormula(r.ctx, r.to.String(), r.ladder.ID); err != nil {
		return err
	}
	return r.tx.AddRerate(r.ctx, queries.AddRerateParams{
		LadderID: r.ladder.ID, Created: stamp(r.store.now()), Matches: r.ladder.Finished, Before: r.from.String(), After: r.to.String(),
	})
}

// result returns what has changed.
func (r *rerating) result() (Rerated, error) {
	out := Rerated{Ladder: r.ladder.Name, Matches: r.ladder.Finished, Before: r.from, After: r.to, Versions: []ReratedVersion{}}
	rows, err := r.tx.BotsOnLadder(r.ctx, r.ladder.ID)
	if err != nil {
		return out, err
	}
	names := make(map[int64]queries.BotsOnLadderRow, len(rows))
	for _, row := range rows {
		names[row.VersionID] = row
	}
	for _, s := range r.stored {
		e := r.places[s.VersionID]
		if e == nil {
			return out, r.damaged("version %d came after match %d, and there is none", s.VersionID, s.Since)
		}
		name := names[s.VersionID]
		out.Versions = append(out.Versions, ReratedVersion{Bot: name.Name, Number: int(name.Number), Matches: e.Matches, Before: s.Elo, After: e.Elo})
	}
	slices.SortStableFunc(out.Versions, func(a, b ReratedVersion) int {
		switch {
		case a.After > b.After:
			return -1
		case a.After < b.After:
			return 1
		}
		return 0
	})
	return out, nil
}
