package server

import (
	"context"
	"time"

	"github.com/timba-arena/timba/ladder/events"
)

// blockedInterval is how often the server looks for blocked people in the store. When a timba command blocks
// people while the server runs, the server gets no event.
const blockedInterval = 500 * time.Millisecond

// monitorBlocked publishes an event for each person whom another process has blocked. The event ends the
// person's games and connections. Then monitorBlocked calls wake, which makes the runner look for changes. It
// runs until ctx ends.
func (s *Server) monitorBlocked(ctx context.Context, wake func()) error {
	known, err := s.Store.People.BlockedTimes(ctx)
	if err != nil {
		s.Log.Warn("who is blocked cannot be read", "err", err)
	}
	return runEvery(ctx, time.Tick(blockedInterval), func() {
		now, err := s.Store.People.BlockedTimes(ctx)
		if err != nil { // the disk may be full; the runner reports that
			return
		}
		news := false
		for person, at := range now {
			if !known[person].Equal(at) {
				news = true
				s.Store.Events().Publish(events.Event{Kind: events.AccessEnded, Person: person})
			}
		}
		if known = now; news {
			wake()
		}
	})
}
