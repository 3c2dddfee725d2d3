package socket

import (
	"fmt"
	"time"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
)

// pause says whether the clock of a bot is stopped because of a bad connection, and for how long it has been stopped
// in total. See LineStreamOptions.SlowAfter.
type pause struct {
	clock     match.Holder  // of the bot; nil if it cannot be stopped
	since     time.Time     // start of the current stop; zero while the clock runs
	used      time.Duration // part of ReturnTime that earlier stops have used
	slowTimer *time.Timer   // stops the clock when lines have waited too long; nil if no line waits
	lostTimer *time.Timer   // fires when the connection counts as lost
	isAway    bool          // no connection worked during a part of the current stop
	slow      time.Duration // part of used while a connection worked
	slowCount int           // how many stops slow consists of
}

// lostReason returns the fault of a bot whose clock was stopped for longer than ReturnTime. The fault is
// ConnectionSlow if there was a connection, but a slow one, for at least half of ReturnTime. Otherwise it is
// ConnectionLost. The caller holds s.mu.
func (s *LineStream) lostReason() fault.Reason {
	p := s.pause
	if p.slowCount == 0 || p.slow < s.ReturnTime/2 {
		return LostReason(s.ReturnTime)
	}
	r, delay := LostReason(s.ReturnTime), s.SlowAfter+p.slow/time.Duration(p.slowCount)
	r.Kind, r.Detail = fault.ConnectionSlow, fmt.Sprintf("%d ms", delay.Milliseconds())
	return r
}

// updateClock stops the bot's clock in two cases: there is no connection, or a line has waited too long for its
// acknowledgement. Otherwise it lets the clock run. If SlowAfter is 0, it does nothing. The caller holds s.mu.
func (s *LineStream) updateClock() {
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

func (s *LineStream) stopForSlow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.slowTimer != nil && !s.closed {
		s.pause.slowTimer = nil
		s.holdClock(true)
	}
}

func (s *LineStream) stopSlow() {
	if s.pause.slowTimer != nil {
		s.pause.slowTimer.Stop()
		s.pause.slowTimer = nil
	}
}

// holdClock stops the clock if on is true, and otherwise lets it run.
func (s *LineStream) holdClock(on bool) {
	p := &s.pause
	if on {
		p.isAway = p.isAway || s.conn == nil || !s.conn.greeted
	}
	if on == !p.since.IsZero() {
		return
	}
	p.clock.Hold(on)
	if on {
		p.since = time.Now()
		p.lostTimer = time.AfterFunc(s.ReturnTime-p.used, func() {
			s.mu.Lock()
			why := s.lostReason()
			s.mu.Unlock()
			s.Close(why)
		})
		return
	}
	p.lostTimer.Stop()
	d := time.Since(p.since)
	p.used += d
	if !p.isAway {
		p.slow += d
		p.slowCount++
	}
	p.since, p.isAway = time.Time{}, false
}
