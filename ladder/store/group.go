package store

import (
	"context"
	"slices"
	"sync"
)

// maxGroup is the largest number of changes that are committed in one transaction.
const maxGroup = 100

// write is a change of the database that waits to be committed together with others. Its error, or nil, is
// sent to err.
type write struct {
	apply func(context.Context, *Tx) error
	err   chan error
}

// group is the queue of changes that wait to be written. running is set while a goroutine writes them.
type group struct {
	mu      sync.Mutex
	waiting []*write
	running bool
}

// updateGrouped makes changes of the database in the given order and returns the error of each. It returns
// when all are on the disk or have failed. Changes that arrive while others are being written share one
// transaction, so that they wait for the disk only once; each still succeeds or fails alone. If ctx has ended
// at the call, nothing is changed; if it ends later, the changes are made all the same.
func (s *db) updateGrouped(ctx context.Context, makes ...func(context.Context, *Tx) error) []error {
	errs := make([]error, len(makes))
	if err := ctx.Err(); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	list := make([]*write, len(makes))
	for i, f := range makes {
		list[i] = &write{apply: f, err: make(chan error, 1)}
	}
	s.group.mu.Lock()
	s.group.waiting = append(s.group.waiting, list...)
	first := !s.group.running && len(list) > 0
	s.group.running = s.group.running || first
	s.group.mu.Unlock()
	if first {
		go s.writeGroups(context.WithoutCancel(ctx))
	}
	for i, c := range list {
		errs[i] = <-c.err
	}
	return errs
}

// writeGroups commits the waiting changes, at most maxGroup at a time, until none are left.
func (s *db) writeGroups(ctx context.Context) {
	for {
		s.group.mu.Lock()
		n := min(len(s.group.waiting), maxGroup)
		list := slices.Clone(s.group.waiting[:n])
		s.group.waiting = slices.Delete(s.group.waiting, 0, n)
		s.group.running = n > 0
		s.group.mu.Unlock()
		if n == 0 {
			return
		}
		for i, err := range s.writeGroup(ctx, list) {
			list[i].err <- err
		}
	}
}

// writeGroup makes the changes in list in order and returns the error of each. It first tries all in one transaction.
// If one change fails, it tries again in three parts: the changes before that change, the change itself, and the
// changes after it. If the commit fails, for example because the disk is full, it makes each change in its own
// transaction.
func (s *db) writeGroup(ctx context.Context, list []*write) (errs []error) {
	made := 0
	err := s.update(ctx, func(tx *Tx) error {
		for _, w := range list {
			if err := w.apply(ctx, tx); err != nil {
				return err
			}
			made++
		}
		return nil
	})
	switch {
	case err == nil:
		return make([]error, len(list))
	case len(list) == 1:
		return []error{err}
	case made < len(list):
		for _, part := range [][]*write{list[:made], list[made : made+1], list[made+1:]} {
			if len(part) > 0 {
				errs = append(errs, s.writeGroup(ctx, part)...)
			}
		}
		return errs
	}
	for _, w := range list {
		errs = append(errs, s.writeGroup(ctx, []*write{w})...)
	}
	return errs
}
