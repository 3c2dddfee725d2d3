package run

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// InOrder makes the pieces from first to last-1 in several goroutines and takes them one by one
// in their order, so that what is taken does not depend on the workers. At most twice as many
// pieces as workers wait. When the context ends, it returns its error after a last piece is taken.
func InOrder[T any](ctx context.Context, workers, first, last int, build func(worker, piece int) (T, error), take func(piece int, made T) error) error {
	workers = max(1, min(workers, last-first))
	group, inner := errgroup.WithContext(ctx)
	type slot chan T
	queue := make(chan slot, workers) // in the order of the pieces
	work := make(chan func(worker int) error)
	group.Go(func() error {
		defer close(queue)
		defer close(work)
		for piece := first; piece < last; piece++ {
			s := make(slot, 1)
			do := func(worker int) error {
				made, err := build(worker, piece)
				if err == nil {
					s <- made
				}
				return err
			}
			select {
			case queue <- s:
			case <-inner.Done():
				return inner.Err()
			}
			select {
			case work <- do:
			case <-inner.Done():
				return inner.Err()
			}
		}
		return nil
	})
	for worker := range workers {
		group.Go(func() error {
			for do := range work {
				if err := do(worker); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		piece := first
		for s := range queue {
			select {
			case made := <-s:
				if err := take(piece, made); err != nil {
					return err
				}
				piece++
			case <-inner.Done():
				return inner.Err()
			}
		}
		return nil
	})
	return group.Wait()
}
