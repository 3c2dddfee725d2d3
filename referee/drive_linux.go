package referee

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

func (p *process) closeInput() {
	unix.Close(p.in)
	p.in = -1 // poll passes over it
}

func (p *process) awaitEnd(deadline time.Time) (end End, ok bool) {
	p.awaitExit(deadline)
	if !p.exited {
		return End{}, false
	}
	if p.held == nil { // a sandbox ends all by itself
		end.Behind = len(tagged(p.tag))
	}
	var f *Fault
	if errors.As(p.gone("ended"), &f) {
		end.Text = f.Text
	}
	if p.held != nil {
		s := p.held.Wait()
		end.Clean = s.Reason == sandbox.Exited && s.Code == 0
		return end, true
	}
	end.Clean = p.cmd.ProcessState != nil && p.cmd.ProcessState.Success()
	return end, true
}
