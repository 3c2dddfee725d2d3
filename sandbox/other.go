//go:build !linux

package sandbox

import (
	"os/exec"
	"sync"
	"sync/atomic"
)

// Probe reports that there is no sandbox outside Linux.
func Probe() Report {
	return Report{Level: LevelNone, Layers: []Layer{{Name: "linux", Error: "the sandbox needs Linux", Fix: "run timba on Linux, in a container or a virtual machine"}}}
}

// SelfTest does nothing.
func SelfTest(Level) []Trial { return nil }

// Process is a running program.
type Process struct {
	cmd      *exec.Cmd
	isKilled atomic.Bool
	waitOnce sync.Once
	status   Status
}

// Start runs a program without a sandbox. It returns an error for every level but LevelNone.
func Start(s Spec) (*Process, error) {
	if s.Level != LevelNone {
		return nil, Probe().levelError(s.Level)
	}
	cmd, err := s.command()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, wrapStep("program", err)
	}
	return &Process{cmd: cmd}, nil
}

// Kill ends the program. What it has started goes on.
func (p *Process) Kill() {
	p.isKilled.Store(true)
	p.cmd.Process.Kill() // an error: it has ended
}

// Wait waits for the program's end and returns how it ended. It can be called again.
func (p *Process) Wait() Status {
	p.waitOnce.Do(func() {
		p.cmd.Wait() // the error is in ProcessState, too
		p.status = plainStatus(p.cmd.ProcessState, p.isKilled.Load())
	})
	return p.status
}

// RemoveAtEnd does nothing: only Linux has a cleaner.
func RemoveAtEnd(string) {}

// CancelRemoveAtEnd does nothing.
func CancelRemoveAtEnd(string) {}

// MachineMemory returns 0: it is not found out.
func MachineMemory() int64 { return 0 }
