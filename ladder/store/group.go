package store

import (
	"context"
	"slices"
	"sync"
)

// maxGroup is how many changes are committed together at most.
const maxGroup = 100

// write is one change of a group: all of it is kept, or nothing.
type write struct {
	apply func(context.Context, *Tx) error
	err   chan error
}

// group has the changes that wait for the writer, in the order in which they came.
type group struct {
	mu      sync.Mutex
	waiting []*write
	running bool
}

// updateGrouped makes changes in their order and returns the error of each, when all are on the disk or
// refused. Changes that come while others are written share one transaction, so
// that they wait for the disk once: each is kept or refused alone. Once it waits, a change is made
// even if the context ends.
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

// writeGroups writes the changes that wait until there are none.
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

// writeGroup makes changes in their order, and returns the error of each: all in one transaction, or where one is
// refused, those before it, itself, and those after it. Where the commit fails, as on a full disk, each is made in a
// transaction of its own.
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
