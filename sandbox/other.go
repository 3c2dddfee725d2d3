//go:build !linux

package sandbox

import (
	"os/exec"
	"sync"
	"sync/atomic"
)

// Probe reports that this machine supports no sandbox, since only Linux does.
func Probe() MachineReport {
	return MachineReport{Level: LevelNone, Layers: []Layer{{Name: "linux", Error: "the sandbox needs Linux", Fix: "run timba on Linux, in a container or a virtual machine"}}}
}

// SelfTest returns nil, because this system has no sandbox that could be tested.
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

// Kill ends the program, but not the processes that it started.
func (p *Process) Kill() {
	p.isKilled.Store(true)
	p.cmd.Process.Kill() // an error means that it has ended
}

// Wait waits until the program ends and returns how it ended. It may be called again and then returns the same.
func (p *Process) Wait() Status {
	p.waitOnce.Do(func() {
		p.cmd.Wait() // ProcessState has the error, too
		p.status = plainStatus(p.cmd.ProcessState, p.isKilled.Load())
	})
	return p.status
}

// RemoveAtEnd does nothing. Only on Linux can a directory be removed when this program is killed.
func RemoveAtEnd(string) {}

// CancelRemoveAtEnd does nothing.
func CancelRemoveAtEnd(string) {}

// MachineMemory returns 0, which means that the memory of the machine is unknown.
func MachineMemory() int64 { return 0 }
