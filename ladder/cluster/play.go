package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Play sends job j to a machine, waits for the result and calls accept with it; see runner.Fleet.
func (h *Dispatcher) Play(ctx context.Context, machine string, j attempt.Job, accept func(attempt.Result) error) error {
	a, err := h.awaitAttempt(machine, Expectation{j, referee.Commitment(rules.Seed(j.Seed))}, preparing)
	if err != nil {
		return err
	}
	if err := h.sendJob(ctx, a, j); err != nil {
		h.forgetAttempt(a, true)
		return err
	}
	return h.awaitResult(ctx, a, accept)
}

// Adopt waits for the result of job j, which an earlier server has sent to a machine, and calls accept with it.
// commitment is the hash of the seed; the seed itself is not known. For the errors see runner.Fleet.
func (h *Dispatcher) Adopt(ctx context.Context, machine string, j attempt.Job, commitment referee.Hex, accept func(attempt.Result) error) error {
	a, err := h.awaitAttempt(machine, Expectation{j, commitment}, acknowledged)
	if err != nil {
		return err
	}
	return h.awaitResult(ctx, a, accept)
}

// awaitAttempt makes the dispatcher expect the result of a match from a machine. e is what the result must agree
// with, and s is the initial state of the match.
func (h *Dispatcher) awaitAttempt(machine string, e Expectation, s attemptState) (*awaitedAttempt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := attemptKey{e.Match, e.Attempt}
	if h.attempts.all[key] != nil {
		return nil, fmt.Errorf("fleet: attempt %d of match %d is already handed out", key.Attempt, key.Match)
	}
	a := &awaitedAttempt{
		attemptKey: key, machine: machine, expectation: e, state: s, namedAt: time.Now(),
		result: make(chan Delivery, 1), loss: make(chan struct{}),
	}
	h.attempts.add(a)
	h.metrics.openAttempts.Set(float64(len(h.attempts.all)))
	return a, nil
}

// accepts reports whether r is a result of this match. The seed in r proves that, because only the machine that
// received the job knows the seed.
func (a *awaitedAttempt) accepts(r attempt.Result) bool {
	return a.machine == r.Machine && a.expectation.Commitment == referee.Commitment(rules.Seed(r.Seed))
}

// newOrder returns the message that sends job j to the machine of a. It also packs the built files of the bots,
// so that the machine can fetch them.
func (h *Dispatcher) newOrder(ctx context.Context, a *awaitedAttempt, j attempt.Job) (order, error) {
	o := order{Job: j, Machine: a.machine, Sandbox: h.Sandbox, Builds: map[string]build{}}
	for _, b := range j.Bots {
		if b.Remote {
			return o, fmt.Errorf("fleet: version %d is connected to the server: only its own machine can play it", b.Version)
		}
		if b.Hash == "" || o.Builds[b.Hash].Tree != "" {
			continue
		}
		packed, err := h.builds.ensurePacked(ctx, b.Hash, func(ctx context.Context) (string, error) { return h.BuildDir(ctx, b) })
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, attempt.ErrUnavailable):
			return o, err
		default:
			return o, attempt.PreparationFailure(b, err)
		}
		o.Builds[b.Hash] = packed
		a.hashes = append(a.hashes, b.Hash)
	}
	return o, nil
}

// sendJob sends job j to the machine of a. The dispatcher repeats the message until a heartbeat of the machine names
// the match.
func (h *Dispatcher) sendJob(ctx context.Context, a *awaitedAttempt, j attempt.Job) error {
	o, err := h.newOrder(ctx, a, j)
	if err != nil {
		return err
	}
	if err := h.Err(); err != nil {
		return fmt.Errorf("fleet: handing match %d to %q: %w: %w", a.Match, a.machine, attempt.ErrUnavailable, err)
	}
	data, err := json.Marshal(command{Play: &o})
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	h.mu.Lock()
	a.job, a.state, a.sentAt = data, sent, time.Now()
	a.namedAt = a.sentAt
	h.mu.Unlock()
	if err := h.link.Publish(jobsSubject(a.machine), data); err != nil {
		return fmt.Errorf("fleet: handing match %d to %q: %w: %w", a.Match, a.machine, attempt.ErrUnavailable, err)
	}
	return nil
}

// awaitResult waits for the result of a match and calls accept with it. The errors are those of
// runner.Fleet.Play.
func (h *Dispatcher) awaitResult(ctx context.Context, a *awaitedAttempt, accept func(attempt.Result) error) error {
	select {
	case d := <-a.result:
		return h.acceptDelivery(a, d, accept)
	case <-a.loss:
		err := h.endAttempt(a, attempt.ErrLost, accept)
		if errors.Is(err, attempt.ErrLost) {
			h.metrics.lostAttempts.Inc()
			h.requestEnd(a)
		}
		return err
	case <-h.ending.Done():
		h.forgetAttempt(a, false)
		return attempt.ErrDetach
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), attempt.ErrDetach) {
		h.forgetAttempt(a, false)
		return attempt.ErrDetach
	}
	h.requestEnd(a)
	select {
	case d := <-a.result:
		a.result <- d
	case <-a.loss:
	case <-time.After(StopTime):
	case <-h.ending.Done():
	}
	return h.endAttempt(a, ctx.Err(), accept)
}

// endAttempt ends an attempt and returns err. But if the games of the attempt have arrived in the meantime, it
// accepts them and returns the error of acceptDelivery.
func (h *Dispatcher) endAttempt(a *awaitedAttempt, err error, accept func(attempt.Result) error) error {
	select {
	case d := <-a.result:
		if d.Failure == nil { // the result came first
			return h.acceptDelivery(a, d, accept)
		}
	default:
	}
	h.forgetAttempt(a, true)
	return err
}

// acceptDelivery checks that a result fits the match and the rules, and calls accept with it. It returns the error of
// the check or of accept. If accept fails, the machine keeps the result and delivers it again when the server has
// restarted. Otherwise the machine may delete the result.
func (h *Dispatcher) acceptDelivery(a *awaitedAttempt, d Delivery, accept func(attempt.Result) error) error {
	release := h.checks.acquire(a.machine)
	err := d.Check(a.expectation)
	release()
	if err == nil {
		if err := accept(d.Result); err != nil {
			h.forgetAttempt(a, false)
			return err
		}
	}
	if d.Failure != nil && d.Failure.Kind == attempt.FailedMachine {
		for _, hash := range a.hashes { // its copy of a bot may be damaged
			h.builds.recheck(hash)
		}
	}
	h.forgetAttempt(a, true)
	return err
}

// requestEnd asks the machine to end a match, and ensures that the job is not sent again.
func (h *Dispatcher) requestEnd(a *awaitedAttempt) {
	h.mu.Lock()
	a.job = nil
	h.mu.Unlock()
	data, err := json.Marshal(command{End: &a.attemptKey})
	if err == nil {
		err = h.link.Publish(jobsSubject(a.machine), data)
	}
	if err != nil {
		h.Log.Debug("a machine does not learn that an attempt is over", "machine", a.machine, "err", err)
	}
}

// forgetAttempt stops waiting for the result of a match. If over is true, the machine may delete the result, and a
// result that arrives later is refused. If over is false, the server waits for the result again after its next start.
func (h *Dispatcher) forgetAttempt(a *awaitedAttempt, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempts.remove(a, over)
	h.metrics.openAttempts.Set(float64(len(h.attempts.all)))
	if over && a.lastPart != nil {
		h.reply(a.lastPart, receipt{Forget: true})
	}
}
