package fleet

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
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

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

	Play func(context.Context, Job, PlayOptions) Result // plays a match; nil: Play

	Registerer prometheus.Registerer // nil: nobody sees the metrics
	Log        *slog.Logger          // nil: none
}

// Worker plays matches that a server hands to it.
type Worker struct {
	WorkerOptions
	link    *Link
	about   Machine
	session string
	cache   *cache
	outbox  outbox
	left    []parcel // by an earlier run
	metrics *workerMetrics
	journal Journal
	cores   map[int]chan struct{} // each with room for one match
	up      *semaphore.Weighted   // the line to the server, with room for PartSize; see ask
	down    *semaphore.Weighted   // and from there
	change  chan struct{}         // there is something to tell
	drain   chan struct{}
	once    sync.Once
	jobs    sync.WaitGroup

	mu      sync.Mutex
	playing map[attemptOf]*playing
	ackTime time.Duration
	refused string
	stopped bool // it takes no more jobs
}

// playing is an attempt that the worker has, until it is handed in.
type playing struct {
	core int
	end  context.CancelCauseFunc
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
	w := &Worker{
		WorkerOptions: o, link: link, session: rand.Text(), metrics: newWorkerMetrics(o.Registerer),
		cores: map[int]chan struct{}{}, change: make(chan struct{}, 1), drain: make(chan struct{}),
		up: semaphore.NewWeighted(PartSize), down: semaphore.NewWeighted(PartSize),
		playing: map[attemptOf]*playing{}, ackTime: AckTime, journal: Journal{Log: o.Log},
	}
	if o.Play == nil {
		w.Play = Play
	}
	var err error
	w.about = Machine{
		Name: link.Name, Version: o.Version, Protocol: Protocol, Arch: runtime.GOARCH, OS: runtime.GOOS,
		Sandbox: sandbox.Probe().Level.String(), Interpreters: interpreter.Versions(), Cores: o.Cores, Memory: o.Memory,
	}
	for _, core := range o.Cores {
		if w.cores[core] == nil {
			w.cores[core] = make(chan struct{}, count(o.Cores, core))
		}
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

func count(list []int, x int) (n int) {
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// Drain makes Run finish the matches that the worker has, hand them in and return.
func (w *Worker) Drain() {
	w.once.Do(func() { close(w.drain) })
	w.tell()
}

func (w *Worker) draining() bool {
	select {
	case <-w.drain:
		return true
	default:
		return false
	}
}

// Run plays until the context ends or, after Drain, until nothing is left. A match that is
// interrupted is played again elsewhere. The error is why the server wants no such worker.
func (w *Worker) Run(ctx context.Context) error {
	under, end := context.WithCancelCause(ctx)
	defer end(nil)
	for _, p := range w.left {
		w.enter(p.attemptOf, cores.Any, func(error) {})
		go w.deliver(under, p)
	}
	words, err := w.link.Subscribe(jobsSubject(w.link.Name), func(msg *nats.Msg) { w.told(under, msg) })
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer words.Unsubscribe()
	beats := make(chan struct{})
	over, stopBeats := context.WithCancel(under)
	defer stopBeats()
	go func() {
		defer close(beats)
		w.beats(over, end)
	}()
	select {
	case <-under.Done():
	case <-w.drain:
	}
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.jobs.Wait()
	stopBeats()
	<-beats
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
	if _, err := w.report(ctx, true); err != nil {
		w.Log.Debug("the server does not hear the good-bye", "err", err)
	}
}

// tell makes the next beat come now.
func (w *Worker) tell() {
	select {
	case w.change <- struct{}{}:
	default: // it is about to come
	}
}

// beats tells the server of this worker until the context ends. end is called if the server wants
// no such worker.
func (w *Worker) beats(ctx context.Context, end context.CancelCauseFunc) {
	for {
		asking, cancel := context.WithTimeout(ctx, Beat)
		a, err := w.report(asking, false)
		cancel()
		if err != nil && ctx.Err() == nil {
			w.Log.Debug("the server does not answer", "err", err)
		}
		if a.End {
			end(fmt.Errorf("worker: %s", a.Refused))
			return
		}
		w.mu.Lock()
		every := min(Beat, w.ackTime/4)
		w.mu.Unlock()
		gap := min(beatGap, every) // what changes meanwhile is told together
		select {
		case <-ctx.Done():
			return
		case <-time.After(gap):
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every - gap):
		case <-w.change:
		}
	}
}

// report tells the server of this worker and takes its answer.
func (w *Worker) report(ctx context.Context, leaving bool) (a answer, err error) {
	w.mu.Lock()
	b := beat{Machine: w.about, Session: w.session, Leaving: leaving}
	b.Draining = leaving || w.draining()
	for key, p := range w.playing {
		b.Playing = append(b.Playing, Playing{Match: key.Match, Attempt: key.Attempt, Core: p.core})
	}
	w.mu.Unlock()
	data, err := json.Marshal(b)
	if err != nil {
		return a, err
	}
	msg, err := w.link.RequestWithContext(ctx, beatSubject(w.link.Name), data)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(msg.Data, &a); err != nil {
		return a, err
	}
	w.heard(a)
	return a, nil
}

// heard takes the server's answer.
func (w *Worker) heard(a answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.AckTime > 0 {
		w.ackTime = a.AckTime
	}
	if a.Refused != "" && a.Refused != w.refused {
		w.Log.Error("the server refuses this worker", "why", a.Refused)
	}
	w.refused = a.Refused
	for _, key := range a.Over {
		if p := w.playing[key]; p != nil {
			w.Log.Info("an attempt is over before its result is in", "match", key.Match, "attempt", key.Attempt)
			p.end(errOver)
		}
	}
}

// told takes a word of the server.
func (w *Worker) told(ctx context.Context, msg *nats.Msg) {
	var say word
	err := json.Unmarshal(msg.Data, &say)
	switch o := say.Play; {
	case say.End != nil:
		w.mu.Lock()
		defer w.mu.Unlock()
		if p := w.playing[*say.End]; p != nil {
			p.end(errCancelled)
		}
	case o == nil || o.Machine != w.link.Name:
		w.Log.Warn("a word of the server is not for this worker", "err", err)
	default:
		under, end := context.WithCancelCause(ctx)
		if !w.enter(attemptOf{o.Match, o.Attempt}, o.Core, end) { // it came twice
			end(nil)
			return
		}
		go func() {
			defer end(nil)
			w.play(under, *o)
		}()
		w.tell()
	}
}

// enter notes an attempt, until exit. It reports false if the worker has it already, or takes no more.
func (w *Worker) enter(key attemptOf, core int, end context.CancelCauseFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.playing[key] != nil || w.stopped {
		return false
	}
	w.playing[key] = &playing{core: core, end: end}
	w.jobs.Add(1)
	return true
}

func (w *Worker) exit(key attemptOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.playing, key)
	w.jobs.Done()
}

// mayPlay reports whether a core is one of this worker's.
func (w *Worker) mayPlay(core int) bool { return slices.Contains(w.Cores, core) }
