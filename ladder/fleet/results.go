package fleet

import "github.com/nats-io/nats.go"

// result takes a message in which a machine hands in a result. The answer says that the machine may forget it:
// it is stored, or will never be. Without one it comes again.
func (h *Hub) result(msg *nats.Msg) {
	name := machineOf(msg.Subject)
	h.metrics.bytes.Add(float64(len(msg.Data)))
	d, err := Unpack(msg.Data)
	outcome := gotUnreadable
	switch {
	case err != nil:
	case d.Machine != name:
		outcome = gotForeign
	default:
		outcome = h.take(d, msg)
	}
	switch outcome {
	case gotAgain:
		return
	case gotWanted:
	default:
		h.Log.Warn("a result is refused", "why", outcome, "machine", name, "match", d.Match, "attempt", d.Attempt, "err", err)
		h.respond(msg, nil)
	}
	h.metrics.results.WithLabelValues(outcome).Inc()
}

// take gives a result to who waits for it, and returns what becomes of it.
func (h *Hub) take(d Delivery, msg *nats.Msg) (outcome string) {
	key := attemptOf{d.Match, d.Attempt}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.attempts[key]
	switch {
	case a == nil && h.mayCome(key):
		return gotAgain
	case a == nil:
		return gotOld
	case !a.wants(d.Result):
		return gotForeign
	}
	first := a.handedIn == nil
	a.handedIn = msg
	if !first {
		return gotAgain
	}
	a.result <- d
	return gotWanted
}
