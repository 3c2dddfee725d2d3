package runner

import (
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Kind is what happened.
type Kind string

// The kinds of events.
const (
	MatchBegan    Kind = "match-began"    // its commitment is public
	MatchFinished Kind = "match-finished" // with what it did to the ratings
	MatchBroken   Kind = "match-broken"   // it waits again, or is dropped
	VersionMoved  Kind = "version-moved"  // a submission has come to another state, or a version is benched
	FitSaved      Kind = "fit-saved"      // of a ladder
	Paused        Kind = "paused"         // for a failure of the server's own
	Resumed       Kind = "resumed"
)

// Event is something that happened, as the pages that are open want to know it.
type Event struct {
	Kind    Kind
	At      time.Time
	Ladder  string // "" for an unrated match and where there is none
	Match   int64  // its id, 0 where there is none
	Version int64  // likewise
	State   ladder.State
	Changes []ladder.Change // of a finished match
	Text    string
	// Missed is how many events this subscriber has lost just before this one,
	// because it was too slow to take them.
	Missed int
}

// hub hands events to those who listen. It never waits for any of them.
type hub struct {
	mu   sync.Mutex
	subs map[*subscriber]struct{}
}

type subscriber struct {
	events chan Event
	missed int
}

// subscribe gives a channel of at most n events that have not been taken, and
// what ends it.
func (h *hub) subscribe(n int) (<-chan Event, func()) {
	s := &subscriber{events: make(chan Event, max(1, n))}
	h.mu.Lock()
	defer h.mu.Unlock()
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

func (h *hub) publish(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		e.Missed = s.missed
		select {
		case s.events <- e:
			s.missed = 0
		default:
			s.missed++
		}
	}
}

// close ends all channels.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		delete(h.subs, s)
		close(s.events)
	}
}
