package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
)

// A worker process that is connected over TLS plays a match of a script and a house bot.
func TestRemote(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.startWorkerProcess("lab-1")
	j := job(1, 1, greedy, a.bot(2, script("")))
	d, err := a.Play(t.Context(), "lab-1", j)
	a.checkComplete(j, d, err)
	if d.Machine != "lab-1" || d.Took <= 0 {
		t.Errorf("it was played by %q in %s", d.Machine, d.Took)
	}
	m := a.awaitMachine("lab-1")
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
	a.awaitDeparture("lab-1")
}

// newGate makes a named pipe at which a worker waits before it plays, until open is called.
func newGate(t *testing.T) (path string, open func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "gate")
	kit.Must(t, syscall.Mkfifo(path, 0o600))
	return path, func() {
		f, err := os.OpenFile(path, os.O_RDWR, 0) // a reader waits until somebody opens the pipe for writing
		kit.Must(t, err)
		t.Cleanup(func() { f.Close() })
	}
}

// endless is a script that never moves.
var endless = script("test $verb = turn && exec sleep 1d")

// A draining worker finishes its attempts.
func TestDrain(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := newGate(t)
	p := a.startWorkerProcess("lab-1", file)
	j := job(1, 1, greedy, a.bot(2, script("")))
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.must(p.Process.Signal(syscall.SIGTERM))
	kit.Until(t, "it drains", func() bool { return a.awaitMachine("lab-1").Draining })
	open()
	got := <-out
	a.checkComplete(j, got.Result, got.err)
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// A worker that is removed while it plays logs that at once, with advice. It exits on the first signal and
// retains the result that it cannot send.
func TestRemovedWhilePlaying(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := newGate(t)
	p := a.startWorkerProcess("lab-1", file)
	j := job(1, 1, greedy, greedy2)
	a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.must(a.keys.Remove("lab-1"))
	says := func(level, what string) {
		t.Helper()
		line := regexp.MustCompile(`(?m)^.* level=` + level + ` msg="` + regexp.QuoteMeta(what) + `.*`)
		kit.Until(t, "it says that "+what, func() bool { return line.MatchString(p.log.String()) })
		got := line.FindString(p.log.String())
		for _, word := range []string{"the credentials: they were removed", "stop this program", "timba admin worker add"} {
			if !strings.Contains(got, word) {
				t.Errorf("the line does not have %q: %s", word, got)
			}
		}
	}
	says("ERROR", "NATS refuses the credentials")
	open()
	says("WARN", "a result cannot be handed in yet")
	a.must(p.Process.Signal(syscall.SIGTERM))
	if err := <-p.ended; err == nil || !strings.Contains(p.log.String(), `worker "lab-1": NATS refuses the credentials`) {
		t.Errorf("it ends with %v", err)
	}
	if log := p.log.String(); strings.Contains(log, nats.ErrReconnectBufExceeded.Error()) || len(storedResults(t, p)) != 1 {
		t.Errorf("it keeps %v, and says\n%s", storedResults(t, p), log)
	}
}

// An attempt on a machine that is killed is lost, and the next attempt can be played elsewhere.
func TestKilled(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.startWorkerProcess("lab-1")
	a.startWorkerProcess("lab-2")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.must(p.Process.Kill())
	<-p.ended
	a.expireMachine("lab-1")
	if got := <-out; !errors.Is(got.err, attempt.ErrLost) {
		t.Fatalf("the killed attempt gave %v", got.err)
	}
	a.awaitDeparture("lab-1")
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-2", again)
	a.checkComplete(again, d, err)
}

// If a worker is killed and restarts, its attempts are lost at once, because the new worker does not have them.
func TestKilledAndBack(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.startWorkerProcess("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.must(p.Process.Kill())
	<-p.ended
	a.startProcess(p.settings)
	if got := <-out; !errors.Is(got.err, attempt.ErrLost) {
		t.Fatalf("the killed attempt gave %v", got.err)
	}
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-1", again)
	a.checkComplete(again, d, err)
}

// A worker that was stopped for longer than AckTime learns that its attempt is over, and then accepts jobs again.
func TestStopped(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	p := a.startWorkerProcess("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.must(p.Process.Signal(syscall.SIGSTOP))
	kit.Until(t, "it is stopped", func() bool { return isStopped(t, p.Process.Pid) })
	a.link.FlushTimeout(patience) // wait until the dispatcher has received everything
	a.expireMachine("lab-1")
	got := <-out
	a.must(p.Process.Signal(syscall.SIGCONT))
	if !errors.Is(got.err, attempt.ErrLost) {
		t.Fatalf("the stopped attempt gave %v", got.err)
	}
	a.awaitMachine("lab-1")
	again := job(1, 2, greedy, a.bot(3, script("")))
	d, err := a.Play(t.Context(), "lab-1", again)
	a.checkComplete(again, d, err)
}

// A cancelled attempt ends on its machine at once.
func TestCancelled(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	a.startWorkerProcess("lab-1")
	j := job(1, 1, greedy, a.bot(2, endless))
	ctx, cancel := context.WithCancelCause(t.Context())
	out := a.startPlay(ctx, "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	cancel(errTest)
	if got := <-out; !errors.Is(got.err, context.Canceled) {
		t.Fatalf("the cancelled attempt gave %v", got.err)
	}
	kit.Until(t, "the machine has nothing to play", func() bool { return len(a.awaitMachine("lab-1").Attempts) == 0 })
	again := job(2, 1, greedy, greedy2)
	d, err := a.Play(t.Context(), "lab-1", again)
	a.checkComplete(again, d, err)
}

// A job that does not reach its machine is sent again until the machine names it.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	j := job(1, 1, greedy, greedy2)
	ctx, cancel := context.WithCancel(t.Context())
	out := a.startPlay(ctx, "lab-1", j)
	longAgo := func() (sent bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		at := a.attempts.all[attemptKey{1, 1}]
		if at == nil || at.state == preparing {
			return false
		}
		at.sentAt = time.Now().Add(-HeartbeatTime)
		return true
	}
	kit.Until(t, "it is sent", longAgo)
	a.must(a.link.FlushTimeout(patience))
	words := kit.Get[*nats.Subscription](t)(l.SubscribeSync(jobsSubject("lab-1")))
	kit.Must(t, l.FlushTimeout(patience))
	a.expire(time.Now())
	var say command
	a.must(json.Unmarshal(kit.Get[*nats.Msg](t)(words.NextMsg(patience)).Data, &say))
	if say.Play == nil || say.Play.Match != j.Match || say.Play.Seed != j.Seed {
		t.Errorf("it is told %+v", say)
	}
	a.sendHeartbeat(l, func(b *heartbeat) { b.Attempts = []attempt.ReportedAttempt{{Match: 1, Attempt: 1}} })
	longAgo()
	a.expire(time.Now())
	cancel()
	say = command{}
	a.must(json.Unmarshal(kit.Get[*nats.Msg](t)(words.NextMsg(patience)).Data, &say))
	if say.End == nil || *say.End != (attemptKey{1, 1}) {
		t.Errorf("then it is told %+v", say)
	}
	a.sendResult(l, attempt.Result{Match: 1, Attempt: 1, Seed: j.Seed, Machine: "lab-1", Failure: &attempt.Failure{Kind: attempt.FailedCancelled}})
	if got := <-out; !errors.Is(got.err, context.Canceled) {
		t.Errorf("the cancelled attempt gave %v", got.err)
	}
}

// A job that is cancelled before its machine names it is not sent again.
func TestCancelledUnnamed(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	l := a.connectHostile("lab-1")
	a.sendHeartbeat(l, nil)
	words := kit.Get[*nats.Subscription](t)(l.SubscribeSync(jobsSubject("lab-1")))
	a.must(l.FlushTimeout(patience))
	next := func() (say command) {
		a.must(json.Unmarshal(kit.Get[*nats.Msg](t)(words.NextMsg(patience)).Data, &say))
		return say
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := a.startPlay(ctx, "lab-1", job(1, 1, greedy, greedy2))
	if say := next(); say.Play == nil {
		t.Errorf("it is told %+v", say)
	}
	cancel()
	if say := next(); say.End == nil {
		t.Errorf("then it is told %+v", say)
	}
	a.expire(time.Now().Add(HeartbeatTime))
	other := awaitedAttempt{attemptKey: attemptKey{2, 1}, machine: "lab-1"} // its withdrawal arrives after everything else
	a.requestEnd(&other)
	if say := next(); say.End == nil || *say.End != other.attemptKey {
		t.Errorf("in the end it is told %+v", say)
	}
	a.expireMachine("lab-1")
	if got := <-out; !errors.Is(got.err, context.Canceled) {
		t.Errorf("the cancelled attempt gave %v", got.err)
	}
}

// A result that a worker has while there is no server reaches the next one. The worker sends it until a
// server has stored it, and not again.
func TestRestart(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := newGate(t)
	p := a.startWorkerProcess("lab-1", file)
	j := job(1, 1, greedy, greedy2)
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.Close()
	if got := <-out; !errors.Is(got.err, attempt.ErrDetach) {
		t.Fatalf("the server's end gave %v", got.err)
	}
	open()
	a.open(nil)
	e := expectationOf(j)
	if err := a.Adopt(t.Context(), "lab-1", e.Job, e.Commitment, func(attempt.Result) error { return errTest }); err != errTest {
		t.Fatalf("what cannot be stored gave %v", err)
	}
	a.Close()
	a.open(nil)
	r, err := a.adopt("lab-1", j)
	a.checkComplete(j, r, err)
	a.awaitMachine("lab-1") // it reconnects by itself
	kit.Until(t, "nothing is left", func() bool { return len(storedResults(t, p)) == 0 && len(a.awaitMachine("lab-1").Attempts) == 0 })
}

// storedResults returns the results on the disk of a worker.
func storedResults(t *testing.T, p *process) []string {
	t.Helper()
	return kit.Get[[]string](t)(filepath.Glob(filepath.Join(p.settings.Dir, "results", "*"+resultSuffix)))
}

// A worker that is killed with a finished result sends it after its restart.
func TestResultOnDisk(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	file, open := newGate(t)
	p := a.startWorkerProcess("lab-1", file)
	j := job(1, 1, greedy, greedy2)
	out := a.startPlay(t.Context(), "lab-1", j)
	a.awaitAttemptOn("lab-1", j)
	a.Close()
	<-out
	open()
	kit.Until(t, "the result is on the disk", func() bool { return len(storedResults(t, p)) == 1 })
	a.must(p.Process.Kill())
	<-p.ended
	a.open(nil)
	a.startProcess(p.settings)
	d, err := a.adopt("lab-1", j)
	a.checkComplete(j, d, err)
	kit.Until(t, "the result is gone from the disk", func() bool { return len(storedResults(t, p)) == 0 })
}

// isStopped reports whether the kernel has stopped a process.
func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	stat := kit.Get[[]byte](t)(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
	_, after, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(after, "T")
}
