package laddertest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Fleet implements runner.Fleet without a network: its machines are goroutines of the test.
type Fleet struct {
	// Player plays a job on the named machine. It must be set before the first job.
	Player func(ctx context.Context, machine string, j attempt.Job) attempt.Result
	// Quick returns the result of a job at once, for benchmarks. If Quick is not nil, it is called instead of
	// Player.
	Quick func(attempt.Job) attempt.Result
	// Refuses returns the error with which Play fails for a job, or nil to accept the job. If Refuses is nil, all
	// jobs are accepted.
	Refuses func(attempt.Job) error

	mu       sync.Mutex
	machines []attempt.WorkerInfo
	playing  map[attempt.ReportedAttempt]*playedAttempt
	changes  chan struct{}
}

// playedAttempt is a match that a machine plays or has played.
type playedAttempt struct {
	machine     string
	core        int
	cancel      context.CancelFunc
	machineLost chan struct{} // closed when the machine is lost
	done        chan struct{} // closed when result is set
	result      attempt.Result
}

func NewFleet() *Fleet {
	return &Fleet{playing: map[attempt.ReportedAttempt]*playedAttempt{}, changes: make(chan struct{}, 1)}
}

// AddMachine connects a machine. It replaces the machine of the same name.
func (f *Fleet) AddMachine(m attempt.WorkerInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(m.Name)
	f.machines = append(f.machines, m)
	f.notify()
}

// LoseMachine disconnects the machine called name. The matches that it is playing are lost.
func (f *Fleet) LoseMachine(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(name)
	for _, a := range f.playing {
		if a.machine == name {
			close(a.machineLost)
		}
	}
	f.notify()
}

func (f *Fleet) remove(name string) {
	f.machines = slices.DeleteFunc(f.machines, func(m attempt.WorkerInfo) bool { return m.Name == name })
}

func (f *Fleet) notify() {
	select {
	case f.changes <- struct{}{}:
	default:
	}
}

// StoreResult stores a result, as if a machine had played the match for an earlier server. Adopt then returns it.
func (f *Fleet) StoreResult(r attempt.Result) {
	a := &playedAttempt{machine: r.Machine, cancel: func() {}, machineLost: make(chan struct{}), done: make(chan struct{}), result: r}
	close(a.done)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.playing[attempt.ReportedAttempt{Match: r.Match, Attempt: r.Attempt}] = a
}

// Machines and the methods after it implement runner.Fleet.
func (f *Fleet) Machines() []attempt.WorkerInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Clone(f.machines)
	for i := range out {
		for key, a := range f.playing {
			if a.machine == out[i].Name {
				out[i].Attempts = append(slices.Clone(out[i].Attempts), attempt.ReportedAttempt{Match: key.Match, Attempt: key.Attempt, Core: a.core})
			}
		}
	}
	return out
}

func (f *Fleet) Changes() <-chan struct{} { return f.changes }

func (f *Fleet) Play(ctx context.Context, machine string, j attempt.Job, accept func(attempt.Result) error) error {
	if f.Refuses != nil {
		if err := f.Refuses(j); err != nil {
			return err
		}
	}
	e := cluster.Expectation{Job: j, Commitment: referee.Commitment(rules.Seed(j.Seed))}
	if f.Quick != nil {
		return deliver(e, f.Quick(j), machine, accept)
	}
	f.mu.Lock()
	if !slices.ContainsFunc(f.machines, func(m attempt.WorkerInfo) bool { return m.Name == machine }) {
		f.mu.Unlock()
		return attempt.ErrLost
	}
	plays, cancel := context.WithCancel(context.Background())
	a := &playedAttempt{machine: machine, core: j.Core, cancel: cancel, machineLost: make(chan struct{}), done: make(chan struct{})}
	f.playing[attempt.ReportedAttempt{Match: j.Match, Attempt: j.Attempt}] = a
	f.mu.Unlock()
	go func() {
		defer close(a.done)
		defer cancel()
		a.result = f.Player(plays, machine, j)
	}()
	return f.wait(ctx, a, e, accept)
}

// init creates the compressor outside of any synctest bubble, because otherwise it would belong to the bubble of
// the test that uses it first.
func init() {
	if _, err := cluster.Pack(attempt.Result{}, cluster.MaxPacked); err != nil {
		panic(err)
	}
}

// deliver treats a result as if the named machine had sent it over a network: it packs, unpacks and checks the
// result, and calls accept with it. e is what the sender of the job expects of the result.
func deliver(e cluster.Expectation, r attempt.Result, machine string, accept func(attempt.Result) error) error {
	r.Machine = machine
	data, err := cluster.Pack(r, cluster.MaxPacked)
	if err != nil {
		return err
	}
	d, err := cluster.Unpack(data)
	if err == nil {
		err = d.Check(e)
	}
	if err != nil {
		return err
	}
	return accept(d.Result)
}

func (f *Fleet) Adopt(ctx context.Context, machine string, j attempt.Job, commitment referee.Hex, accept func(attempt.Result) error) error {
	f.mu.Lock()
	a := f.playing[attempt.ReportedAttempt{Match: j.Match, Attempt: j.Attempt}]
	f.mu.Unlock()
	if a == nil || a.machine != machine {
		return attempt.ErrLost
	}
	return f.wait(ctx, a, cluster.Expectation{Job: j, Commitment: commitment}, accept)
}

func (f *Fleet) wait(ctx context.Context, a *playedAttempt, e cluster.Expectation, accept func(attempt.Result) error) error {
	key := attempt.ReportedAttempt{Match: e.Match, Attempt: e.Attempt}
	select {
	case <-a.done:
		f.forget(key)
		return deliver(e, a.result, a.machine, accept)
	case <-a.machineLost:
		f.forget(key)
		return attempt.ErrLost
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), attempt.ErrDetach) {
		return attempt.ErrDetach // the attempt goes on
	}
	a.cancel()
	<-a.done
	f.forget(key)
	if a.result.Failure == nil {
		return deliver(e, a.result, a.machine, accept)
	}
	return ctx.Err()
}

func (f *Fleet) forget(key attempt.ReportedAttempt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.playing, key)
}
