//go:build !linux

package referee

import "time"

func (p *process) closeInput() { p.in.Close() }

func (p *process) awaitEnd(deadline time.Time) (end End, ok bool) {
	go func() { // what it still writes must not hold it
		for range p.read {
		}
	}()
	timer := time.NewTimer(max(0, time.Until(deadline)))
	defer timer.Stop()
	select {
	case <-p.done:
		return End{Text: "the process ended: " + p.cmd.ProcessState.String(), Clean: p.cmd.ProcessState.Success()}, true
	case <-timer.C:
		return End{}, false
	}
}
