package run

import (
	"context"
	"sync"
	"sync/atomic"
)

// ForEach calls do for every i in [0, n), in at most the given number of goroutines, and waits until all calls
// have returned. worker is the number of the goroutine, counted from 0.
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

// BuildInOrder calls build for each piece in [first, last), in several goroutines, and then accept with each
// result. The calls of accept come one at a time and in ascending order, so that the outcome does not depend on the
// number of workers. A goroutine that has built a piece waits until all earlier pieces are accepted. BuildInOrder
// stops at the first error or when ctx ends, and returns the error.
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
