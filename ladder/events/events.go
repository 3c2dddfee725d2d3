// Package events publishes what happens in a competition as it happens, for
// requests that wait and for live pages.
package events

import (
	"sync"

	"github.com/timba-arena/timba/ladder"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	MatchStarted  Kind = "match-began"    // its commitment is public
	MatchFinished Kind = "match-finished" // with the changes of the ratings
	MatchBroken   Kind = "match-broken"   // interrupted: it waits again, or is dropped
	FitSaved      Kind = "fit-saved"      // the ratings of a ladder were fitted
	Paused        Kind = "paused"         // the server cannot play
	Resumed       Kind = "resumed"
	// SubmissionChanged is a change to an unfinished submission: a stage began or ended.
	SubmissionChanged Kind = "submission-moved"
	VersionChanged    Kind = "version-moved" // a submission ended, or a version was suspended
	// QueueChanged is that a version waits no more: the versions behind it move up.
	QueueChanged Kind = "queue-moved"
	// AccessEnded is that a person is blocked, or that a token or sessions of theirs are no longer valid. Of
	// sessions of guests the person is 0.
	AccessEnded Kind = "access-ended"
)

// Event is something that happened.
type Event struct {
	Kind    Kind
	Ladder  string          // "" for an unrated match and for none
	Match   int64           // its ID, 0 for none
	Version int64           // its ID, 0 for none
	Person  int64           // its ID, 0 for none
	Changes []ladder.Change // of a finished match
	Text    string          // why a match is broken, or the server paused
	// MissedEvents is how many events this subscriber lost just before this one, because
	// its channel was full.
	MissedEvents int
}

// Hub sends events to subscribers and never waits for them. The zero Hub is ready
// to use.
type Hub struct {
	mu     sync.Mutex
	subs   map[*subscriber]struct{}
	closed bool
}

type subscriber struct {
	events       chan Event
	filter       func(Event) bool
	missedEvents int
}

// Subscribe returns a channel of the events from now on for which wanted returns
// true, or of all events if wanted is nil. The channel buffers max(1, n) events;
// further events are lost, and Event.Missed counts them. stop ends the subscription
// and closes the channel, and so does Close.
//
// To wait for a state without missing a change, subscribe, read the state, and read
// it again after each event. n = 1 is enough for that.
func (h *Hub) Subscribe(n int, wanted func(Event) bool) (events <-chan Event, stop func()) {
	s := &subscriber{events: make(chan Event, max(1, n)), filter: wanted}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.events)
		return s.events, func() {}
	}
	if h.subs == nil {
		h.subs = map[*subscriber]struct{}{}
	}
	h.subs[s] = struct{}{}
	return s.events, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, there := h.subs[s]; there {
			delete(h.subs, s)
			close(s.events)
		}
	}
}

// Publish sends an event to the subscribers that want it.
func (h *Hub) Publish(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		if s.filter != nil && !s.filter(e) {
			continue
		}
		e.MissedEvents = s.missedEvents
		select {
		case s.events <- e:
			s.missedEvents = 0
		default:
			s.missedEvents++
		}
	}
}

// Close ends all subscriptions; later ones end at once.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		close(s.events)
	}
}
