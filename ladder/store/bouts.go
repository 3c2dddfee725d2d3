package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee/rating"
)

// Bouts returns the last n matches of a ladder between two teams for a fit, with the
// versions by number, and the order of the last match in them. sides has the side
// of each slot. Pairs will not do there: their counts know nothing of partners.
func (s *Store) Bouts(ctx context.Context, name string, sides []int, n int64) (ids []int64, bouts []rating.Bout, upto int64, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		upto = l.Finished
		rows, err := tx.BoutsOf(ctx, nullID(l.ID), someID(max(0, l.Finished-n)))
		if err != nil {
			return err
		}
		ids, bouts, err = boutsOf(rows, sides)
		return err
	})
	return ids, bouts, upto, err
}

// boutsOf makes a bout of every match, from a row for every slot.
func boutsOf(rows []queries.BoutsOfRow, sides []int) (ids []int64, bouts []rating.Bout, err error) {
	for _, r := range rows {
		ids = append(ids, r.VersionID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for ; len(rows) > 0; rows = rows[min(len(sides), len(rows)):] {
		if len(rows) < len(sides) || rows[len(sides)-1].MatchID != rows[0].MatchID {
			return nil, nil, fmt.Errorf("match %d: it does not have %d slots", rows[0].MatchID, len(sides))
		}
		deals := float64(rows[0].Deals)
		b := rating.Bout{Deals: deals, Score: deals * rows[0].Score}
		for slot, side := range sides {
			number, _ := slices.BinarySearch(ids, rows[slot].VersionID)
			if side == sides[0] {
				b.A = append(b.A, number)
			} else {
				b.B = append(b.B, number)
			}
		}
		bouts = append(bouts, b)
	}
	return ids, bouts, nil
}
