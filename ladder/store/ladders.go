package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// Sync makes the stored ladders match the configured ones. It adds to a new ladder all versions that play its game at
// present. A ladder that is no longer configured becomes inactive and retains its history. Sync returns an error if
// the game, the number of bots or an option other than the opening has changed for a ladder with matches.
func (s Ladders) Sync(ctx context.Context, ladders []ladder.Ladder) error {
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

func (s Ladders) syncLadder(ctx context.Context, tx *Tx, position int64, c ladder.Ladder) error {
	options, clock, house := jsonText(c.Options), jsonText(c.Clock), jsonList(c.House)
	l, err := findUnchanged(ctx, tx, c)
	if err != nil {
		return err
	}
	if l.ID == 0 {
		_, err := tx.AddLadder(ctx, queries.AddLadderParams{
			Name: c.Name, Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position,
		})
		return err
	}
	return tx.UpdateLadder(ctx, queries.UpdateLadderParams{
		Title: c.Title, Game: c.Game, Options: options, Clock: clock, Deals: int64(c.Deals), Slots: int64(c.Bots), House: house, Position: position, ID: l.ID,
	})
}

// CheckSync returns an error if Sync would fail: a ladder in the configuration conflicts with the stored ladder of
// the same name. It changes nothing, so the store may be open for reading only.
func (s Ladders) CheckSync(ctx context.Context, ladders []ladder.Ladder) error {
	for _, c := range ladders {
		if _, err := findUnchanged(ctx, s.read, c); err != nil {
			return machineError(err)
		}
	}
	return nil
}

// findUnchanged returns the stored ladder with the same name as the configured ladder c. If there is none, the ID of
// the result is 0. It returns an error if the stored ladder has matches and c has another game, other options or
// another number of bots (see sameGame).
func findUnchanged(ctx context.Context, tx *Tx, c ladder.Ladder) (l queries.Ladder, err error) {
	l, err = tx.LadderByName(ctx, c.Name)
	if err != nil {
		return l, ifNoRows(err, nil)
	}
	n, err := tx.CountMatches(ctx, nullID(l.ID))
	if err != nil {
		return l, err
	}
	same, err := sameGame(l, c)
	if err != nil || n == 0 || same {
		return l, err
	}
	return l, conflict("give the new one another name", "ladder %q has matches of %s %s with %d bots, and cannot become %s %s with %d",
		c.Name, l.Game, l.Options, l.Slots, c.Game, jsonText(c.Options), c.Bots)
}

// sameGame reports whether the stored ladder l and the configured ladder c have the same game, options and
// number of bots. The option for the opening may differ, because each match stores its own.
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

// LadderInfo is a ladder with its state in the store.
type LadderInfo struct {
	ladder.Ladder
	Active          bool      // whether it is in the configuration
	PausedAt        time.Time // since when no new match starts; zero if the ladder is not paused
	FinishedMatches int64     // number of finished matches, which is the Order of the last one
}

// List returns the ladders in the order of the configuration, and then the ones that are no longer played.
func (s Ladders) List(ctx context.Context) (out []LadderInfo, err error) {
	rows, err := s.read.Ladders(ctx)
	if err != nil {
		return nil, machineError(err)
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

// Find returns the ladder called name.
func (s Ladders) Find(ctx context.Context, name string) (out LadderInfo, err error) {
	l, err := s.read.ladder(ctx, name)
	if err != nil {
		return out, machineError(err)
	}
	return ladderInfo(l)
}

func ladderInfo(l queries.Ladder) (LadderInfo, error) {
	c, err := ladderConfig(l)
	return LadderInfo{Ladder: c, Active: l.Active != 0, PausedAt: nullMoment(l.Paused), FinishedMatches: l.Finished}, err
}

// SetPaused pauses the ladder called name, or resumes it if paused is false. While a ladder is paused, no match can be
// added to it; matches that were added before are played to their end.
func (s Ladders) SetPaused(ctx context.Context, name string, paused bool) error {
	return s.update(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil || l.Paused.Valid == paused {
			return err
		}
		if l.Active == 0 {
			return inactiveError(name)
		}
		var since time.Time
		if paused {
			since = tx.now
		}
		tx.changesLadders = true
		return tx.PauseLadder(ctx, nullStamp(since), l.ID)
	})
}

// ListPaused returns the names of the paused ladders.
func (s Ladders) ListPaused(ctx context.Context) ([]string, error) {
	names, err := s.read.PausedLadders(ctx)
	return names, machineError(err)
}

func inactiveError(name string) error { return conflict("", "ladder %q is not played any more", name) }

func (tx *Tx) ladder(ctx context.Context, name string) (queries.Ladder, error) {
	l, err := tx.LadderByName(ctx, name)
	return l, ifNoRows(err, notFound(ladder.HintLadders, "ladder %q does not exist", name))
}

// Standings returns the active versions of a ladder, the best first. The result is shared and must not be changed.
func (s Ladders) Standings(ctx context.Context, name string) (places []ladder.Standing, err error) {
	if err := s.refreshCache(ctx); err != nil {
		return nil, err
	}
	err = s.withLadder(ctx, name, func(l *ladderState) { places = slices.Clip(l.standings()) })
	return places, err
}

// StandingsPage returns n standings of a ladder, or fewer at its end. first is the number of better standings to
// skip. total is the number of all standings. The result is shared and must not be changed.
func (s Ladders) StandingsPage(ctx context.Context, name string, first, n int) (places []ladder.Standing, total int, err error) {
	all, err := s.Standings(ctx, name)
	first = min(first, len(all))
	return all[first:min(first+n, len(all))], len(all), err
}

// ListInactive returns the versions that no longer play on a ladder, ordered by their last rating.
func (s Ladders) ListInactive(ctx context.Context, name string) (out []ladder.Standing, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PastStandings(ctx, l.ID)
		out = convertRows(rows, standing)
		slices.SortFunc(out, compareRows)
		return err
	})
	return out, err
}

// StandingsOf returns the standings of all versions of a bot on all ladders. They are in the order of the ladders; on
// each ladder, the newest version comes first.
func (s Ladders) StandingsOf(ctx context.Context, botID int64) ([]ladder.Standing, error) {
	return s.places(ctx, func(tx *Tx) ([]queries.StandingRow, error) { return tx.EntriesOfBot(ctx, botID) })
}

// Pairs returns the results of each pair of versions that have met on a ladder, for fitting ratings. A and B
// of each pair are indexes in ids, which has the version IDs.
func (s Ladders) Pairs(ctx context.Context, name string) (ids []int64, pairs []stats.Pair, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.PairsOf(ctx, l.ID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			ids = append(ids, r.A, r.B)
		}
		var number func(int64) int
		ids, number = numberVersions(ids)
		for _, r := range rows {
			pairs = append(pairs, stats.Pair{A: number(r.A), B: number(r.B), Deals: r.Deals, Score: r.Score, Squares: r.Squares})
		}
		return nil
	})
	return ids, pairs, err
}

// numberVersions sorts versions, a list of IDs, in place and removes duplicates. It returns the resulting list, and a
// function that returns the index of an ID in it.
func numberVersions(versions []int64) ([]int64, func(int64) int) {
	slices.Sort(versions)
	versions = slices.Compact(versions)
	return versions, func(id int64) int {
		n, _ := slices.BinarySearch(versions, id)
		return n
	}
}

// Bouts returns the results of the last n matches on a ladder on which teams play, in the form in which package stats
// takes them: a bout is the result of one match. sides has the side (team) of each version in a match, by its index.
// The players in a bout are indexes in ids, which has the version IDs.
func (s Ladders) Bouts(ctx context.Context, name string, sides []int, n int64) (ids []int64, bouts []stats.Bout, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		rows, err := tx.BoutsOf(ctx, nullID(l.ID), someID(max(0, l.Finished-n)))
		if err != nil {
			return err
		}
		ids, bouts, err = boutsOf(rows, sides)
		return err
	})
	return ids, bouts, err
}

// boutsOf converts rows to one bout (result) for each match. There is a row for each version in a match. sides has
// the side (team) of each version, by its index in the match. The players in a bout are indexes in ids, which has the
// version IDs.
func boutsOf(rows []queries.BoutsOfRow, sides []int) (ids []int64, bouts []stats.Bout, err error) {
	for _, r := range rows {
		ids = append(ids, r.VersionID)
	}
	ids, number := numberVersions(ids)
	for ; len(rows) > 0; rows = rows[min(len(sides), len(rows)):] {
		if len(rows) < len(sides) || rows[len(sides)-1].MatchID != rows[0].MatchID {
			return nil, nil, fmt.Errorf("match %d: it does not have %d slots", rows[0].MatchID, len(sides))
		}
		deals := float64(rows[0].Deals)
		b := stats.Bout{Deals: deals, Score: deals * rows[0].Score}
		for slot, side := range sides {
			if n := number(rows[slot].VersionID); side == sides[0] {
				b.A = append(b.A, n)
			} else {
				b.B = append(b.B, n)
			}
		}
		bouts = append(bouts, b)
	}
	return ids, bouts, nil
}

// SaveFit stores the maximum-likelihood ratings of versions on a ladder. The keys of estimates are version
// IDs. An infinite half width of an interval is stored as NULL.
func (s Ladders) SaveFit(ctx context.Context, name string, estimates map[int64]stats.Estimate) error {
	return s.update(ctx, func(tx *Tx) error {
		l, err := tx.ladder(ctx, name)
		if err != nil {
			return err
		}
		opponents := map[int64]int64{}
		for id, e := range estimates {
			fit, half := nullFloat(e.Value), nullFloat(e.PlusMinus())
			opponents[id], err = tx.SetFit(ctx, queries.SetFitParams{Fit: fit, PlusMinus: half, LadderID: l.ID, VersionID: id})
			if err != nil {
				return err
			}
		}
		tx.addLadderChange(l.ID, func(s *ladderState) { s.setFits(estimates, opponents) })
		tx.addEvent(events.Event{Kind: events.FitSaved, Ladder: name})
		return nil
	})
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
