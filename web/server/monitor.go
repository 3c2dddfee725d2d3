package server

import (
	"context"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder/events"
)

// adminInterval is how often the server looks for blocked people and paused ladders in the store, because it gets no
// event when a timba command, which is another process, changes them.
const adminInterval = 500 * time.Millisecond

// monitorAdmin looks for changes in the store until ctx ends. For each person who has been blocked it publishes an
// event, which ends the person's games and connections. After this, and after a ladder has been paused or resumed, it
// calls wake, which makes the runner look for changes.
func (s *Server) monitorAdmin(ctx context.Context, wake func()) error {
	known, err := s.Store.People.BlockedTimes(ctx)
	if err != nil {
		s.Log.Warn("who is blocked cannot be read", "err", err)
	}
	var paused []string
	return runEvery(ctx, time.Tick(adminInterval), func() {
		now, err := s.Store.People.BlockedTimes(ctx)
		var nowPaused []string
		if err == nil {
			nowPaused, err = s.Store.Ladders.ListPaused(ctx)
		}
		if err != nil { // the disk may be full; the runner reports that
			return
		}
		news := !slices.Equal(paused, nowPaused)
		paused = nowPaused
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
