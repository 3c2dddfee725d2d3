//go:build !linux

package referee

import "time"

func (p *process) closeInput() { p.in.Close() }

func (p *process) awaitEnd(deadline time.Time) (end End, ok bool) {
	go func() { // discards output, so that the process does not block
		for range p.read {
		}
	}()
	timer := time.NewTimer(max(0, time.Until(deadline)))
	defer timer.Stop()
	select {
	case <-p.done:
		return End{Reason: exitReason(p.status)}, true
	case <-timer.C:
		return End{}, false
	}
}
