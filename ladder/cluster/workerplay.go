package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// playOrder plays the match in o and sends the result. If playCtx ends, it stops playing and sends what the result is
// then. If ctx ends before the match has been played, it sends nothing: the result is no longer wanted, or the worker
// stops.
func (w *Worker) playOrder(ctx, playCtx context.Context, o order) {
	key := attemptKey{o.Match, o.Attempt}
	r := w.playOnCore(playCtx, o)
	if ctx.Err() != nil {
		w.attempts.remove(key)
		return
	}
	r.Machine = w.server.Name
	w.countResult(r)
	packed, err := Pack(r, MaxPacked)
	if err != nil {
		w.Log.Error("a result cannot be handed in", "match", o.Match, "err", err)
		w.attempts.remove(key)
		return
	}
	p := packedResult{key, packed}
	if playCtx.Err() != nil { // the result of a cancelled attempt is not stored
		limited, stop := context.WithTimeout(ctx, StopTime)
		defer stop()
		ctx = limited
	} else if err := w.outbox.store(p); err != nil {
		w.Log.Warn("a result is kept in memory alone", "match", o.Match, "err", err)
	}
	w.deliver(ctx, p)
}

func (w *Worker) countResult(r attempt.Result) {
	outcome := "played"
	if r.Failure != nil {
		outcome = r.Failure.Kind
	} else {
		w.metrics.matchSeconds.Observe(r.Took.Seconds())
	}
	w.metrics.attempts.WithLabelValues(outcome).Inc()
	w.metrics.voidGames.Add(float64(r.VoidGames))
	w.metrics.starvedGames.Add(float64(r.StarvedGames))
}

// playOnCore plays the match in o on the core that the order names, as soon as that core is free.
func (w *Worker) playOnCore(ctx context.Context, o order) attempt.Result {
	if !slices.Contains(w.Cores, o.Core) {
		return attempt.FailedResult(o.Job, fmt.Errorf("%s does not play on core %d", w.server.Name, o.Core))
	}
	select {
	case w.cores[o.Core] <- struct{}{}:
	case <-ctx.Done():
		return attempt.FailedResult(o.Job, ctx.Err())
	}
	defer func() { <-w.cores[o.Core] }()
	w.metrics.playing.Inc()
	defer w.metrics.playing.Dec()
	ctx, end := context.WithCancel(ctx)
	defer end()
	return w.Play(ctx, o.Job, attempt.Options{
		Check: w.Check, Journal: &w.journal,
		Program: func(ctx context.Context, slot int) (match.Contestant, error) { return w.program(ctx, o, slot) },
	})
}

// program returns the bot with the index slot in the match of o, ready to be started. The files of the bot come from
// the cache or are fetched from the server, and stay in the cache until ctx ends. A house bot, which is part of
// timba, needs no files.
func (w *Worker) program(ctx context.Context, o order, slot int) (bot match.Contestant, err error) {
	b := o.Bots[slot]
	if b.House != "" {
		p, err := program.Resolver{}.Resolve(ctx, b.House)
		p.Contestant.Sandbox, p.Contestant.Temp = nil, w.Temp()
		return p.Contestant, err
	}
	if len(b.Command) == 0 {
		return bot, errors.New("it has no command")
	}
	packed := o.Builds[b.Hash]
	files, err := w.cache.Add(ctx, packed.Tree, func(ctx context.Context, dir string) error {
		w.metrics.fetchedBots.Inc()
		part := func(p filePart) ([]byte, error) { return w.fetchPart(ctx, p) }
		return trees.Unpack(packed.reader(part), dir, bundle.MaxBuiltFiles, bundle.MaxBuilt)
	})
	if err != nil {
		return bot, &attempt.Failure{Kind: attempt.FailedMachine, Text: phrase.FromError(fmt.Errorf("bot: %w", err))}
	}
	context.AfterFunc(ctx, files.Release)
	w.metrics.cache.Set(float64(w.cache.Bytes()))
	dir := files.Path
	if err := program.CheckCommandWord(dir, w.Dir, b.Command[0]); err != nil {
		return bot, err
	}
	if bot, err = (program.Manifest{Run: b.Command}).Contestant(dir); err != nil {
		return bot, err
	}
	bot.Version, bot.Temp, bot.Hash, bot.Language = b.Label, w.Temp(), b.Hash, b.Language
	if o.Sandbox != nil {
		s := *o.Sandbox
		s.Level = sandbox.Probe().Level // at least the level that the server requires
		s.Freeze = s.Level == sandbox.LevelFull
		bot.Sandbox = &s
	}
	return bot, nil
}

// fetchTime is how long a worker tries to fetch a part of a bot.
const fetchTime = 3 * time.Minute

// fetchPart requests a part of the packed files of a bot. It repeats the request for up to fetchTime while the
// server does not answer.
func (w *Worker) fetchPart(ctx context.Context, p filePart) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		part, err := w.server.fetch(limited, data)
		switch {
		case err == nil && len(part) > 0:
			return part, nil
		case err == nil:
			return nil, errNoBot
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limited.Done():
			return nil, err
		case <-time.After(wait):
		}
	}
}

// The shortest and the longest delay before a failed request is repeated. The delay grows with each failure.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)
