package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// attempt is an attempt that the hub waits for.
type attempt struct {
	attemptOf
	machine   string
	earlier   bool        // an earlier server gave it out
	committed referee.Hex // to its seed
	mentioned time.Time   // by its machine, or when it was handed out
	result    chan Delivery
	lost      chan struct{}
	isLost    bool
	sequence  uint64   // of the job
	hashes    []string // of the bots that the machine fetches
}

// lose ends the wait. Whoever calls it holds the hub's lock.
func (a *attempt) lose() {
	if !a.isLost {
		a.isLost = true
		close(a.lost)
	}
}

// Play hands a job to a machine and waits for its result; see Fleet.
func (h *Hub) Play(ctx context.Context, name string, j Job) (Delivery, error) {
	a, err := h.begin(name, attemptOf{j.Match, j.Attempt}, referee.Commitment(rules.Seed(j.Seed)), false)
	if err != nil {
		return Delivery{}, err
	}
	o, err := h.order(ctx, a, j)
	if err == nil {
		err = h.send(ctx, a, o)
	}
	if err != nil {
		h.forget(a, true)
		return Delivery{}, err
	}
	return h.wait(ctx, a)
}

// Await waits for the result of an attempt of an earlier server; see Fleet.
func (h *Hub) Await(ctx context.Context, name string, match int64, number int, commitment referee.Hex) (Delivery, error) {
	a, err := h.begin(name, attemptOf{match, number}, commitment, true)
	if err != nil {
		return Delivery{}, err
	}
	return h.wait(ctx, a)
}

// begin makes the hub wait for an attempt.
func (h *Hub) begin(name string, key attemptOf, commitment referee.Hex, earlier bool) (*attempt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.attempts[key] != nil {
		return nil, fmt.Errorf("fleet: attempt %d of match %d is already handed out", key.Attempt, key.Match)
	}
	a := &attempt{
		attemptOf: key, machine: name, earlier: earlier, committed: commitment, mentioned: time.Now(),
		result: make(chan Delivery, 1), lost: make(chan struct{}),
	}
	h.attempts[key] = a
	h.metrics.open.Set(float64(len(h.attempts)))
	h.unstash(a)
	if h.left == 0 && a.died() {
		a.lose()
	}
	return a, nil
}

// died reports whether the worker of an attempt was in the process of an earlier server, and ended
// with it: nothing comes of it but what it has handed in.
func (a *attempt) died() bool { return a.earlier && a.machine == Local }

// wants reports whether a result is of this attempt: only who was given it knows the seed.
func (a *attempt) wants(r Result) bool {
	return a.machine == r.Machine && a.committed == referee.Commitment(rules.Seed(r.Seed))
}

// order returns what goes to the machine. The bots' files are in the object store by then, unless
// the machine is this one.
func (h *Hub) order(ctx context.Context, a *attempt, j Job) (order, error) {
	o := order{Job: j, Machine: a.machine, Sandbox: h.Sandbox}
	if a.machine == Local {
		return o, nil
	}
	o.Trees = map[string]string{}
	for _, b := range j.Bots {
		if b.Remote {
			return o, fmt.Errorf("fleet: version %d is connected to the server: only its own worker can play it", b.Version)
		}
		if b.Hash == "" || o.Trees[b.Hash] != "" {
			continue
		}
		tree, err := h.shelf.put(ctx, b.Hash, func(ctx context.Context) (string, error) { return h.Built(ctx, b) })
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, ErrUnavailable):
			return o, err
		default:
			return o, notPrepared(b, err)
		}
		o.Trees[b.Hash] = tree
		a.hashes = append(a.hashes, b.Hash)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a.mentioned = time.Now() // the upload may have taken a while
	return o, nil
}

func (h *Hub) send(ctx context.Context, a *attempt, o order) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("fleet: %w", err)
	}
	ack, err := h.link.js.Publish(ctx, jobsSubject(a.machine), data, jetstream.WithMsgID(h.session+a.String()))
	if err != nil {
		err = fmt.Errorf("fleet: handing match %d to %q: %w", a.Match, a.machine, unavailable(err))
		if ctx.Err() == nil && !errors.Is(err, ErrUnavailable) { // it leaves what it was given before
			return &Failure{Kind: FailedMachine, Text: err.Error()}
		}
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a.sequence = ack.Sequence
	return nil
}

// wait waits for the result of an attempt.
func (h *Hub) wait(ctx context.Context, a *attempt) (Delivery, error) {
	select {
	case d := <-a.result:
		h.forget(a, false)
		if d.Failure != nil && d.Failure.Kind == FailedMachine {
			for _, hash := range a.hashes { // the machine may not have found one in the object store
				h.shelf.forget(hash)
			}
		}
		return d, nil
	case <-a.lost:
		return h.ended(a, ErrLost)
	case <-h.ending.Done():
		h.forget(a, false)
		return Delivery{}, ErrDetach
	case <-ctx.Done():
	}
	if errors.Is(context.Cause(ctx), ErrDetach) {
		h.forget(a, false)
		return Delivery{}, ErrDetach
	}
	h.withdraw(a)
	stop := time.NewTimer(StopTime)
	defer stop.Stop()
	select {
	case d := <-a.result:
		h.forget(a, true)
		if d.Failure == nil { // it was quicker
			return d, nil
		}
		return Delivery{}, errors.Join(ctx.Err(), d.Ack())
	case <-a.lost:
	case <-stop.C:
	case <-h.ending.Done():
	}
	return h.ended(a, ctx.Err())
}

// ended forgets an attempt that is over, unless its result has just come.
func (h *Hub) ended(a *attempt, err error) (Delivery, error) {
	h.forget(a, true)
	select {
	case d := <-a.result:
		if d.Failure == nil {
			return d, nil
		}
		return Delivery{}, errors.Join(err, d.Ack())
	default:
	}
	if errors.Is(err, ErrLost) {
		h.metrics.lost.Inc()
		h.withdraw(a)
	}
	return Delivery{}, err
}

// withdraw tells the machine that an attempt is over, and takes back its job.
func (h *Hub) withdraw(a *attempt) {
	if err := h.publish(cancelSubject(a.machine), a.attemptOf); err != nil {
		h.Log.Debug("a machine cannot be told that an attempt is over", "machine", a.machine, "err", err)
	}
	if a.sequence == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(h.ending, StopTime)
	defer cancel()
	s, err := h.link.js.Stream(ctx, jobsStream)
	if err == nil {
		err = s.DeleteMsg(ctx, a.sequence)
	}
	if err != nil && !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // it was taken
		h.Log.Debug("a job cannot be taken back", "machine", a.machine, "err", err)
	}
}

// forget ends the wait for an attempt. With over, a result that still comes is refused.
func (h *Hub) forget(a *attempt, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.attempts, a.attemptOf)
	if over {
		h.over.Add(a.attemptOf, struct{}{})
	}
	h.metrics.open.Set(float64(len(h.attempts)))
}
