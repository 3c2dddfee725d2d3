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

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// WorkerOptions are the options of a Worker.
type WorkerOptions struct {
	Version string // of timba
	// Cores are the cores to play on. Each core plays one match at a time. If this system cannot bind programs
	// to cores, the list contains cores.Any, once for each match that may run at the same time.
	Cores  []int
	Memory int64                       // in bytes, for all matches together; 0 means no limit
	Check  func(context.Context) error // see attempt.Options
	Dir    string                      // directory of the bot cache, the unsent results and temporary files
	Cache  int64                       // size of the bot cache in bytes; 0 means DefaultCache

	Play func(context.Context, attempt.Job, attempt.Options) attempt.Result // plays a match; nil means attempt.Play

	Registerer prometheus.Registerer // registers the metrics; if it is nil, they are not published
	Log        *slog.Logger          // if it is nil, nothing is logged
}

// Worker plays the matches that a server sends to this machine.
type Worker struct {
	WorkerOptions
	server     serverLine
	heartbeats heartbeats
	cache      *trees.Store
	outbox     outbox
	metrics    *workerMetrics
	journal    attempt.Journal
	cores      map[int]chan struct{} // by core; its capacity is the number of matches at the same time
	attempts   attemptSet
	drainStart chan struct{} // closed by drain
	drain      func()        // closes drainStart, once
}

// serverLine is the connection of a worker to its server. It limits how many bytes of bots and of results are on
// their way at the same time, because large transfers delay heartbeats.
type serverLine struct {
	*Link
	results *semaphore.Weighted // bytes of results on their way to the server
	files   *semaphore.Weighted // bytes of bots on their way from the server
}

func newServerLine(l *Link) serverLine {
	return serverLine{l, semaphore.NewWeighted(PartSize), semaphore.NewWeighted(PartSize)}
}

// sendPart sends message, which contains a part of a result, and returns the answer. part is the length of the part
// in bytes; it counts against the limit for results on their way.
func (s serverLine) sendPart(ctx context.Context, part int, message []byte) ([]byte, error) {
	return s.sendBounded(ctx, s.results, part, resultsSubject(s.Name), message)
}

func (s serverLine) fetch(ctx context.Context, request []byte) ([]byte, error) {
	return s.sendBounded(ctx, s.files, PartSize, filesSubject(s.Name), request)
}

// sendBounded sends data as a request on a NATS subject and returns the answer. Until the answer arrives, it holds
// the given number of bytes of the semaphore bound, which limits how much is on its way.
func (s serverLine) sendBounded(ctx context.Context, bound *semaphore.Weighted, bytes int, subject string, data []byte) ([]byte, error) {
	if err := bound.Acquire(ctx, int64(bytes)); err != nil {
		return nil, err
	}
	defer bound.Release(int64(bytes))
	return s.ask(ctx, subject, data)
}

// heartbeats has the data of a worker's heartbeats.
type heartbeats struct {
	machine     attempt.WorkerInfo
	session     string
	early       chan struct{} // has an element if the next heartbeat must be sent at once
	lastRefusal string        // the Refusal in the last answer; only the goroutine that sends heartbeats uses it
}

// attemptSet has the matches of a worker: from the server's command to play a match until the result has been sent.
type attemptSet struct {
	mu     sync.Mutex
	table  map[attemptKey]*workerAttempt
	closed bool // no more attempts are added
	count  sync.WaitGroup
}

type workerAttempt struct {
	core   int
	over   context.CancelCauseFunc // stops the games and the delivery of the result
	cancel context.CancelCauseFunc // stops only the games, so that a result without games is delivered
}

// add adds a match to the set. It returns false if the match is in the set already, or if the set is closed.
func (a *attemptSet) add(key attemptKey, p *workerAttempt) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.table[key] != nil || a.closed {
		return false
	}
	a.table[key] = p
	a.count.Add(1)
	return true
}

func (a *attemptSet) remove(key attemptKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.table, key)
	a.count.Done()
}

func (a *attemptSet) get(key attemptKey) *workerAttempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.table[key]
}

// list returns the matches in the form in which heartbeats report them.
func (a *attemptSet) list() (list []attempt.ReportedAttempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, p := range a.table {
		list = append(list, attempt.ReportedAttempt{Match: key.Match, Attempt: key.Attempt, Core: p.core})
	}
	return list
}

// close makes add refuse new matches. It returns a context that ends when the set is empty.
func (a *attemptSet) close() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	busy, end := context.WithCancel(context.Background())
	go func() {
		defer end()
		a.count.Wait()
	}()
	return busy
}

// These errors say why a worker cancels the context of a match.
var (
	errCancelled = errors.New("the server cancelled the match")
	errOver      = errors.New("the attempt is over")
)

// NewWorker returns a Worker and opens the directory o.Dir. The worker has the name of the NATS user of link.
func NewWorker(link *Link, o WorkerOptions) (*Worker, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil { // bots run in other directories
		return nil, fmt.Errorf("data: %w", err)
	}
	w := &Worker{
		WorkerOptions: o, server: newServerLine(link), metrics: newWorkerMetrics(o.Registerer), journal: attempt.Journal{Log: o.Log},
		cores: map[int]chan struct{}{}, attempts: attemptSet{table: map[attemptKey]*workerAttempt{}}, drainStart: make(chan struct{}),
	}
	w.drain = sync.OnceFunc(func() { close(w.drainStart) })
	if o.Play == nil {
		w.Play = attempt.Play
	}
	w.heartbeats = heartbeats{session: rand.Text(), early: make(chan struct{}, 1), machine: attempt.WorkerInfo{
		Name: link.Name, Version: o.Version, Protocol: Protocol, Arch: runtime.GOARCH, OS: runtime.GOOS,
		Sandbox: sandbox.Probe().Level.String(), Interpreters: interpreter.Versions(), Cores: o.Cores, Memory: o.Memory,
	}}
	for _, core := range o.Cores {
		w.cores[core] = make(chan struct{}, cap(w.cores[core])+1)
	}
	if w.cache, err = openStore(filepath.Join(o.Dir, "bots"), cmp.Or(o.Cache, DefaultCache), trees.Hash, w.Log); err != nil {
		return nil, err
	}
	if err := datadir.EmptyDir(w.Temp()); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	w.outbox, err = openOutbox(filepath.Join(o.Dir, "results"))
	return w, err
}

// Temp returns the directory for temporary files. NewWorker empties it, because a worker that was killed may
// have left some.
func (o WorkerOptions) Temp() string { return filepath.Join(o.Dir, "tmp") }

// Drain makes Run accept no more attempts (tries to play a match). Run then finishes the present attempts, sends
// their results and returns.
func (w *Worker) Drain() {
	w.drain()
	w.notify()
}

func (w *Worker) isDraining() bool {
	select {
	case <-w.drainStart:
		return true
	default:
		return false
	}
}

// Run plays matches until ctx ends or, after a call of Drain, until all results are sent. If ctx ends first, it
// interrupts the running matches, and the server has them played again. Run returns an error if it cannot subscribe
// to NATS, if the server rejects the worker, or if NATS rejects it after Drain.
func (w *Worker) Run(ctx context.Context) error {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	for _, p := range w.outbox.unsentResults {
		ctx, over := context.WithCancelCause(running)
		w.attempts.add(p.attemptKey, &workerAttempt{cores.Any, over, func(error) {}})
		go func() {
			defer over(nil)
			w.deliver(ctx, p)
		}()
	}
	commands, err := w.server.Subscribe(jobsSubject(w.server.Name), func(msg *nats.Msg) { w.handleCommand(running, msg) })
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	defer commands.Unsubscribe()
	var heartbeats sync.WaitGroup
	over, stopHeartbeats := context.WithCancel(running)
	defer stopHeartbeats()
	heartbeats.Go(func() { w.sendHeartbeats(over, end) })
	select {
	case <-running.Done():
	case <-w.drainStart:
	}
	busy := w.attempts.close()
	if w.server.await(busy, stateRefused) == nil {
		end(fmt.Errorf("worker %q: %w", w.server.Name, errRefused))
	}
	<-busy.Done()
	stopHeartbeats()
	heartbeats.Wait()
	w.sayGoodbye(ctx)
	if err := context.Cause(running); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// sayGoodbye tells the server that the worker leaves, so that the server does not wait for it.
func (w *Worker) sayGoodbye(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := w.sendHeartbeat(ctx, true); err != nil {
		w.Log.Debug("the server does not hear the good-bye", "err", err)
	}
}

func (w *Worker) notify() {
	select {
	case w.heartbeats.early <- struct{}{}:
	default: // a request is pending
	}
}

// sendHeartbeats sends heartbeats until ctx ends. If the server answers that it will never give jobs to the worker,
// sendHeartbeats calls end with the reason.
func (w *Worker) sendHeartbeats(ctx context.Context, end context.CancelCauseFunc) {
	for {
		limited, cancel := context.WithTimeout(ctx, HeartbeatTime)
		a, err := w.sendHeartbeat(limited, false)
		cancel()
		if err != nil && ctx.Err() == nil {
			w.Log.Debug("the server does not answer", "err", err)
		}
		if a.End {
			end(fmt.Errorf("worker: %s", a.Refusal))
			return
		}
		select { // changes within the gap are sent together
		case <-ctx.Done():
			return
		case <-time.After(heartbeatGap):
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(HeartbeatTime - heartbeatGap):
		case <-w.heartbeats.early:
		}
	}
}

func (w *Worker) sendHeartbeat(ctx context.Context, leaving bool) (a heartbeatReply, err error) {
	b := heartbeat{WorkerInfo: w.heartbeats.machine, Session: w.heartbeats.session, Leaving: leaving}
	b.Attempts = w.attempts.list()
	b.Draining = leaving || w.isDraining()
	data, err := json.Marshal(b)
	if err != nil {
		return a, err
	}
	answer, err := w.server.ask(ctx, machinesSubject(w.server.Name), data)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return a, err
	}
	w.handleReply(a)
	return a, nil
}

func (w *Worker) handleReply(a heartbeatReply) {
	if a.Refusal != "" && a.Refusal != w.heartbeats.lastRefusal {
		w.Log.Error("the server refuses this worker", "why", a.Refusal)
	}
	w.heartbeats.lastRefusal = a.Refusal
	for _, key := range a.EndedAttempts {
		if p := w.attempts.get(key); p != nil {
			w.Log.Info("an attempt is over before its result is in", "match", key.Match, "attempt", key.Attempt)
			p.over(errOver)
		}
	}
}

// handleCommand handles a command of the server: it ends a match that runs on this machine, or plays one in a
// goroutine until ctx ends.
func (w *Worker) handleCommand(ctx context.Context, msg *nats.Msg) {
	var c command
	err := json.Unmarshal(msg.Data, &c)
	switch o := c.Play; {
	case c.End != nil:
		if p := w.attempts.get(*c.End); p != nil {
			p.cancel(errCancelled)
		}
	case o == nil || o.Machine != w.server.Name:
		w.Log.Warn("a command of the server is not for this worker", "err", err)
	default:
		attemptCtx, over := context.WithCancelCause(ctx)
		playCtx, cancel := context.WithCancelCause(attemptCtx)
		if !w.attempts.add(attemptKey{o.Match, o.Attempt}, &workerAttempt{o.Core, over, cancel}) { // the command was repeated
			over(nil)
			return
		}
		go func() {
			defer over(nil)
			w.playOrder(attemptCtx, playCtx, *o)
		}()
		w.notify()
	}
}
