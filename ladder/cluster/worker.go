package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// WorkerOptions are the options of a Worker.
type WorkerOptions struct {
	Version string // of timba
	// Cores are where matches are played, one at a time on each; cores.Any where this
	// system does not bind programs to cores.
	Cores  []int
	Memory int64                       // bytes, for all matches together
	Check  func(context.Context) error // see PlayOptions
	Dir    string                      // of the cache of bots, the results that are not handed in yet, and temporary files
	Cache  int64                       // bytes of the cache; 0: DefaultCache

	Play func(context.Context, attempt.Job, attempt.Options) attempt.Result // plays a match; nil: attempt.Play

	Registerer prometheus.Registerer // nil: nobody sees the metrics
	Log        *slog.Logger          // nil: none
}

// Worker plays matches that a server hands to it.
type Worker struct {
	WorkerOptions
	link    *Link
	about   attempt.Machine
	session string
	cache   *cache
	outbox  outbox
	left    []packedResult // by an earlier run
	metrics *workerMetrics
	journal attempt.Journal
	cores   map[int]chan struct{} // each with room for its matches
	up      *semaphore.Weighted   // the line to the server, with room for PartSize; see ask
	down    *semaphore.Weighted   // and from there
	change  chan struct{}         // makes the next heartbeat come now
	jobs    sync.WaitGroup

	draining context.Context // until Drain is called
	drain    context.CancelFunc

	mu      sync.Mutex
	playing map[attemptOf]*playing
	refused string
	stopped bool // it takes no more jobs
}

// playing is an attempt that the worker has, until it is handed in.
type playing struct {
	core   int
	over   context.CancelCauseFunc // ends all of it
	cancel context.CancelCauseFunc // ends playing: what is played already is handed in
}

// Why a worker ends an attempt.
var (
	errCancelled = errors.New("the server cancelled the match")
	errOver      = errors.New("the attempt is over")
)

// NewWorker makes a worker that has the name of its credentials.
func NewWorker(link *Link, o WorkerOptions) (*Worker, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil { // bots are started from other directories
		return nil, fmt.Errorf("data: %w", err)
	}
	w := &Worker{
		WorkerOptions: o, link: link, session: rand.Text(), metrics: newWorkerMetrics(o.Registerer),
		cores: map[int]chan struct{}{}, change: make(chan struct{}, 1),
		up: semaphore.NewWeighted(PartSize), down: semaphore.NewWeighted(PartSize),
		playing: map[attemptOf]*playing{}, journal: attempt.Journal{Log: o.Log},
	}
	w.draining, w.drain = context.WithCancel(context.Background())
	if o.Play == nil {
		w.Play = attempt.Play
	}
	w.about = attempt.Machine{
		Name: link.Name, Version: o.Version, Protocol: Protocol, Arch: runtime.GOARCH, OS: runtime.GOOS,
		Sandbox: sandbox.Probe().Level.String(), Interpreters: interpreter.Versions(), Cores: o.Cores, Memory: o.Memory,
	}
	for _, core := range o.Cores {
		w.cores[core] = make(chan struct{}, cap(w.cores[core])+1)
	}
	if w.cache, err = openCache(filepath.Join(o.Dir, "bots"), cmp.Or(o.Cache, DefaultCache), w.Log); err != nil {
		return nil, err
	}
	if err := datadir.Empty(w.Temp()); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	w.outbox, w.left, err = openOutbox(filepath.Join(o.Dir, "results"))
	return w, err
}

// Temp returns the directory of temporary files. A worker empties it when it starts: an earlier one
// may have been killed.
func (o WorkerOptions) Temp() string { return filepath.Join(o.Dir, "tmp") }

// Drain makes Run finish the matches that the worker has, hand them in and return.
func (w *Worker) Drain() {
	w.drain()
	w.notify()
}

// Run plays until the context ends or, after Drain, until nothing is left, or nothing can be handed in any
// more. A match that is interrupted is played again elsewhere. The error is why the server wants no such worker.
func (w *Worker) Run(ctx context.Context) error {
	under, end := context.WithCancelCause(ctx)
	defer end(nil)
	for _, p := range w.left {
		ctx, over := context.WithCancelCause(under)
		w.enter(p.attemptOf, &playing{cores.Any, over, func(error) {}})
		go func() {
			defer over(nil)
			w.deliver(ctx, p)
		}()
	}
	commands, err := w.link.Subscribe(jobsSubject(w.link.Name), func(msg *nats.Msg) { w.handleCommand(under, msg) })
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer commands.Unsubscribe()
	var heartbeats sync.WaitGroup
	over, stopHeartbeats := context.WithCancel(under)
	defer stopHeartbeats()
	heartbeats.Go(func() { w.sendHeartbeats(over, end) })
	select {
	case <-under.Done():
	case <-w.draining.Done():
	}
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		w.jobs.Wait()
	}()
	select {
	case <-w.link.refusal().Done():
		end(fmt.Errorf("worker %q: %w", w.link.Name, errRefused))
	case <-finished:
	}
	<-finished
	stopHeartbeats()
	heartbeats.Wait()
	w.leave(ctx)
	if err := context.Cause(under); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// leave says good-bye, so that the server need not wait for what does not come.
func (w *Worker) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := w.sendHeartbeat(ctx, true); err != nil {
		w.Log.Debug("the server does not hear the good-bye", "err", err)
	}
}

// notify makes the next heartbeat come now.
func (w *Worker) notify() {
	select {
	case w.change <- struct{}{}:
	default: // it is about to come
	}
}

// sendHeartbeats sends heartbeats until the context ends. end is called if the server wants no such worker.
func (w *Worker) sendHeartbeats(ctx context.Context, end context.CancelCauseFunc) {
	for {
		asking, cancel := context.WithTimeout(ctx, HeartbeatTime)
		a, err := w.sendHeartbeat(asking, false)
		cancel()
		if err != nil && ctx.Err() == nil {
			w.Log.Debug("the server does not answer", "err", err)
		}
		if a.End {
			end(fmt.Errorf("worker: %s", a.Refused))
			return
		}
		select { // what changes meanwhile goes together
		case <-ctx.Done():
			return
		case <-time.After(heartbeatGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(HeartbeatTime - heartbeatGap):
		case <-w.change:
		}
	}
}

// sendHeartbeat sends a heartbeat and takes the answer.
func (w *Worker) sendHeartbeat(ctx context.Context, leaving bool) (a heartbeatReply, err error) {
	w.mu.Lock()
	b := heartbeat{Machine: w.about, Session: w.session, Leaving: leaving}
	b.Draining = leaving || w.draining.Err() != nil
	for key, p := range w.playing {
		b.Playing = append(b.Playing, attempt.Playing{Match: key.Match, Attempt: key.Attempt, Core: p.core})
	}
	w.mu.Unlock()
	data, err := json.Marshal(b)
	if err != nil {
		return a, err
	}
	answer, err := w.link.ask(ctx, machinesSubject(w.link.Name), data)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return a, err
	}
	w.handleReply(a)
	return a, nil
}

// handleReply takes the answer to a heartbeat.
func (w *Worker) handleReply(a heartbeatReply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Refused != "" && a.Refused != w.refused {
		w.Log.Error("the server refuses this worker", "why", a.Refused)
	}
	w.refused = a.Refused
	for _, key := range a.Over {
		if p := w.playing[key]; p != nil {
			w.Log.Info("an attempt is over before its result is in", "match", key.Match, "attempt", key.Attempt)
			p.over(errOver)
		}
	}
}

// handleCommand takes a command of the server.
func (w *Worker) handleCommand(ctx context.Context, msg *nats.Msg) {
	var c command
	err := json.Unmarshal(msg.Data, &c)
	switch o := c.Play; {
	case c.End != nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		if p := w.playing[*c.End]; p != nil {
			p.cancel(errCancelled)
		}
	case o == nil || o.Machine != w.link.Name:
		w.Log.Warn("a command of the server is not for this worker", "err", err)
	default:
		under, over := context.WithCancelCause(ctx)
		plays, cancel := context.WithCancelCause(under)
		if !w.enter(attemptOf{o.Match, o.Attempt}, &playing{o.Core, over, cancel}) { // it came twice
			over(nil)
			return
		}
		go func() {
			defer over(nil)
			w.play(under, plays, *o)
		}()
		w.notify()
	}
}

// enter notes an attempt, until exit. It reports false if the worker has it already, or takes no more.
func (w *Worker) enter(key attemptOf, p *playing) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.playing[key] != nil || w.stopped {
		return false
	}
	w.playing[key] = p
	w.jobs.Add(1)
	return true
}

func (w *Worker) exit(key attemptOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.playing, key)
	w.jobs.Done()
}
