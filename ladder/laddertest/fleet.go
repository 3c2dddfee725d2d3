package laddertest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
)

// Fleet is a fleet without a network: its machines are in the process of the test, and really
// play. As with NATS, a result is held until it is acknowledged.
type Fleet struct {
	// Player plays a job on a machine; it is set before the first one.
	Player func(ctx context.Context, machine string, j fleet.Job) fleet.Result
	// Quick returns the result of a job at once, instead of Player, for benchmarks.
	Quick func(fleet.Job) fleet.Result

	mu        sync.Mutex
	machines  []fleet.Machine
	playing   map[fleet.Playing]*attempt
	changed   chan struct{}
	unclaimed chan fleet.Delivery
	held      int
	settled   *sync.Cond // signalled when held falls
	asked     sync.Once
	looked    chan struct{}
}

// attempt is one that a machine plays.
type attempt struct {
	machine string
	core    int
	cancel  context.CancelFunc
	lost    chan struct{}
	done    chan struct{} // closed with the result
	result  fleet.Delivery
}

// NewFleet returns a fleet of the machine in this process, with some cores.
func NewFleet(cores ...int) *Fleet {
	f := &Fleet{playing: map[fleet.Playing]*attempt{}, changed: make(chan struct{}, 1), unclaimed: make(chan fleet.Delivery, 1000)}
	f.settled, f.looked = sync.NewCond(&f.mu), make(chan struct{})
	f.Add(fleet.Machine{Name: fleet.Local, Local: true, Cores: cores})
	return f
}

// PlayWith makes the machines play as the worker in a server's process does.
func (f *Fleet) PlayWith(
	play func(context.Context, *fleet.Match) error,
	program func(context.Context, fleet.Job, int) (match.Bot, error),
	check func(context.Context) error,
) {
	f.Player = func(ctx context.Context, _ string, j fleet.Job) fleet.Result {
		m := &fleet.Match{Job: j, Check: check, Program: func(ctx context.Context, slot int) (match.Bot, error) { return program(ctx, j, slot) }}
		return m.Result(play(ctx, m))
	}
}

// Add adds a machine, or changes it.
func (f *Fleet) Add(m fleet.Machine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(m.Name)
	f.machines = append(f.machines, m)
	f.tell()
}

// Lose loses a machine with all that it plays.
func (f *Fleet) Lose(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(name)
	for _, a := range f.playing {
		if a.machine == name {
			close(a.lost)
		}
	}
	f.tell()
}

func (f *Fleet) remove(name string) {
	f.machines = slices.DeleteFunc(f.machines, func(m fleet.Machine) bool { return m.Name == name })
}

func (f *Fleet) tell() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// Held returns how many results were delivered and are not acknowledged.
func (f *Fleet) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

// Settle waits until no result is held.
func (f *Fleet) Settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.held > 0 {
		f.settled.Wait()
	}
}

// Looked is closed when somebody has asked for results that nobody waits for. A runner does it when
// it has read what an earlier server has left.
func (f *Fleet) Looked() <-chan struct{} { return f.looked }

// Deliver delivers a result that nobody waits for.
func (f *Fleet) Deliver(r fleet.Result) { f.unclaimed <- f.delivery(onTheWire(r)) }

// Machines is of fleet.Fleet, as what follows.
func (f *Fleet) Machines() []fleet.Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Clone(f.machines)
	for i := range out {
		for key, a := range f.playing {
			if a.machine == out[i].Name {
				out[i].Playing = append(slices.Clone(out[i].Playing), fleet.Playing{Match: key.Match, Attempt: key.Attempt, Core: a.core})
			}
		}
	}
	return out
}

func (f *Fleet) Changed() <-chan struct{} { return f.changed }

func (f *Fleet) Unclaimed() <-chan fleet.Delivery {
	f.asked.Do(func() { close(f.looked) })
	return f.unclaimed
}

func (f *Fleet) Play(ctx context.Context, machine string, j fleet.Job) (fleet.Delivery, error) {
	if f.Quick != nil {
		r := f.Quick(j)
		r.Machine = machine
		return f.delivery(onTheWire(r)), nil
	}
	f.mu.Lock()
	if !slices.ContainsFunc(f.machines, func(m fleet.Machine) bool { return m.Name == machine }) {
		f.mu.Unlock()
		return fleet.Delivery{}, fleet.ErrLost
	}
	plays, cancel := context.WithCancel(context.Background())
	a := &attempt{machine: machine, core: j.Core, cancel: cancel, lost: make(chan struct{}), done: make(chan struct{})}
	f.playing[fleet.Playing{Match: j.Match, Attempt: j.Attempt}] = a
	f.mu.Unlock()
	go func() {
		defer close(a.done)
		defer cancel()
		r := f.Player(plays, machine, j)
		r.Machine = machine
		a.result = onTheWire(r)
	}()
	return f.wait(ctx, fleet.Playing{Match: j.Match, Attempt: j.Attempt}, a)
}

// The compressor is made here, and in no bubble of a test.
func init() {
	onTheWire(fleet.Result{})
}

// onTheWire returns a result as it comes out at the other end of a connection.
func onTheWire(r fleet.Result) fleet.Delivery {
	data, err := fleet.Pack(r, fleet.MaxMessage)
	if err != nil {
		panic(err)
	}
	d, err := fleet.Unpack(data)
	if err != nil {
		panic(err)
	}
	return d
}

func (f *Fleet) Await(ctx context.Context, machine string, match int64, number int, _ referee.Hex) (fleet.Delivery, error) {
	key := fleet.Playing{Match: match, Attempt: number}
	f.mu.Lock()
	a := f.playing[key]
	f.mu.Unlock()
	if a == nil || a.machine != machine {
		return fleet.Delivery{}, fleet.ErrLost
	}
	return f.wait(ctx, key, a)
}

func (f *Fleet) wait(ctx context.Context, key fleet.Playing, a *attempt) (fleet.Delivery, error) {
	select {
	case <-a.done:
		f.forget(key)
		return f.delivery(a.result), nil
	case <-a.lost:
		f.forget(key)
		return fleet.Delivery{}, fleet.ErrLost
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), fleet.ErrDetach) {
		return fleet.Delivery{}, fleet.ErrDetach // it plays on
	}
	a.cancel()
	<-a.done
	f.forget(key)
	if a.result.Failure == nil {
		return f.delivery(a.result), nil
	}
	return fleet.Delivery{}, ctx.Err()
}

func (f *Fleet) forget(key fleet.Playing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.playing, key)
}

func (f *Fleet) delivery(d fleet.Delivery) fleet.Delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held++
	d.Ack = sync.OnceValue(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held--
		f.settled.Broadcast()
		return nil
	})
	return d
}
