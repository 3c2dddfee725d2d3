package referee

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// startSandboxed runs a bot in a sandbox.
func (p *process) startSandboxed(b Bot, theirs [3]*os.File) error {
	spec, err := b.spec()
	if err != nil {
		return err
	}
	found, err := interpreter.Find(spec.Args[0], spec.Dir)
	if err != nil {
		return startError(b, err)
	}
	spec.Path, spec.Show, spec.Env = found.Path, append(found.Show, spec.Show...), found.Env
	spec.Stdin, spec.Stdout, spec.Stderr = theirs[0], theirs[1], theirs[2]
	held, err := sandbox.Start(spec)
	if err != nil {
		var s *sandbox.StepError
		if errors.As(err, &s) && s.Step == "program" {
			return startError(b, s.Err)
		}
		if b.Sandbox.Freeze && b.Sandbox.Best() < sandbox.Full {
			err = fmt.Errorf("stopping a bot between its turns needs a cgroup: %w", err)
		}
		return fmt.Errorf("referee: starting %s: %w", b.Name, err)
	}
	p.sandbox, p.freezes, p.bot = held, b.Sandbox.Freeze, b
	// A copy, because the sandbox's own is closed by the first Wait.
	if p.pidfd, err = unix.FcntlInt(uintptr(held.PidFD()), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return fmt.Errorf("referee: starting %s: %w", b.Name, err)
	}
	return nil
}

// sandboxedEnd returns the fault for the end of a sandbox.
func (p *process) sandboxedEnd() error {
	s := p.sandbox.Wait()
	limit := p.bot.Sandbox.Limit
	switch s.Reason {
	case sandbox.MemoryLimit:
		return fault.Reason{Kind: fault.OutOfMemory, Limit: limit.Memory >> 20}
	case sandbox.ProcessLimit:
		r := exitReason(s.Code, s.Signal)
		r.Kind, r.Limit = fault.TooManyProcesses, int64(limit.Processes)
		return r
	case sandbox.Forbidden:
		return fault.Reason{Kind: fault.ForbiddenCall}
	case sandbox.NotStarted:
		if s.Step == "exec" {
			return startError(p.bot, s.Err)
		}
		return fmt.Errorf("referee: starting %s: %s: %w", p.bot.Name, s.Step, s.Err)
	}
	if s.Reason == sandbox.Killed && s.Signal == 0 {
		return p.exitFault(fault.Reason{Kind: fault.Stopped})
	}
	return p.exitFault(exitReason(s.Code, s.Signal))
}

// pause stops a bot between its turns.
func (p *process) pause() {
	if p.freezes {
		p.sandbox.Freeze() // after an error it keeps running
	}
}

// wake resumes the bot.
func (p *process) wake() error {
	if !p.freezes {
		return nil
	}
	if err := p.sandbox.Thaw(); err != nil {
		return fmt.Errorf("referee: %s: %w", strings.Join(p.bot.Command, " "), err)
	}
	return nil
}
