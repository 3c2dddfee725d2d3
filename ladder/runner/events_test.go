package runner

import (
	"sync"
	"testing"
)

// A subscriber that is too slow loses events and is told how many; others lose
// none, and nobody who publishes waits.
func TestEvents(t *testing.T) {
	var h hub
	quick, stopQuick := h.subscribe(10)
	slow, _ := h.subscribe(2)
	for i := range 5 {
		h.publish(Event{Match: int64(i)})
	}
	for i := range 5 {
		if e := <-quick; e.Match != int64(i) || e.Missed != 0 {
			t.Errorf("the quick one got match %d after %d missed, want %d after none", e.Match, e.Missed, i)
		}
	}
	for i := range 2 {
		if e := <-slow; e.Match != int64(i) || e.Missed != 0 {
			t.Errorf("the slow one got match %d after %d missed, want %d", e.Match, e.Missed, i)
		}
	}
	h.publish(Event{Match: 9})
	if e := <-slow; e.Match != 9 || e.Missed != 3 {
		t.Errorf("the slow one got match %d after %d missed, want 9 after 3", e.Match, e.Missed)
	}
	stopQuick()
	stopQuick()
	<-quick // 9 was there before the end
	if _, more := <-quick; more {
		t.Error("there is more after the end")
	}
	h.publish(Event{})
	h.close()
	<-slow
	if _, more := <-slow; more {
		t.Error("there is more after the end of all")
	}
}

func TestEventsTogether(t *testing.T) {
	var h hub
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				_, stop := h.subscribe(1)
				h.publish(Event{})
				stop()
			}
		})
	}
	group.Wait()
	if len(h.subs) != 0 {
		t.Errorf("%d are still subscribed", len(h.subs))
	}
}
