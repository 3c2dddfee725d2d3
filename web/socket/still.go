package socket

import (
	"time"

	"github.com/timba-arena/timba/referee/match"
)

// still is how a stream makes the clock of its bot stand still; see StreamOptions.Slow.
type still struct {
	clock match.Holder  // nil: there is none
	since time.Time     // it stands still; zero: it does not
	used  time.Duration // of StreamOptions.Back, earlier
	slow  *time.Timer   // until the lines that wait make it stand still; nil: none wait
	lost  *time.Timer   // until the connection counts as lost
}

// check sets the clock by what is known of the connection, under the lock.
func (s *Stream) check() {
	if s.Slow == 0 || s.still.clock == nil {
		return
	}
	waits := s.acked < s.base+len(s.sent)
	switch {
	case s.closed:
		s.stopSlow()
		s.hold(false)
	case s.conn == nil || waits && !s.still.since.IsZero():
		s.stopSlow()
		s.hold(true)
	case waits && s.still.slow == nil:
		s.still.slow = time.AfterFunc(s.Slow, s.isSlow)
	case !waits:
		s.stopSlow()
		s.hold(false)
	}
}

// isSlow makes the clock stand still for lines that wait.
func (s *Stream) isSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.still.slow != nil && !s.closed {
		s.still.slow = nil
		s.hold(true)
	}
}

func (s *Stream) stopSlow() {
	if s.still.slow != nil {
		s.still.slow.Stop()
		s.still.slow = nil
	}
}

// hold stops the clock, or lets it go on.
func (s *Stream) hold(on bool) {
	if on == !s.still.since.IsZero() {
		return
	}
	s.still.clock.Hold(on)
	if on {
		s.still.since = time.Now()
		s.still.lost = time.AfterFunc(s.Back-s.still.used, func() { s.Close(Lost(s.Back)) })
		return
	}
	s.still.lost.Stop()
	s.still.used += time.Since(s.still.since)
	s.still.since = time.Time{}
}
