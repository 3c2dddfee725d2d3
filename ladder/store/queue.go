package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// pendingVersion is an uploaded version whose checks have not ended.
type pendingVersion struct {
	ladder.Version
	begun bool // one of its stages has started
}

// queue returns the uploaded versions whose checks have not ended, in the order in which they are checked. Versions
// of blocked people are left out. Owners take turns; the owner whose last turn was the longest time ago comes first.
// Versions of the same owner are in the order of their upload.
func queue(ctx context.Context, tx *Tx) ([]pendingVersion, error) {
	rows, err := tx.PendingVersions(ctx)
	if err != nil {
		return nil, err
	}
	var list []pendingVersion
	served := map[int64]int64{}
	for _, r := range rows {
		v, err := version(r.VersionRow)
		if err != nil {
			return nil, err
		}
		list, served[v.Owner] = append(list, pendingVersion{v, r.Begun}), math.MinInt64
		if r.Served.Valid {
			served[v.Owner] = r.Served.Int64
		}
	}
	return takeTurns(list, func(v pendingVersion) int64 { return v.Owner }, served), nil
}

// takeTurns returns the items of list in a fair order: one item of each owner, then a second one of each owner, and
// so on. Owners with a lower value in served come first. Items of the same owner stay in their order.
func takeTurns[T any](list []T, ownerOf func(T) int64, served map[int64]int64) (order []T) {
	own := map[int64][]T{}
	var owners []int64
	for _, item := range list {
		owner := ownerOf(item)
		if own[owner] == nil {
			owners = append(owners, owner)
		}
		own[owner] = append(own[owner], item)
	}
	slices.SortStableFunc(owners, func(a, b int64) int { return cmp.Compare(served[a], served[b]) })
	for turn := 0; len(order) < len(list); turn++ {
		for _, owner := range owners {
			if turn < len(own[owner]) {
				order = append(order, own[owner][turn])
			}
		}
	}
	return order
}

// QueuePlace returns the place of a match among the waiting matches that people requested. 1 is next; 0 means that the
// match does not wait, or that nobody requested it.
func (s Matches) QueuePlace(ctx context.Context, id int64) (int, error) {
	rows, err := s.read.AskedQueue(ctx)
	if err != nil {
		return 0, machineError(err)
	}
	served := map[int64]int64{}
	for _, r := range rows {
		served[r.AskedBy.Int64] = r.Served
	}
	order := takeTurns(rows, func(r queries.AskedQueueRow) int64 { return r.AskedBy.Int64 }, served)
	return 1 + slices.IndexFunc(order, func(r queries.AskedQueueRow) bool { return r.ID == id }), nil
}

// ListPending returns the versions whose checks have not ended, in the order in which they are checked.
func (s Versions) ListPending(ctx context.Context) ([]ladder.Version, error) {
	order, err := queue(ctx, s.read)
	out := make([]ladder.Version, len(order))
	for i, w := range order {
		out[i] = w.Version
	}
	return out, machineError(err)
}

// QueuePlace returns the place of a version among those whose checks have not begun. 1 is next; 0 means that the
// version does not wait.
func (s Versions) QueuePlace(ctx context.Context, versionID int64) (int, error) {
	order, err := queue(ctx, s.read)
	if err != nil {
		return 0, machineError(err)
	}
	place := 0
	for _, w := range order {
		if !w.begun {
			place++
		}
		if w.ID == versionID && !w.begun {
			return place, nil
		}
	}
	return 0, nil
}

// Cancel ends the submission of a version whose checks have not begun, and sets its state to Cancelled. For any
// other version it returns an error.
func (s Versions) Cancel(ctx context.Context, versionID int64) error {
	return s.end(ctx, versionID, ladder.Cancelled, func(tx *Tx, row queries.VersionRow) (reason phrase.Text, err error) {
		stages, err := tx.Stages(ctx, versionID)
		if err == nil && len(stages) > 0 {
			err = conflict("wait for its end", "version %d of %s has been begun", row.Number, row.Name)
		}
		tx.addEvent(events.Event{Kind: events.QueueChanged, Version: versionID})
		return phrase.New("cancelled by its owner"), err
	})
}

// Fail ends the submission of a version because a check failed, and sends the owner a message with the reason.
func (s Versions) Fail(ctx context.Context, versionID int64, reason phrase.Text) error {
	return s.end(ctx, versionID, ladder.Failed, func(tx *Tx, row queries.VersionRow) (phrase.Text, error) {
		return reason, tx.messageOwner(ctx, row, ladder.MessageFailed, 0, reason)
	})
}

// end ends the submission of a version that is still being checked. It sets the version's state to the given one,
// Failed or Cancelled, with the reason that the function why returns. It deletes the upload unless another version
// needs it. It returns an error if the checks have already ended.
func (s Versions) end(ctx context.Context, versionID int64, state ladder.VersionState, why func(*Tx, queries.VersionRow) (phrase.Text, error)) error {
	var bundle string
	err := s.update(ctx, func(tx *Tx) error {
		row, err := tx.pendingVersion(ctx, versionID)
		if err != nil {
			return err
		}
		reason, err := why(tx, row)
		if err != nil {
			return err
		}
		bundle = row.Bundle
		return tx.endSubmission(ctx, row, state, reason)
	})
	if err == nil {
		s.dropUploads(ctx, bundle)
	}
	return err
}

func (tx *Tx) endSubmission(ctx context.Context, v queries.VersionRow, state ladder.VersionState, reason phrase.Text) error {
	tx.addEvent(events.Event{Kind: events.VersionChanged, Version: v.ID})
	return tx.SetState(ctx, queries.SetStateParams{State: string(state), Reason: phraseColumn(reason), Ended: nullStamp(tx.now), ID: v.ID})
}
