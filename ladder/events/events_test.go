package events

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestEvents checks that a slow subscriber loses events and learns how many, that others lose none, and that
// Publish never waits.
func TestEvents(t *testing.T) {
	var h Bus
	quick, stopQuick := h.Subscribe(10, nil)
	slow, _ := h.Subscribe(2, nil)
	for i := range 5 {
		h.Publish(Event{Match: int64(i)})
	}
	for i := range 5 {
		if e := <-quick; e.Match != int64(i) || e.MissedEvents != 0 {
			t.Errorf("the quick one got match %d after %d missed, want %d after none", e.Match, e.MissedEvents, i)
		}
	}
	for i := range 2 {
		if e := <-slow; e.Match != int64(i) || e.MissedEvents != 0 {
			t.Errorf("the slow one got match %d after %d missed, want %d", e.Match, e.MissedEvents, i)
		}
	}
	h.Publish(Event{Match: 9})
	if e := <-slow; e.Match != 9 || e.MissedEvents != 3 {
		t.Errorf("the slow one got match %d after %d missed, want 9 after 3", e.Match, e.MissedEvents)
	}
	stopQuick()
	stopQuick()
	<-quick // 9 was there before the end
	if _, more := <-quick; more {
		t.Error("there is more after the end")
	}
	h.Publish(Event{})
	h.Close()
	<-slow
	if _, more := <-slow; more {
		t.Error("there is more after the end of all")
	}
}

func TestEventsConcurrently(t *testing.T) {
	var h Bus
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				_, stop := h.Subscribe(1, nil)
				h.Publish(Event{})
				stop()
			}
		})
	}
	group.Wait()
	if len(h.subs) != 0 {
		t.Errorf("%d are still subscribed", len(h.subs))
	}
}

// TestFilter checks that events that a filter rejects use no room in the channel, and that the channel of a
// subscriber after Close is closed.
func TestFilter(t *testing.T) {
	var h Bus
	events, _ := h.Subscribe(1, func(e Event) bool { return e.Version == 2 })
	for version := range int64(4) {
		h.Publish(Event{Version: version})
	}
	if e := <-events; e.Version != 2 || e.MissedEvents != 0 {
		t.Errorf("version %d after %d missed, want 2 after none", e.Version, e.MissedEvents)
	}
	h.Close()
	if _, more := <-events; more {
		t.Error("there is more after the end")
	}
	late, stop := h.Subscribe(1, nil)
	defer stop()
	if _, more := <-late; more {
		t.Error("there is more for one that came after the end")
	}
}

// TestNoChangeIsLost checks that a subscriber who reads the state after subscribing and after each event sees
// the last state.
func TestNoChangeIsLost(t *testing.T) {
	for range 1000 {
		var h Bus
		var state atomic.Int64
		const last = 3
		go func() {
			for range last {
				state.Add(1)
				h.Publish(Event{})
			}
		}()
		events, stop := h.Subscribe(1, nil)
		for state.Load() != last {
			<-events
		}
		stop()
	}
}
