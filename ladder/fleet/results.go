package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	resultsConsumer = "server"
	// resultsWait is how long a result may be delivered without being stored before it comes
	// again.
	resultsWait = time.Minute
	// resultsAhead is how many results are asked for ahead, and resultsAheadBytes how many bytes of them a
	// request may bring: four of the largest.
	resultsAhead, resultsAheadBytes = 1024, 4 * MaxMessage
	// resultsBeat is how often NATS says that it has nothing; after twice as long without a word they are
	// asked for again. nats.go forgets to ask when half of resultsAhead come while it asks.
	resultsBeat = time.Second
	// maxHeld is how many results may be delivered and not stored.
	maxHeld = 4096
	// settle is how long a result that nobody waits for is kept for somebody who begins to.
	settle = 2 * time.Second
	// rememberResults is how long JetStream drops a result that is handed in again, at some 150 bytes of
	// memory each. One that comes still later is of a match that has ended, and changes nothing.
	rememberResults = 5 * time.Minute
	// maxStash is how many such results are in memory, packed, and maxStashBytes how many bytes of them.
	// Others come again later.
	maxStash, maxStashBytes = 256, 8 * MaxMessage
)

// stashed is a result that nobody has asked for.
type stashed struct {
	Delivery
	since time.Time
}

// consumeResults begins with all results that are not acknowledged, those of an earlier run first.
func (h *Hub) consumeResults(ctx context.Context) error {
	// A new consumer gets at once what an earlier one was given and has not acknowledged.
	err := h.link.js.DeleteConsumer(ctx, resultsStream, resultsConsumer)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("fleet: the results: %w", err)
	}
	c, err := h.link.js.CreateOrUpdateConsumer(ctx, resultsStream, jetstream.ConsumerConfig{
		Durable: resultsConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: resultsWait, MaxAckPending: maxHeld,
	})
	if err != nil {
		return fmt.Errorf("fleet: the results: %w", err)
	}
	if h.results != nil {
		h.results.Stop() // of the streams before
	}
	h.results, err = c.Consume(h.result, jetstream.PullMaxMessagesWithBytesLimit(resultsAhead, resultsAheadBytes), jetstream.PullHeartbeat(resultsBeat),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) { h.Log.Debug("receiving results", "err", err) }))
	if err != nil {
		return fmt.Errorf("fleet: the results: %w", err)
	}
	return nil
}

// result takes a message in which a machine hands in a result.
func (h *Hub) result(msg jetstream.Msg) {
	name := machineOf(msg.Subject())
	meta, err := msg.Metadata()
	if err != nil {
		h.Log.Warn("a result has no number", "machine", name, "err", err)
		return
	}
	defer h.came(meta)
	if name == probe {
		if err := msg.Ack(); err != nil {
			h.Log.Debug("acknowledging what was stored to see whether it is", "err", err)
		}
		return
	}
	h.metrics.bytes.Add(float64(len(msg.Data())))
	d, err := Unpack(msg.Data())
	if err != nil {
		h.refuse(msg, gotUnreadable, "machine", name, "err", err)
		return
	}
	key := attemptOf{d.Match, d.Attempt}
	if d.Machine != name || msg.Headers().Get(jetstream.MsgIDHeader) != resultID(key, d.Seed) {
		h.refuse(msg, gotForeign, "machine", name, "match", d.Match, "says", d.Machine)
		return
	}
	sequence := meta.Sequence.Stream
	d.Ack = func() error {
		h.release(sequence)
		if err := msg.Ack(); err != nil {
			return fmt.Errorf("fleet: acknowledging match %d: %w", key.Match, err)
		}
		return nil
	}
	switch outcome := h.take(key, sequence, d); outcome {
	case "": // it is held, or comes again
	case gotWanted, gotLate:
		h.metrics.results.WithLabelValues(outcome).Inc()
	default:
		h.refuse(msg, outcome, "machine", name, "match", d.Match, "attempt", d.Attempt)
	}
}

// came notes that a result has come. After the last that an earlier server left, nothing more comes
// of the worker that was in its process.
func (h *Hub) came(meta *jetstream.MsgMetadata) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left == 0 || meta.Sequence.Stream < h.left && meta.NumPending > 0 {
		return
	}
	h.left = 0
	for _, a := range h.attempts {
		if a.died() {
			a.lose()
		}
	}
}

// countLeft finds out which results an earlier server left.
func (h *Hub) countLeft(ctx context.Context) error {
	s, err := h.link.js.Stream(ctx, resultsStream)
	if err != nil {
		return fmt.Errorf("fleet: the results: %w", err)
	}
	if state := s.CachedInfo().State; state.Msgs > 0 {
		h.left = state.LastSeq
	}
	return nil
}

// refuse ends a result that will never count.
func (h *Hub) refuse(msg jetstream.Msg, outcome string, about ...any) {
	h.metrics.results.WithLabelValues(outcome).Inc()
	h.Log.Warn("a result is refused", append([]any{"why", outcome}, about...)...)
	if err := msg.Term(); err != nil {
		h.Log.Debug("a result cannot be ended", "err", err)
	}
}

// take gives a result to who waits for it, and returns what became of it; "" for nothing.
func (h *Hub) take(key attemptOf, sequence uint64, d Delivery) (outcome string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, held := h.held[sequence]; held {
		return ""
	}
	if a := h.attempts[key]; a != nil {
		if !a.wants(d.Result) {
			return gotForeign
		}
		select {
		case a.result <- d:
			h.held[sequence] = struct{}{}
			return gotWanted
		default: // the attempt has its result
			return gotOld
		}
	}
	if h.over.Contains(key) {
		return gotOld
	}
	bytes := len(d.packed)
	for _, s := range h.stash {
		bytes += len(s.packed)
	}
	if len(h.stash) >= maxStash || bytes > maxStashBytes {
		return "" // it comes again
	}
	h.held[sequence] = struct{}{}
	h.stash = append(h.stash, stashed{d, time.Now()})
	return gotLate
}

// release makes a result come again if it is not acknowledged.
func (h *Hub) release(sequence uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, sequence)
}

// unstash gives an attempt its result, if that has come already. Whoever calls it holds the lock.
func (h *Hub) unstash(a *attempt) {
	for i, s := range h.stash {
		if s.Match == a.Match && s.Attempt == a.Attempt && a.wants(s.Result) {
			h.stash = append(h.stash[:i], h.stash[i+1:]...)
			a.result <- s.Delivery
			return
		}
	}
}

// Unclaimed delivers results that nobody waits for; see Fleet.
func (h *Hub) Unclaimed() <-chan Delivery { return h.unclaimed }

// deliverUnclaimed delivers what is stashed for long enough.
func (h *Hub) deliverUnclaimed() {
	tick := time.NewTicker(settle / 4)
	defer tick.Stop()
	for {
		select {
		case <-h.ending.Done():
			return
		case <-tick.C:
		}
		for _, d := range h.settled(time.Now()) {
			select {
			case h.unclaimed <- d:
			case <-h.ending.Done():
				return
			}
		}
	}
}

// settled takes the results from the stash that nobody has begun to wait for.
func (h *Hub) settled(now time.Time) (out []Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for n < len(h.stash) && now.Sub(h.stash[n].since) >= settle {
		out = append(out, h.stash[n].Delivery)
		n++
	}
	h.stash = append(h.stash[:0], h.stash[n:]...)
	return out
}
