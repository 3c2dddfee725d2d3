package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// SyncLadders brings the ladders in line with the configuration: new ones come
// with all live versions that play their game, those that are gone keep their
// history and rest. The game of a ladder with matches cannot change.
func (s *Store) SyncLadders(ctx context.Context, ladders []ladder.LadderConfig) error {
	return s.update(ctx, func(q *queries.Queries) error {
		known, err := q.Ladders(ctx)
		if err != nil {
			return err
		}
		for _, l := range known {
			if !slices.ContainsFunc(ladders, func(c ladder.LadderConfig) bool { return c.Name == l.Name }) {
				if err := q.RetireLadder(ctx, l.ID); err != nil {
					return err
				}
			}
		}
		for i, c := range ladders {
			if err := s.syncLadder(ctx, q, int64(i), c); err != nil {
				return err
			}
		}
		return s.settle(ctx, q)
	})
}

func (s *Store) syncLadder(ctx context.Context, q *queries.Queries, position int64, c ladder.LadderConfig) error {
	options, clock, house := text(c.Options), text(c.Clock), list(c.House)
	l, err := q.LadderByName(ctx, c.Name)
	if err = none(err, nil); err != nil {
		return err
	}
	if l.ID == 0 {
		_, err := q.AddLadder(ctx, queries.AddLadderParams{
			Name: c.Name, Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position,
		})
		return err
	}
	n, err := q.CountMatches(ctx, nullID(l.ID))
	if err != nil {
		return err
	}
	if n > 0 && (l.Game != c.Game || l.Options != options || l.Slots != int64(c.Bots)) {
		return conflict("give the new one another name", "ladder %q has matches of %s %s with %d bots, and cannot become %s %s with %d",
			c.Name, l.Game, l.Options, l.Slots, c.Game, options, c.Bots)
	}
	return q.UpdateLadder(ctx, queries.UpdateLadderParams{
		Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position, ID: l.ID,
	})
}

// LadderInfo is a ladder as the store has it.
type LadderInfo struct {
	ladder.LadderConfig
	Active   bool  // in the configuration
	Finished int64 // matches: the order of the last one
	Fitted   int64 // the order of the last match in its fit; 0 without
}

// Ladders lists the ladders in the order of the configuration, then those that
// are no longer played.
func (s *Store) Ladders(ctx context.Context) (out []LadderInfo, err error) {
	err = s.view(ctx, func(q *queries.Queries) error {
		rows, err := q.Ladders(ctx)
		if err != nil {
			return err
		}
		for _, l := range rows {
			info, err := ladderInfo(ctx, q, l)
			if err != nil {
				return err
			}
			out = append(out, info)
		}
		return nil
	})
	return out, err
}

// Ladder is one of them.
func (s *Store) Ladder(ctx context.Context, name string) (out LadderInfo, err error) {
	err = s.view(ctx, func(q *queries.Queries) error {
		l, err := s.ladder(ctx, q, name)
		if err != nil {
			return err
		}
		out, err = ladderInfo(ctx, q, l)
		return err
	})
	return out, err
}

func ladderInfo(ctx context.Context, q *queries.Queries, l queries.Ladder) (LadderInfo, error) {
	c, err := ladderConfig(l)
	if err != nil {
		return LadderInfo{}, err
	}
	fit, err := q.Fit(ctx, l.ID)
	return LadderInfo{LadderConfig: c, Active: l.Active != 0, Finished: l.Finished, Fitted: fit.Upto}, none(err, nil)
}

func (s *Store) ladder(ctx context.Context, q *queries.Queries, name string) (queries.Ladder, error) {
	l, err := q.LadderByName(ctx, name)
	return l, none(err, notFound("timba standings lists them", "ladder %q does not exist", name))
}

// LadderState is what matchmaking needs of a ladder. Met loads the
// acquaintances of its first argument and remembers them; it is for one goroutine.
func (s *Store) LadderState(ctx context.Context, name string) (out matchmaking.Ladder, err error) {
	open := map[[2]int64]int{}
	var id int64
	err = s.view(ctx, func(q *queries.Queries) error {
		l, err := s.ladder(ctx, q, name)
		if err != nil {
			return err
		}
		id, out.Name, out.Slots = l.ID, l.Name, int(l.Slots)
		c, err := ladderConfig(l)
		if err != nil {
			return err
		}
		sides, err := c.Sides()
		if err != nil {
			return err
		}
		entries, err := q.ActiveEntries(ctx, l.ID)
		if err != nil {
			return err
		}
		slices.SortFunc(entries, func(a, b queries.ActiveEntriesRow) int { return cmp.Compare(a.VersionID, b.VersionID) })
		index := make(map[int64]int, len(entries))
		for i, e := range entries {
			index[e.VersionID] = i
			out.Players = append(out.Players, matchmaking.Player{
				ID: e.VersionID, Owner: e.PersonID, Elo: e.Elo, Uncertainty: e.Uncertainty, Matches: int(e.Matches), Waited: int(l.Finished - e.Last),
			})
		}
		slots, err := q.OpenOnLadder(ctx, nullID(l.ID))
		if err != nil {
			return err
		}
		for i, a := range slots {
			if p, ok := index[a.VersionID]; ok {
				out.Players[p].Busy++
			}
			for _, b := range slots[:i] {
				if a.ID == b.ID && sides[a.Slot] != sides[b.Slot] {
					open[pairOf(a.VersionID, b.VersionID)]++
				}
			}
		}
		return nil
	})
	out.Met = s.met(ctx, id, open)
	return out, err
}

func pairOf(a, b int64) [2]int64 { return [2]int64{min(a, b), max(a, b)} }

// met counts meetings on a ladder, those of open matches included.
func (s *Store) met(ctx context.Context, ladderID int64, open map[[2]int64]int) func(a, b int64) int {
	loaded := map[int64]map[int64]int{}
	return func(a, b int64) int {
		others, ok := loaded[a]
		if !ok {
			others = s.acquaintances(ctx, ladderID, a)
			loaded[a] = others
		}
		return others[b] + open[pairOf(a, b)]
	}
}

// acquaintances counts the finished matches of a version by opponent. A failure
// makes it a stranger: that spoils no more than one choice.
func (s *Store) acquaintances(ctx context.Context, ladderID, id int64) map[int64]int {
	out := map[int64]int{}
	above, err := s.read.MetAbove(ctx, ladderID, id)
	if err != nil {
		return out
	}
	below, err := s.read.MetBelow(ctx, ladderID, id)
	if err != nil {
		return out
	}
	for _, m := range above {
		out[m.Other] = int(m.Matches)
	}
	for _, m := range below {
		out[m.Other] = int(m.Matches)
	}
	return out
}

// Standings are the active versions of a ladder by Elo.
func (s *Store) Standings(ctx context.Context, name string) ([]ladder.Standing, error) {
	return s.standings(ctx, name, true)
}

// Resting are the versions of a ladder that do not play any more, by their last Elo.
func (s *Store) Resting(ctx context.Context, name string) ([]ladder.Standing, error) {
	return s.standings(ctx, name, false)
}

func (s *Store) standings(ctx context.Context, name string, active bool) (out []ladder.Standing, err error) {
	err = s.view(ctx, func(q *queries.Queries) error {
		l, err := s.ladder(ctx, q, name)
		if err != nil {
			return err
		}
		rows, err := q.Standings(ctx, l.ID, oneIf(active))
		if err != nil {
			return err
		}
		out = make([]ladder.Standing, len(rows))
		for i, r := range rows {
			out[i] = standing(r.Entry, name, r.Name, r.Owner, r.Number)
			if active {
				out[i].Rank = i + 1
				if i > 0 && out[i-1].Elo == out[i].Elo {
					out[i].Rank = out[i-1].Rank
				}
			}
		}
		return nil
	})
	return out, err
}

// StandingsOf are the places of all versions of a bot on all ladders, in the
// order of the ladders, the last version first.
func (s *Store) StandingsOf(ctx context.Context, botID int64) (out []ladder.Standing, err error) {
	err = s.view(ctx, func(q *queries.Queries) error {
		rows, err := q.EntriesOfBot(ctx, botID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			place := standing(r.Entry, r.Ladder, r.Name, r.Owner, r.Number)
			if place.Active {
				above, err := q.CountAbove(ctx, r.Entry.LadderID, r.Entry.Elo)
				if err != nil {
					return err
				}
				place.Rank = int(above) + 1
			}
			out = append(out, place)
		}
		return nil
	})
	return out, err
}

// Pairs are the counts of a ladder for a fit, with the versions by number, and the
// order of the last match in them.
func (s *Store) Pairs(ctx context.Context, name string) (ids []int64, pairs []rating.Pair, upto int64, err error) {
	err = s.view(ctx, func(q *queries.Queries) error {
		l, err := s.ladder(ctx, q, name)
		if err != nil {
			return err
		}
		upto = l.Finished
		rows, err := q.PairsOf(ctx, l.ID)
		if err != nil {
			return err
		}
		ids, pairs = numbered(rows)
		return nil
	})
	return ids, pairs, upto, err
}

// numbered gives the versions numbers from 0, in their order.
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

// SaveFit keeps the maximum-likelihood ratings of versions over the first upto
// matches of a ladder. An interval without an end has no ±.
func (s *Store) SaveFit(ctx context.Context, name string, upto int64, estimates map[int64]rating.Estimate) error {
	return s.update(ctx, func(q *queries.Queries) error {
		l, err := s.ladder(ctx, q, name)
		if err != nil {
			return err
		}
		for id, e := range estimates {
			fit, half := nullFloat(e.Value), nullFloat(e.PlusMinus())
			if err := q.SetFit(ctx, queries.SetFitParams{Fit: fit, PlusMinus: half, LadderID: l.ID, VersionID: id}); err != nil {
				return err
			}
		}
		return q.SaveFit(ctx, l.ID, upto, stamp(s.now()))
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
