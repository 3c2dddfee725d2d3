package referee

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
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
	if p.sandbox == nil { // a sandbox ends all its processes
		end.Behind = len(proc.Marked(tagName + "=" + p.tag))
	}
	if r, ok := errors.AsType[fault.Reason](p.gone(fault.OutputClosed)); ok {
		end.Reason = r
	}
	return end, true
}
