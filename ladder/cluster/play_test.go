package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/attempt"
)

// A bot whose files cannot be built is a failure of its version, not of the machine.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *DispatcherOptions) {
		o.BuildDir = func(context.Context, attempt.Entrant) (string, error) { return "", errors.New("its upload is gone") }
	})
	a.sendHeartbeat(a.connectHostile("lab-1"), nil)
	_, err := a.Play(t.Context(), "lab-1", job(1, 1, greedy, a.bot(2, script(""))))
	failure, ok := errors.AsType[*attempt.Failure](err)
	if !ok || failure.Kind != attempt.FailedVersion || failure.Version != 2 || !strings.Contains(failure.Text.String(), "its upload is gone") {
		t.Errorf("it fails with %v", err)
	}
}

// A machine continues an attempt that a stopping server leaves to the next one, however long the stop takes.
func TestLeft(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	j := job(1, 1, greedy, greedy2)
	ctx, stop := context.WithCancelCause(t.Context())
	out := a.startPlay(ctx, "lab-1", j)
	a.awaitSent(1, 1)
	stop(attempt.ErrDetach)
	if got := <-out; !errors.Is(got.err, attempt.ErrDetach) {
		t.Fatalf("the server's stop gave %v", got.err)
	}
	a.mu.Lock()
	a.attempts.adoptionEnd = time.Now()
	a.mu.Unlock()
	got := a.sendHeartbeat(l, func(b *heartbeat) {
		b.Attempts = []attempt.ReportedAttempt{{Match: 1, Attempt: 1}, {Match: 2, Attempt: 1}}
	})
	if want := []attemptKey{{2, 1}}; !slices.Equal(got.EndedAttempts, want) {
		t.Errorf("over are %v, want %v", got.EndedAttempts, want)
	}
	for match, want := range map[int64]string{1: gotAgain, 2: gotOld} {
		if got, _, _ := a.addPart("lab-1", resultPart{attemptKey: attemptKey{match, 1}}, nil, nil); got != want {
			t.Errorf("a result of match %d is %q, want %q", match, got, want)
		}
	}
}

// An attempt is not lost while its bots are being packed, however long that takes, although its machine does
// not know it.
func TestSlowBuild(t *testing.T) {
	t.Parallel()
	building, built := make(chan struct{}), make(chan struct{})
	a := newArena(t, func(o *DispatcherOptions) {
		ready := o.BuildDir
		o.BuildDir = func(ctx context.Context, b attempt.Entrant) (string, error) {
			close(building)
			<-built
			return ready(ctx, b)
		}
	})
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	words := kit.Get[*nats.Subscription](t)(l.SubscribeSync(jobsSubject("lab-1")))
	j := job(1, 1, greedy, a.bot(2, script("")))
	out := a.startPlay(t.Context(), "lab-1", j)
	<-building
	a.sendHeartbeat(l, func(b *heartbeat) { b.Attempts = []attempt.ReportedAttempt{{Match: 1, Attempt: 1}} }) // an attempt that it cannot know
	a.expireMachine("lab-1")
	a.sendHeartbeat(l, nil)
	close(built)
	kit.Get[*nats.Msg](t)(words.NextMsg(patience))
	r := attempt.Result{Match: 1, Attempt: 1, Seed: j.Seed, Machine: "lab-1", Failure: &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("made up")}}
	a.sendResult(l, r)
	if got := <-out; got.err != nil || got.Failure == nil {
		t.Errorf("it gave %+v, %v", got.Result, got.err)
	}
}
