package server

import (
	"context"
	"time"

	"github.com/timba-arena/timba/ladder/events"
)

// blockedInterval is how often the store is asked who is blocked: a command may have done that
// beside the server, which nobody tells the server.
const blockedInterval = 500 * time.Millisecond

// monitorBlocked ends what people have going on whom others than this server have blocked, until
// the context ends. wake looks at the matches anew.
func (s *Server) monitorBlocked(ctx context.Context, wake func()) error {
	known, err := s.Store.People.BlockedTimes(ctx)
	if err != nil {
		s.Log.Warn("who is blocked cannot be read", "err", err)
	}
	return runEvery(ctx, time.Tick(blockedInterval), func() {
		now, err := s.Store.People.BlockedTimes(ctx)
		if err != nil { // the disk may be full, which the runner says
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
