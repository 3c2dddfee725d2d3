package referee

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sandbox"
)

// startHeld runs a bot in a sandbox.
func (p *process) startHeld(b Bot, theirs [3]*os.File) error {
	spec, err := b.spec()
	if err != nil {
		return err
	}
	spec.Stdin, spec.Stdout, spec.Stderr = theirs[0], theirs[1], theirs[2]
	held, err := sandbox.Start(spec)
	if err != nil {
		var s *sandbox.StepError
		if errors.As(err, &s) && s.Step == "program" {
			return startError(b, s.Err)
		}
		if b.Hold.Still && b.Hold.best() < sandbox.Full {
			err = fmt.Errorf("a bot can be stopped between its turns only by a cgroup: %w", err)
		}
		return fmt.Errorf("referee: starting %s: %w", b.Name, err)
	}
	p.held, p.still, p.bot = held, b.Hold.Still, b
	// A copy: its own ends with the first look at how the sandbox has ended.
	if p.pidfd, err = unix.FcntlInt(uintptr(held.PidFD()), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return fmt.Errorf("referee: starting %s: %w", b.Name, err)
	}
	return nil
}

// heldEnd makes a fault of how a sandbox has ended.
func (p *process) heldEnd() error {
	s := p.held.Wait()
	limit := p.bot.Hold.Limit
	switch s.Reason {
	case sandbox.MemoryLimit:
		return faultf(protocol.Memory, "more than %d MiB of memory in all its processes: use less, or say --memory", limit.Memory>>20)
	case sandbox.ProcessLimit:
		return faultf(protocol.Processes, "more than %d processes and threads, after which it %s: start fewer, or say --processes", limit.Processes, endText(s))
	case sandbox.Forbidden:
		return faultf(protocol.Forbidden, "the process made a system call that the sandbox does not allow")
	case sandbox.NotStarted:
		if s.Step == "exec" {
			return startError(p.bot, s.Err)
		}
		return fmt.Errorf("referee: starting %s: %s: %w", p.bot.Name, s.Step, s.Err)
	}
	return p.exitFault("the process " + endText(s))
}

func endText(s sandbox.Status) string {
	switch {
	case s.Signal != 0:
		return fmt.Sprintf("was killed by signal %d (%s)", int(s.Signal), unix.SignalName(s.Signal))
	case s.Reason == sandbox.Killed:
		return "was ended"
	}
	return fmt.Sprintf("exited with status %d", s.Code)
}

// pause stops a bot that is not to think now.
func (p *process) pause() {
	if p.still {
		p.held.Freeze() // an error leaves it running, which is no worse than before
	}
}

// Wake lets it go on.
func (p *process) Wake() error {
	if !p.still {
		return nil
	}
	if err := p.held.Thaw(); err != nil {
		return fmt.Errorf("referee: %s: %w", strings.Join(p.bot.Command, " "), err)
	}
	return nil
}
