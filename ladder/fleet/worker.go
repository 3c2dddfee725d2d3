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

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// WorkerOptions are the options of a Worker.
type WorkerOptions struct {
	Version string // of timba
	// Cores are where matches are played, one at a time on each; referee.AnyCore where this
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
	change  chan struct{}         // there is something to tell
	drain   chan struct{}
	once    sync.Once
	jobs    sync.WaitGroup

	mu       sync.Mutex
	playing  map[attemptOf]*playing
	early    *lru.Cache[attemptOf, struct{}] // attempts that were cancelled before their jobs had come
	server   string                          // that answered last; "" while it makes the consumer
	known    string                          // the last server that had a name
	consumer int                             // of the jobs, as the server counts them
	ackTime  time.Duration
	refused  string
	turn     chan struct{} // closed and replaced when the server, its consumer, or whether it refuses, changes
}

// playing is an attempt that the worker has, until it is handed in.
type playing struct {
	core int
	end  context.CancelCauseFunc
}

// maxEarly is how many cancelled attempts a worker remembers that it does not have.
const maxEarly = 1000

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
		playing: map[attemptOf]*playing{}, ackTime: AckTime, turn: make(chan struct{}), journal: Journal{Log: o.Log},
	}
	if o.Play == nil {
		w.Play = Play
	}
	var err error
	if w.early, err = lru.New[attemptOf, struct{}](maxEarly); err != nil {
		return nil, err
	}
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
	cancels, err := w.link.Subscribe(cancelSubject(w.link.Name), w.cancelled)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer cancels.Unsubscribe()
	for _, p := range w.left {
		w.enter(p.attemptOf, cores.Any, func(error) {})
		w.jobs.Go(func() { w.deliver(under, p) })
	}
	beats := make(chan struct{})
	over, stopBeats := context.WithCancel(under)
	defer stopBeats()
	go func() {
		defer close(beats)
		w.beats(over, end)
	}()
	w.take(under)
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
	if _, err := w.ask(ctx, true); err != nil {
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
		a, err := w.ask(asking, false)
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

// ask tells the server of this worker and takes its answer.
func (w *Worker) ask(ctx context.Context, leaving bool) (a answer, err error) {
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
	if a.Server != "" && a.Server != w.known {
		if w.known != "" {
			w.early.Purge() // another run of the server may have another database
		}
		w.known = a.Server
	}
	if a.Server != w.server || a.Jobs != w.consumer || a.Refused != w.refused {
		w.server, w.consumer, w.refused = a.Server, a.Jobs, a.Refused
		close(w.turn)
		w.turn = make(chan struct{})
	}
	for _, key := range a.Over {
		if p := w.playing[key]; p != nil {
			w.Log.Info("an attempt is over before its result is in", "match", key.Match, "attempt", key.Attempt)
			p.end(errOver)
		}
	}
}

// cancelled takes the server's word that a match is not wanted any more.
func (w *Worker) cancelled(msg *nats.Msg) {
	var key attemptOf
	if json.Unmarshal(msg.Data, &key) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.playing[key]; p != nil {
		p.end(errCancelled)
	} else {
		w.early.Add(key, struct{}{})
	}
}

// take takes jobs until the context ends or the worker drains.
func (w *Worker) take(ctx context.Context) {
	for ctx.Err() == nil && !w.draining() {
		w.mu.Lock()
		turn, may := w.turn, w.server != "" && w.refused == ""
		w.mu.Unlock()
		again := (<-chan time.Time)(nil)
		if may {
			if err := w.consume(ctx, turn); err != nil {
				w.Log.Warn("jobs cannot be taken", "err", err)
				again = time.After(reconnectWait)
			} else {
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-w.drain:
		case <-turn:
		case <-again:
		}
	}
}

// consume takes jobs until the server is another one, or has forgotten this worker.
func (w *Worker) consume(ctx context.Context, turn <-chan struct{}) error {
	asking, cancel := context.WithTimeout(ctx, StopTime)
	defer cancel()
	c, err := w.link.js.Consumer(asking, jobsStream, w.link.Name)
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	jobs, err := c.Consume(func(msg jetstream.Msg) { w.job(ctx, msg) },
		jetstream.PullMaxMessages(len(w.Cores)+8), jetstream.PullExpiry(30*time.Second), jetstream.PullHeartbeat(Beat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			select {
			case broken <- err:
			default:
			}
		}))
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-w.drain:
	case <-turn:
	case err = <-broken:
	case <-jobs.Closed(): // NATS has forgotten them
		err = errors.New("the server's NATS has ended them")
	}
	jobs.Drain() // what has been fetched is played
	<-jobs.Closed()
	return err
}

// enter notes an attempt, and ends it if it has been cancelled. It reports false if the worker has it
// already.
func (w *Worker) enter(key attemptOf, core int, end context.CancelCauseFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.playing[key] != nil {
		return false
	}
	w.playing[key] = &playing{core: core, end: end}
	if w.early.Remove(key) {
		end(errCancelled)
	}
	return true
}

func (w *Worker) exit(key attemptOf) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.playing, key)
}

// job takes a job.
func (w *Worker) job(ctx context.Context, msg jetstream.Msg) {
	var o order
	if err := json.Unmarshal(msg.Data(), &o); err != nil || o.Machine != w.link.Name {
		w.Log.Warn("a job is not for this worker", "for", o.Machine, "err", err)
		msg.Term()
		return
	}
	key := attemptOf{o.Match, o.Attempt}
	under, end := context.WithCancelCause(ctx)
	if !w.enter(key, o.Core, end) { // it came twice
		end(nil)
		msg.Ack()
		return
	}
	if err := msg.Ack(); err != nil {
		w.Log.Debug("a job cannot be acknowledged", "match", o.Match, "err", err)
	}
	w.jobs.Go(func() {
		defer end(nil)
		w.play(under, o)
	})
	w.tell()
}

// mayPlay reports whether a core is one of this worker's.
func (w *Worker) mayPlay(core int) bool { return slices.Contains(w.Cores, core) }
