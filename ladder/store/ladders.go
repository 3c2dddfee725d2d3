package store

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules"
)

// SyncLadders brings the ladders in line with the configuration: new ones come
// with all live versions that play their game, those that are gone keep their
// history and are retired. The game of a ladder with matches cannot change, except
// for its opening.
func (s *Store) SyncLadders(ctx context.Context, ladders []ladder.Ladder) error {
	return s.update(ctx, func(tx *Tx) error {
		known, err := tx.Ladders(ctx)
		if err != nil {
			return err
		}
		for _, l := range known {
			if !slices.ContainsFunc(ladders, func(c ladder.Ladder) bool { return c.Name == l.Name }) {
				if err := tx.RetireLadder(ctx, l.ID); err != nil {
					return err
				}
			}
		}
		for i, c := range ladders {
			if err := s.syncLadder(ctx, tx, int64(i), c); err != nil {
				return err
			}
		}
		return tx.refreshEntries(ctx)
	})
}

func (s *Store) syncLadder(ctx context.Context, tx *Tx, position int64, c ladder.Ladder) error {
	options, clock, house := text(c.Options), text(c.Clock), list(c.House)
	l, err := tx.LadderByName(ctx, c.Name)
	if err = none(err, nil); err != nil {
		return err
	}
	if l.ID == 0 {
		_, err := tx.AddLadder(ctx, queries.AddLadderParams{
			Name: c.Name, Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position, Formula: s.formula.String(),
		})
		return err
	}
	n, err := tx.CountMatches(ctx, nullID(l.ID))
	if err != nil {
		return err
	}
	same, err := sameGame(l, c)
	if err != nil {
		return err
	}
	if n > 0 && !same {
		return conflict("give the new one another name", "ladder %q has matches of %s %s with %d bots, and cannot become %s %s with %d",
			c.Name, l.Game, l.Options, l.Slots, c.Game, options, c.Bots)
	}
	return tx.UpdateLadder(ctx, queries.UpdateLadderParams{
		Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position, ID: l.ID,
	})
}

// sameGame reports whether a ladder is configured with the game that it has. Its
// opening may be another: each match keeps its own.
func sameGame(l queries.Ladder, c ladder.Ladder) (bool, error) {
	old, err := ladderConfig(l)
	if err != nil {
		return false, err
	}
	delete(old.Options, rules.OpeningOption.Name)
	options := maps.Clone(c.Options)
	delete(options, rules.OpeningOption.Name)
	return old.Game == c.Game && maps.Equal(old.Options, options) && old.Bots == c.Bots, nil
}

// LadderInfo is a ladder as the store has it.
type LadderInfo struct {
	ladder.Ladder
	Active   bool  // in the configuration
	Finished int64 // matches: the order of the last one
}

// Ladders lists the ladders in the order of the configuration, then those that
// are no longer played.
func (s *Store) Ladders(ctx context.Context) (out []LadderInfo, err error) {
	rows, err := s.read.Ladders(ctx)
	if err != nil {
		return nil, explain(err)
	}
	for _, l := range rows {
		info, err := ladderInfo(l)
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

// Ladder returns a ladder by its name.
func (s *Store) Ladder(ctx context.Context, name string) (out LadderInfo, err error) {
	l, err := s.read.ladder(ctx, name)
	if err != nil {
		return out, explain(err)
	}
	return ladderInfo(l)
}

func ladderInfo(l queries.Ladder) (LadderInfo, error) {
	c, err := ladderConfig(l)
	return LadderInfo{Ladder: c, Active: l.Active != 0, Finished: l.Finished}, err
}

func (tx *Tx) ladder(ctx context.Context, name string) (queries.Ladder, error) {
	l, err := tx.LadderByName(ctx, name)
	return l, none(err, notFound("timba standings lists them", "ladder %q does not exist", name))
}

// Standings returns the active versions of a ladder by their rating. The list is shared: it is not to be
// changed.
func (s *Store) Standings(ctx context.Context, name string) (places []ladder.Standing, err error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	err = s.onLadder(ctx, name, func(l *ladderState) { places = slices.Clip(l.standings()) })
	return places, err
}

// StandingsPage returns at most n of the standings, beginning after the first ones, and how many there
// are. They are shared, too.
func (s *Store) StandingsPage(ctx context.Context, name string, first, n int) (places []ladder.Standing, total int, err error) {
	all, err := s.Standings(ctx, name)
	first = min(first, len(all))
	return all[first:min(first+n, len(all))], len(all), err
}

// Inactive returns the versions of a ladder that do not play any more, by their
// last rating.
func (s *Store) Inactive(ctx context.Context, name string) (out []ladder.Standing, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PastStandings(ctx, l.ID)
		out = each(rows, standing)
		return err
	})
	return out, err
}

// StandingsOf returns the places of all versions of a bot on all ladders, in the
// order of the ladders, the last version first.
func (s *Store) StandingsOf(ctx context.Context, botID int64) (out []ladder.Standing, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.EntriesOfBot(ctx, botID)
		if err == nil {
			out, err = tx.placed(ctx, rows)
		}
		return err
	})
	return out, err
}

// Pairs returns the counts of a ladder for a fit, with the versions by number, and
// the order of the last match in them.
func (s *Store) Pairs(ctx context.Context, name string) (ids []int64, pairs []rating.Pair, upto int64, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		upto = l.Finished
		rows, err := tx.PairsOf(ctx, l.ID)
		if err != nil {
			return err
		}
		ids, pairs = numbered(rows)
		return nil
	})
	return ids, pairs, upto, err
}

// numbered returns the versions numbers from 0, in their order.
func numbered(rows []queries.PairsOfRow) (ids []int64, pairs []rating.Pair) {
	number := map[int64]int{}
	for _, r := range rows {
		for _, id := range [...]int64{r.A, r.B} {
			if _, ok := number[id]; !ok {
				number[id] = 0
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	for i, id := range ids {
		number[id] = i
	}
	pairs = make([]rating.Pair, len(rows))
	for i, r := range rows {
		pairs[i] = rating.Pair{A: number[r.A], B: number[r.B], Deals: r.Deals, Score: r.Score, Squares: r.Squares}
	}
	return ids, pairs
}

// SaveFit keeps the maximum-likelihood ratings of versions on a ladder. An interval without an end has no ±.
func (s *Store) SaveFit(ctx context.Context, name string, estimates map[int64]rating.Estimate) error {
	return s.update(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		for id, e := range estimates {
			fit, half := nullFloat(e.Value), nullFloat(e.PlusMinus())
			if err := tx.SetFit(ctx, queries.SetFitParams{Fit: fit, PlusMinus: half, LadderID: l.ID, VersionID: id}); err != nil {
				return err
			}
		}
		tx.change(l.ID, func(s *ladderState) { s.fit(estimates) })
		tx.tell(events.Event{Kind: events.FitSaved, Ladder: name})
		return nil
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
