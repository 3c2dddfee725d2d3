package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
)

// A match of a script and a house bot is played by a process that is connected over TLS.
func TestRemote(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.worker("lab-1")
	j := job(1, 1, greedy, a.bot(2, script("")))
	d, err := a.Play(t.Context(), "lab-1", j)
	a.complete(j, d, err)
	if d.Machine != "lab-1" || d.Took <= 0 {
		t.Errorf("it was played by %q in %s", d.Machine, d.Took)
	}
	m := a.there("lab-1")
	if m.Arch == "" || m.Sandbox == "" || len(m.Cores) != 1 || m.Interpreters == nil {
		t.Errorf("the machine tells %+v", m)
	}
	a.must(p.Process.Signal(syscall.SIGTERM))
	if err := <-p.ended; err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(p.settings.Dir, "results"))
	if err != nil || len(left) > 0 {
		t.Errorf("results stay after they are handed in: %v, %v", left, err)
	}
	a.gone("lab-1")
}

// gate makes a gate that is closed: what plays behind it waits until open is called.
func gate(t *testing.T) (path string, open func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "gate")
	kit.Must(t, syscall.Mkfifo(path, 0o600))
	return path, func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0) // reading waits for somebody who could write
		kit.Must(t, err)
		t.Cleanup(func() { f.Close() })
	}
}

// endless is a bot that does not move.
var endless = script("test $verb = turn && exec sleep 1d")

// A worker that drains finishes what it has.
func TestDrain(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := gate(t)
	p := a.worker("lab-1", file)
	j := job(1, 1, greedy, a.bot(2, script("")))
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(p.Process.Signal(syscall.SIGTERM))
	kit.Until(t, "it drains", func() bool { return a.there("lab-1").Draining })
	open()
	got := <-out
	a.complete(j, got.Delivery, got.err)
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// A match on a machine that is killed is lost, and its next attempt is played elsewhere.
func TestKilled(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.worker("lab-1")
	a.worker("lab-2")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(p.Process.Kill())
	<-p.ended
	a.silent("lab-1")
	if got := <-out; !errors.Is(got.err, ErrLost) {
		t.Fatalf("the killed attempt gave %v", got.err)
	}
	a.gone("lab-1")
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-2", again)
	a.complete(again, d, err)
}

// A match on a machine whose worker is killed and comes back is lost at once: the new worker does not
// have it.
func TestKilledAndBack(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.worker("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(p.Process.Kill())
	<-p.ended
	a.start(p.settings)
	if got := <-out; !errors.Is(got.err, ErrLost) {
		t.Fatalf("the killed attempt gave %v", got.err)
	}
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-1", again)
	a.complete(again, d, err)
}

// A worker that was stopped for longer than the acknowledgement time learns that its attempt is
// over, and takes jobs again.
func TestStopped(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.worker("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(p.Process.Signal(syscall.SIGSTOP))
	kit.Until(t, "it is stopped", func() bool { return stopped(t, p.Process.Pid) })
	a.link.FlushTimeout(patience) // the hub has been sent what it told before
	a.silent("lab-1")
	got := <-out
	a.must(p.Process.Signal(syscall.SIGCONT))
	if !errors.Is(got.err, ErrLost) {
		t.Fatalf("the stopped attempt gave %v", got.err)
	}
	a.there("lab-1")
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-1", again)
	a.complete(again, d, err)
	select {
	case d := <-a.Unclaimed():
		t.Errorf("a result of the attempt %d counts", d.Attempt)
	default:
	}
}

// A match that is cancelled ends on its machine, at once.
func TestCancelled(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	a.worker("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	ctx, cancel := context.WithCancelCause(t.Context())
	out := a.playing(ctx, "lab-1", j)
	a.has("lab-1", j)
	cancel(errTest)
	if got := <-out; !errors.Is(got.err, context.Canceled) {
		t.Fatalf("the cancelled attempt gave %v", got.err)
	}
	kit.Until(t, "the machine has nothing to play", func() bool { return len(a.there("lab-1").Playing) == 0 })
	again := job(2, 1, greedy, greedy2)
	d, err := a.Play(t.Context(), "lab-1", again)
	a.complete(again, d, err)
}

// What an earlier run of the server has cancelled is played for the next one, whose database may be
// another.
func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *HubOptions) { o.Listen = "" })
	w := a.local()
	data, err := json.Marshal(attemptOf{1, 1})
	a.must(err)
	kit.Until(t, "the server has answered", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.known != ""
	})
	w.cancelled(&nats.Msg{Data: data})
	w.heard(answer{}) // of the next server, while it makes the consumer
	w.heard(answer{Server: "the next one"})
	j := job(1, 1, greedy, greedy2)
	d, err := a.Play(t.Context(), Local, j)
	a.complete(j, d, err)
}

// A match is not played whose cancellation is quicker than its job.
func TestCancelledEarly(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *HubOptions) { o.Listen = "" })
	w := a.local()
	j := job(1, 1, greedy, a.bot(2, endless))
	data, err := json.Marshal(attemptOf{j.Match, j.Attempt})
	a.must(err)
	w.cancelled(&nats.Msg{Data: data})
	d, err := a.Play(t.Context(), Local, j)
	a.must(err)
	if d.Failure == nil || d.Failure.Kind != FailedCancelled {
		t.Errorf("the cancelled attempt gave %+v", d.Failure)
	}
	again := job(1, 2, greedy, greedy2)
	d, err = a.Play(t.Context(), Local, again)
	a.complete(again, d, err)
}

// A result that is handed in while there is no server is there when the next one comes. It comes
// again until it is acknowledged, and then never.
func TestRestart(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := gate(t)
	a.worker("lab-1", file)
	j := job(1, 1, greedy, greedy2)
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(a.Close())
	if got := <-out; !errors.Is(got.err, ErrDetach) {
		t.Fatalf("the server's end gave %v", got.err)
	}
	open()
	a.open(nil)
	d := kit.Get[Delivery](t)(a.Await(t.Context(), "lab-1", j.Match, j.Attempt, expected(j).Commitment))
	if d.Failure != nil {
		t.Fatalf("it failed: %v", d.Failure)
	}
	a.must(a.Close()) // before it is acknowledged
	a.open(nil)
	d = <-a.Unclaimed()
	a.complete(j, d, nil)
	a.there("lab-1") // it has come back by itself
	kit.Until(t, "the result is acknowledged", func() bool { return a.waiting() == 0 })
	a.must(a.Close())
	a.open(nil)
	if n := a.waiting(); n != 0 {
		t.Errorf("%d results are left", n)
	}
}

// A worker that is killed with a finished result hands it in when it is back.
func TestResultOnDisk(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := gate(t)
	p := a.worker("lab-1", file)
	j := job(1, 1, greedy, greedy2)
	out := a.playing(t.Context(), "lab-1", j)
	a.has("lab-1", j)
	a.must(a.Close())
	<-out
	open()
	results := filepath.Join(p.settings.Dir, "results")
	kit.Until(t, "the result is on the disk", func() bool {
		list, _ := filepath.Glob(filepath.Join(results, "*"+parcelSuffix))
		return len(list) == 1
	})
	a.must(p.Process.Kill())
	<-p.ended
	a.open(nil)
	a.start(p.settings)
	d, err := a.Await(t.Context(), "lab-1", j.Match, j.Attempt, expected(j).Commitment)
	a.complete(j, d, err)
	kit.Until(t, "the result is gone from the disk", func() bool {
		list, _ := os.ReadDir(results)
		return len(list) == 0
	})
}

// The server's own worker takes the same path, without a directory.
func TestLocal(t *testing.T) {
	t.Parallel()
	a := newArena(t, func(o *HubOptions) { o.Listen = "" })
	if a.Address() != "" {
		t.Errorf("it listens on %s", a.Address())
	}
	a.local()
	j := job(1, 1, greedy, a.bot(2, script("")))
	d, err := a.Play(t.Context(), Local, j)
	a.complete(j, d, err)
}

// What the worker in the process of an earlier server played is given up at once: it ended with
// that server. What it has handed in counts, and what other machines play is awaited.
func TestLocalDied(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	link, err := a.Local(t.Context())
	a.must(err)
	file, open := gate(t)
	p := a.worker("lab-1", file)
	there := job(1, 1, greedy, greedy2)
	out := a.playing(t.Context(), "lab-1", there)
	a.has("lab-1", there)
	// The server ends before it has stored this one.
	done := job(2, 1, greedy, greedy2)
	packed, err := Pack(Result{Match: 2, Attempt: 1, Seed: done.Seed, Machine: Local}, MaxMessage)
	a.must(err)
	a.deaf()
	_, err = link.js.Publish(t.Context(), resultsSubject(Local), packed, jetstream.WithMsgID(resultID(attemptOf{2, 1}, done.Seed)))
	a.must(err)
	link.Close()
	a.must(a.Close())
	<-out

	a.open(nil)
	d, err := a.Await(t.Context(), Local, done.Match, done.Attempt, expected(done).Commitment)
	a.must(err)
	if d.Match != done.Match {
		t.Errorf("match %d has come, want %d", d.Match, done.Match)
	}
	a.must(d.Ack())
	if _, err := a.Await(t.Context(), Local, 3, 1, referee.Hex{}); !errors.Is(err, ErrLost) {
		t.Errorf("an attempt that died with its server gave %v", err)
	}
	open()
	d, err = a.Await(t.Context(), "lab-1", there.Match, there.Attempt, expected(there).Commitment)
	a.complete(there, d, err)
	a.must(p.Process.Kill())
	a.must(a.Close())
	a.open(nil) // no result waits
	if _, err := a.Await(t.Context(), Local, 4, 1, referee.Hex{}); !errors.Is(err, ErrLost) {
		t.Errorf("an attempt that died with its server gave %v", err)
	}
}

// stopped reports whether the kernel has stopped a process.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat := kit.Get[[]byte](t)(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "T")
}
