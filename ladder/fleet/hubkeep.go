package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrUnavailable is in the errors of Play where NATS does not take what the hub hands out: no
// machine is at fault, and nothing can be handed out before it does.
var ErrUnavailable = errors.New("NATS is not available")

// lookTime is how long NATS may take to tell how the object store is.
const lookTime = 10 * time.Second

// Err returns why nothing can be handed out; nil while all is well.
func (h *Hub) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble
}

// keep looks at the connection and the object store until the hub ends, and makes that anew or opens it again
// where it is lost or NATS does not write to it any more.
func (h *Hub) keep() {
	tick := time.NewTicker(min(Beat, h.AckTime/4))
	defer tick.Stop()
	connected := h.link.StatusChanged(nats.CONNECTED)
	defer h.link.RemoveStatusListener(connected)
	for {
		select {
		case <-h.ending.Done():
			return
		case <-tick.C:
		case <-connected: // nobody was heard meanwhile
			h.excuse()
		}
		err := h.look()
		if h.ending.Err() != nil {
			return
		}
		h.tell(err)
	}
}

// look looks once, and mends what it can.
func (h *Hub) look() error {
	if status := h.link.Status(); status != nats.CONNECTED {
		return fmt.Errorf("nats: the server cannot be reached (%s)", status)
	}
	ctx, cancel := context.WithTimeout(h.ending, lookTime)
	defer cancel()
	if h.embedded != nil {
		if err := h.embedded.health(); err != nil {
			h.tell(err)
			if err := h.embedded.reopen(); err != nil {
				return err
			}
			h.Log.Info("the streams are open again")
			return h.makeStore(ctx)
		}
	}
	_, err := h.link.js.Stream(ctx, botsStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		h.Log.Warn("the object store is lost, and made anew")
		return h.makeStore(ctx)
	}
	if err != nil {
		return fmt.Errorf("nats: the stream %s: %w", botsStream, err)
	}
	return nil
}

// tell notes how the object store is, and passes on what has changed.
func (h *Hub) tell(err error) {
	h.mu.Lock()
	was := h.trouble
	h.trouble = err
	h.mu.Unlock()
	switch {
	case err != nil && was == nil:
		h.metrics.down.Set(1)
		h.Log.Error("the fleet cannot go on: machines keep their results", "err", err)
		if h.Trouble != nil {
			h.Trouble(fmt.Errorf("fleet: %w", err))
		}
	case err == nil && was != nil:
		h.metrics.down.Set(0)
		h.Log.Info("the fleet goes on")
	}
}

// unavailable returns the error of a request to NATS, which no machine is to blame for.
func unavailable(err error) error { return fmt.Errorf("%w: %w", ErrUnavailable, err) }
