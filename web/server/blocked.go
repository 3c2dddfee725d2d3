package server

import (
	"context"
	"time"

	"github.com/timba-arena/timba/ladder/events"
)

// blockedInterval is how often the server looks for blocked people in the store. A command can block people
// next to the running server, which gets no event then.
const blockedInterval = 500 * time.Millisecond

// monitorBlocked publishes an event for each person whom another process has blocked, so that everything this
// person does ends, and calls wake for the runner. It runs until ctx ends.
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
