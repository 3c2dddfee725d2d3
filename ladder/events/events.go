// Package events publishes what happens in a competition to requests that wait and to live pages. Begin with Bus.
package events

import (
	"sync"

	"github.com/timba-arena/timba/ladder"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	MatchStarted  EventKind = "match-began"    // an attempt has started; its commitment is public
	MatchFinished EventKind = "match-finished" // the result of a match was stored; Event.Changes has the rating changes
	MatchBroken   EventKind = "match-broken"   // an attempt was interrupted, so that the match waits again, or a match was dropped
	FitSaved      EventKind = "fit-saved"      // the ratings of a ladder were fitted to all of its matches again
	Paused        EventKind = "paused"         // the server cannot play matches
	Resumed       EventKind = "resumed"        // the server can play again
	// SubmissionChanged means that a stage (unpack, build, check or trial) of an uploaded version started or
	// ended.
	SubmissionChanged EventKind = "submission-moved"
	VersionChanged    EventKind = "version-moved" // a submission ended, or the live version of a bot may have changed
	// QueueChanged means that a version has left the queue of submissions, so that the versions behind it move up.
	QueueChanged EventKind = "queue-moved"
	// AccessEnded means that a person is blocked, or that a token or a session of the person is no longer valid.
	// For sessions of guests Event.Person is 0.
	AccessEnded EventKind = "access-ended"
)

// Event is something that happened in the competition. Fields that do not apply to its kind are zero.
type Event struct {
	Kind    EventKind
	Ladder  string          // name of the ladder of a rated match
	Match   int64           // ID of the match
	Version int64           // ID of the version
	Person  int64           // ID of the person
	Changes []ladder.Change // rating changes by a finished match
	Text    string          // why an attempt was interrupted or the server paused
	// MissedEvents is the number of events that this subscriber lost just before this one, because the subscriber's
	// channel was full.
	MissedEvents int
}

// Bus sends events to subscribers and never waits for them. The zero value is ready to use. Its methods are safe
// for concurrent use.
type Bus struct {
	mu     sync.Mutex
	subs   map[*subscriber]struct{}
	closed bool
}

type subscriber struct {
	events       chan Event
	filter       func(Event) bool
	missedEvents int
}

// Subscribe returns a channel that receives events from now on. If filter is not nil, only events for which it
// returns true are sent. The channel buffers n events, but at least one. Events that do not fit into it are
// lost, and Event.MissedEvents counts them. Both stop and Close end the subscription and close the channel.
//
// To wait for a state without missing a change, subscribe, read the state, and read it again after each event.
// A buffer of one event is enough for that.
func (h *Bus) Subscribe(n int, filter func(Event) bool) (events <-chan Event, stop func()) {
	s := &subscriber{events: make(chan Event, max(1, n)), filter: filter}
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

// Publish sends an event to all subscribers whose filter accepts it.
func (h *Bus) Publish(e Event) {
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

// Close ends all subscriptions and closes their channels. Later calls of Subscribe return a closed channel.
func (h *Bus) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		close(s.events)
	}
}
