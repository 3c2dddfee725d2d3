package referee

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/referee/fault"
)

func (p *process) closeInput() {
	unix.Close(p.stdin)
	p.stdin = -1 // poll ignores it
}

func (p *process) awaitEnd(deadline time.Time) (end End, ok bool) {
	p.awaitExit(deadline)
	if !p.exited && p.over() {
		p.awaitExit(time.Now().Add(telling)) // the sandbox or this thread waits for a core, not the bot
	}
	if !p.exited {
		return End{}, false
	}
	if p.bare() { // a sandbox ends all its processes
		end.Behind = len(p.sandbox.Marked())
	}
	var f *Fault
	if errors.As(p.gone(fault.OutputClosed), &f) {
		end.Reason = f.Reason
	}
	return end, true
}
