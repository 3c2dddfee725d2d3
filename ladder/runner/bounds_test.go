package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
)

// findCounter counts the calls of Find.
type findCounter struct {
	Matches
	found atomic.Int64
}

func (c *findCounter) Find(ctx context.Context, id int64) (ladder.Match, error) {
	c.found.Add(1)
	return c.Matches.Find(ctx, id)
}

// The search for unwanted jobs does not read every running match from the store.
func TestRecheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	f := w.newFleet()
	const n = 5 * firstMatches
	for i := range n / firstMatches {
		f.AddMachine(attempt.WorkerInfo{Name: fmt.Sprintf("w%d", i+1), Cores: slices.Repeat([]int{cores.Any}, firstMatches)})
	}
	f.Player = func(ctx context.Context, _ string, j attempt.Job) (r attempt.Result) {
		<-ctx.Done()
		r.Failure = &attempt.Failure{Kind: attempt.FailedCancelled, Text: phrase.Plain("ended")}
		return r
	}
	matches := &findCounter{}
	r := w.newRunner(0, func(o *runnerParts) { matches.Matches, o.Store.Matches, o.Fleet = o.Store.Matches, matches, f })
	r.fillCores(t.Context(), t.Context())
	if len(r.placement.allAssignments()) != n {
		t.Fatalf("%d matches are played", len(r.placement.allAssignments()))
	}
	r.endUnwantedJobs(t.Context())
	if read := matches.found.Load(); read > 0 {
		t.Errorf("%d matches are read while %d are played", read, n)
	}
	cancelled := r.placement.allAssignments()[0]
	w.Must(w.Store.Matches.Cancel(t.Context(), cancelled.play.match.ID, 0, phrase.Plain("cancelled for the test")))
	r.endUnwantedJobs(t.Context())
	o := <-r.outcomes
	if o.assignment != cancelled || matches.found.Load() == 0 {
		t.Errorf("match %d ends, not the cancelled one", o.play.match.ID)
	}
	for _, a := range r.placement.allAssignments() {
		a.end(errCancelled)
	}
	for range n - 1 {
		<-r.outcomes
	}
}

// Time that other programs take from a requested match does not count against its limit.
func TestOverOwnTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		think, held time.Duration // for each of 40 moves in two games
		over        bool
	}{
		"others":  {0, 20 * time.Second, false},
		"its own": {20 * time.Second, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ctx, over := context.WithCancelCause(t.Context())
				p := &play{
					outcome: outcome{assignment: &assignment{end: over}}, matchJob: &matchJob{match: &ladder.Match{ID: 1, RequestedBy: 1}},
					versions: []ladder.Version{{ID: 1, Bot: "a"}, {ID: 2, Bot: "b"}},
				}
				r := &Runner{Options: Options{Limits: Limits{Time: 20 * time.Minute}, Host: soundHost{}}}
				r.journal.Log = slog.New(slog.DiscardHandler)
				r.Programs = &laddertest.Programs{Start: func(context.Context, ladder.Version) (b match.Contestant, err error) {
					b.Serve = func(in io.Reader, out io.Writer) error {
						return protocol.Serve(in, out, "", "", func(turn *protocol.Turn) protocol.Answer {
							time.Sleep(c.think)
							out.(match.Holder).Hold(true)
							time.Sleep(c.held)
							out.(match.Holder).Hold(false)
							return protocol.Answer{Move: turn.Moves.Token(0)}
						})
					}
					return b, nil
				}}
				result := r.playLocal(ctx, p, attempt.Job{
					Match: 1, Attempt: 1, Game: "brisca", Bots: []attempt.Entrant{{Name: "a"}, {Name: "b"}}, Deals: 1,
					Clock: referee.Clock{Bank: time.Hour, Startup: time.Minute}, Core: cores.Any, ParallelRotations: 1,
				})
				if errors.Is(context.Cause(ctx), errOverTime) != c.over || (result.Failure != nil) != c.over {
					t.Errorf("it ends with %v, because %v", result.Failure, context.Cause(ctx))
				}
			})
		})
	}
}
