package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// play plays an attempt on its core and hands in the result. Of an attempt that is over, and of
// one that the end of this worker interrupts, there is none.
func (w *Worker) play(ctx context.Context, o order) {
	key := attemptOf{o.Match, o.Attempt}
	r := w.playOnCore(ctx, o)
	cause := context.Cause(ctx)
	if errors.Is(cause, errOver) || ctx.Err() != nil && !errors.Is(cause, errCancelled) {
		w.exit(key)
		return
	}
	r.Machine = w.link.Name
	w.count(r)
	packed, err := Pack(r, MaxPacked)
	if err != nil {
		w.Log.Error("a result cannot be handed in", "match", o.Match, "err", err)
		w.exit(key)
		return
	}
	p := parcel{attemptOf: key, Packed: packed}
	if !errors.Is(cause, errCancelled) { // that is not worth keeping
		if err := w.outbox.keep(p); err != nil {
			w.Log.Warn("a result is kept in memory alone", "match", o.Match, "err", err)
		}
	}
	w.deliver(ctx, p)
}

func (w *Worker) count(r Result) {
	outcome := "played"
	if r.Failure != nil {
		outcome = r.Failure.Kind
	} else {
		w.metrics.took.Observe(r.Took.Seconds())
	}
	w.metrics.attempts.WithLabelValues(outcome).Inc()
	w.metrics.void.Add(float64(r.Voids))
	w.metrics.starved.Add(float64(r.Starved))
}

// playOnCore plays an attempt when its core is free, with its bots in their sandboxes.
func (w *Worker) playOnCore(ctx context.Context, o order) Result {
	if !w.mayPlay(o.Core) {
		return failed(o.Job, fmt.Errorf("%s does not play on core %d", w.link.Name, o.Core))
	}
	select {
	case w.cores[o.Core] <- struct{}{}:
	case <-ctx.Done():
		return failed(o.Job, ctx.Err())
	}
	defer func() { <-w.cores[o.Core] }()
	w.metrics.playing.Inc()
	defer w.metrics.playing.Dec()
	var done []func()
	defer func() {
		for _, f := range done {
			f()
		}
	}()
	return w.Play(ctx, o.Job, PlayOptions{
		Check: w.Check, Journal: &w.journal,
		Program: func(ctx context.Context, slot int) (match.Bot, error) {
			b, release, err := w.program(ctx, o, slot)
			if release != nil {
				done = append(done, release)
			}
			return b, err
		},
	})
}

// program returns the bot of a slot: of the house, or from the server. Its files stay until
// release is called.
func (w *Worker) program(ctx context.Context, o order, slot int) (bot match.Bot, release func(), err error) {
	b := o.Bots[slot]
	if b.House != "" {
		p, err := program.Resolver{}.Resolve(ctx, b.House)
		p.Bot.Sandbox, p.Bot.Temp = nil, w.Temp()
		return p.Bot, nil, err
	}
	if len(b.Command) == 0 {
		return bot, nil, errors.New("it has no command")
	}
	packed := o.Builds[b.Hash]
	dir, release, err := w.cache.use(ctx, packed.Tree, func(ctx context.Context, into string) error {
		w.metrics.fetched.Inc()
		part := func(p filePart) ([]byte, error) { return w.part(ctx, p) }
		return unpackTree(&packedBot{build: packed, part: part}, into)
	})
	if err != nil {
		return bot, nil, machineError(err)
	}
	w.metrics.cache.Set(float64(w.cache.bytes()))
	private, err := filepath.Abs(w.Dir)
	if err != nil {
		return bot, release, machineError(err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return bot, release, machineError(err)
	}
	if err := program.Allowed(dir, private, b.Command[0]); err != nil {
		return bot, release, err
	}
	command, err := program.Manifest{Run: b.Command}.Command(dir)
	if err != nil {
		return bot, release, err
	}
	bot = match.Bot{Version: b.Label, Command: command, Dir: dir, Temp: w.Temp(), Hash: b.Hash, Language: b.Language}
	if o.Sandbox != nil {
		s := *o.Sandbox
		s.Level = sandbox.Probe().Level // at least the level that the server requires
		s.Freeze = s.Level == sandbox.Full
		bot.Sandbox = &s
	}
	return bot, release, nil
}

// fetchTime is how long a worker tries to fetch a part of a bot.
const fetchTime = 3 * time.Minute

// part fetches a part of the packed files of a bot. While the server does not answer it tries again.
func (w *Worker) part(ctx context.Context, p filePart) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		part, err := w.ask(within, w.down, PartSize, filesSubject(w.link.Name), data)
		switch {
		case err == nil && len(part) > 0:
			return part, nil
		case err == nil:
			return nil, errNoBot
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-within.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// ask sends a request of so many bytes, or for so many, when the line is free for them: on one that is slow
// the heartbeats of the connection wait behind all that is on its way.
func (w *Worker) ask(ctx context.Context, line *semaphore.Weighted, bytes int, subject string, data []byte) ([]byte, error) {
	if err := line.Acquire(ctx, int64(bytes)); err != nil {
		return nil, err
	}
	defer line.Release(int64(bytes))
	return w.link.ask(ctx, subject, data)
}

// machineError makes an error one of this machine.
func machineError(err error) error { return &Failure{Kind: FailedMachine, Text: err.Error()} }

// How handing in is tried again.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// deliver hands in a result, a part at a time, until the server says that it may be forgotten. It gives up when
// the attempt is over, or the worker ends: then the result stays on the disk.
func (w *Worker) deliver(ctx context.Context, p parcel) {
	defer w.exit(p.attemptOf)
	w.metrics.waiting.Inc()
	defer w.metrics.waiting.Dec()
	ctx, end := w.handing(ctx, p.attemptOf)
	defer end()
	sum := sha256.Sum256(p.Packed)
	part := resultPart{attemptOf: p.attemptOf, Sum: hex.EncodeToString(sum[:]), Size: len(p.Packed)}
	for wait := firstRetry; ; {
		r, err := w.handIn(ctx, part, p.Packed)
		if r.Forget || errors.Is(context.Cause(ctx), errOver) {
			break
		}
		if err == nil {
			part.Offset, wait = r.Next, firstRetry
			continue
		}
		if ctx.Err() == nil && wait == firstRetry {
			w.Log.Warn("a result cannot be handed in yet", "match", p.Match, "attempt", p.Attempt, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			wait = min(2*wait, lastRetry)
		}
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errOver) {
			return
		}
	}
	if err := w.outbox.drop(p.attemptOf); err != nil {
		w.Log.Warn("a result that is handed in cannot be deleted", "match", p.Match, "err", err)
	}
}

// handIn hands in the part of a packed result that the server wants next.
func (w *Worker) handIn(ctx context.Context, p resultPart, packed []byte) (r receipt, err error) {
	message, err := json.Marshal(p)
	if err != nil {
		return r, err
	}
	part := packed[p.Offset:min(p.Offset+PartSize, len(packed))]
	message = append(append(message, '\n'), part...)
	answer, err := w.ask(ctx, w.up, len(part), resultsSubject(w.link.Name), message)
	if err == nil {
		err = json.Unmarshal(answer, &r)
	}
	switch {
	case err != nil:
		return receipt{}, err
	case r.Full:
		return r, errors.New("the server waits until it has stored others of this worker")
	case !r.Forget && (r.Next < 0 || r.Next >= len(packed)):
		return r, fmt.Errorf("the server wants byte %d of %d", r.Next, len(packed))
	}
	return r, nil
}

// handing returns the context of handing in: a cancelled match still hands in that it was, and
// one that is over does not.
func (w *Worker) handing(ctx context.Context, key attemptOf) (context.Context, context.CancelFunc) {
	stop := func() {}
	if errors.Is(context.Cause(ctx), errCancelled) {
		ctx, stop = context.WithTimeout(context.WithoutCancel(ctx), StopTime)
	}
	ctx, end := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.playing[key]; a != nil {
		a.end = func(cause error) {
			if errors.Is(cause, errOver) { // what is played is handed in, even if it was cancelled just now
				end(cause)
			}
		}
	}
	return ctx, func() {
		end(nil)
		stop()
	}
}
