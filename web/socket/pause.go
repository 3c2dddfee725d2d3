package socket

import (
	"time"

	"github.com/timba-arena/timba/referee/match"
)

// pause stops the clock of a bot while its connection is bad; see StreamOptions.Slow.
type pause struct {
	clock     match.Holder  // of the bot; nil if it cannot be stopped
	since     time.Time     // when the clock was stopped; zero while it runs
	used      time.Duration // of StreamOptions.Back, by earlier pauses
	slowTimer *time.Timer   // until lines without acknowledgement stop the clock; nil if all have one
	lostTimer *time.Timer   // until the connection counts as lost
}

// updateClock stops the clock, or lets it run, by the state of the connection. The lock is held.
func (s *Stream) updateClock() {
	if s.SlowAfter == 0 || s.pause.clock == nil {
		return
	}
	waits := s.outbox.ackCount < s.outbox.count()
	switch {
	case s.closed:
		s.stopSlow()
		s.holdClock(false)
	case s.conn == nil || waits && !s.pause.since.IsZero():
		s.stopSlow()
		s.holdClock(true)
	case waits && s.pause.slowTimer == nil:
		s.pause.slowTimer = time.AfterFunc(s.SlowAfter, s.stopForSlow)
	case !waits:
		s.stopSlow()
		s.holdClock(false)
	}
}

// stopForSlow stops the clock because lines have waited for Slow.
func (s *Stream) stopForSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.slowTimer != nil && !s.closed {
		s.pause.slowTimer = nil
		s.holdClock(true)
	}
}

func (s *Stream) stopSlow() {
	if s.pause.slowTimer != nil {
		s.pause.slowTimer.Stop()
		s.pause.slowTimer = nil
	}
}

// holdClock stops the clock if on is set, and else lets it run.
func (s *Stream) holdClock(on bool) {
	if on == !s.pause.since.IsZero() {
		return
	}
	s.pause.clock.Hold(on)
	if on {
		s.pause.since = time.Now()
		s.pause.lostTimer = time.AfterFunc(s.ReturnTime-s.pause.used, func() { s.Close(LostReason(s.ReturnTime)) })
		return
	}
	s.pause.lostTimer.Stop()
	s.pause.used += time.Since(s.pause.since)
	s.pause.since = time.Time{}
}
