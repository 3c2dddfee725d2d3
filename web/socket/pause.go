package socket

import (
	"time"

	"github.com/timba-arena/timba/referee/match"
)

// pause stops the clock of a bot while its connection is bad; see StreamOptions.Slow.
type pause struct {
	clock match.Holder  // of the bot; nil if it cannot be stopped
	since time.Time     // when the clock was stopped; zero while it runs
	used  time.Duration // of StreamOptions.Back, by earlier pauses
	slow  *time.Timer   // until lines without acknowledgement stop the clock; nil if all have one
	lost  *time.Timer   // until the connection counts as lost
}

// check stops the clock, or lets it run, by the state of the connection. The lock is held.
func (s *Stream) check() {
	if s.Slow == 0 || s.pause.clock == nil {
		return
	}
	waits := s.out.acked < s.out.count()
	switch {
	case s.closed:
		s.stopSlow()
		s.hold(false)
	case s.conn == nil || waits && !s.pause.since.IsZero():
		s.stopSlow()
		s.hold(true)
	case waits && s.pause.slow == nil:
		s.pause.slow = time.AfterFunc(s.Slow, s.stopForSlow)
	case !waits:
		s.stopSlow()
		s.hold(false)
	}
}

// stopForSlow stops the clock because lines have waited for Slow.
func (s *Stream) stopForSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.slow != nil && !s.closed {
		s.pause.slow = nil
		s.hold(true)
	}
}

func (s *Stream) stopSlow() {
	if s.pause.slow != nil {
		s.pause.slow.Stop()
		s.pause.slow = nil
	}
}

// hold stops the clock if on is set, and else lets it run.
func (s *Stream) hold(on bool) {
	if on == !s.pause.since.IsZero() {
		return
	}
	s.pause.clock.Hold(on)
	if on {
		s.pause.since = time.Now()
		s.pause.lost = time.AfterFunc(s.Back-s.pause.used, func() { s.Close(Lost(s.Back)) })
		return
	}
	s.pause.lost.Stop()
	s.pause.used += time.Since(s.pause.since)
	s.pause.since = time.Time{}
}
