package run

import (
	"context"
	"sync"
	"sync/atomic"
)

// ForEach calls do for every i from 0 to n-1 in at most the given number of goroutines, and waits for them.
// The argument worker is the number of the goroutine, from 0 on.
func ForEach(workers, n int, do func(worker, i int)) {
	var next atomic.Int64
	work := func(worker int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(worker, i)
		}
	}
	var group sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		group.Go(func() { work(worker) })
	}
	work(0)
	group.Wait()
}

// BuildInOrder builds the pieces numbered from first to last-1 in several goroutines and passes the result
// of each to accept, one at a time and in ascending order, so that the outcome does not depend on the number
// of workers. A goroutine that has built a piece waits until all pieces before it are accepted. BuildInOrder
// stops at the first error or when ctx ends, and returns that error.
func BuildInOrder[T any](ctx context.Context, workers, first, last int, build func(worker, piece int) (T, error), accept func(piece int, result T) error) error {
	going, end := context.WithCancel(ctx)
	defer end()
	var lock sync.Mutex
	turn, next := sync.NewCond(&lock), 0
	var failed error
	ForEach(workers, last-first, func(worker, i int) {
		var result T
		err := going.Err()
		if err == nil {
			result, err = build(worker, first+i)
		}
		lock.Lock()
		defer lock.Unlock()
		for next < i {
			turn.Wait()
		}
		if failed == nil && err == nil {
			err = accept(first+i, result)
		}
		if failed == nil && err != nil {
			failed = err
			end()
		}
		next++
		turn.Broadcast()
	})
	return failed
}
