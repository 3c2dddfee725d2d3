//go:build !linux

package sandbox

import "errors"

var errSystem = errors.New("the sandbox needs Linux")

// Probe reports that there is no sandbox outside Linux.
func Probe() Report {
	return Report{Level: None, Layers: []Layer{{Name: "linux", Err: errSystem, Fix: "run timba on Linux, in a container or a virtual machine"}}}
}

// SelfTest does nothing.
func SelfTest(Level) []Trial { return nil }

// Process is a running sandbox.
type Process struct{}

// Start always fails.
func Start(Spec) (*Process, error) { return nil, step("start", errSystem) }

// PidFD returns a descriptor that becomes readable when the sandbox has ended.
func (*Process) PidFD() int { return -1 }

// Wait returns how the program ended.
func (*Process) Wait() Status {
	return Status{Reason: NotStarted, Step: "start", Err: errSystem}
}

// Usage returns what the sandbox has used so far.
func (*Process) Usage() Usage { return Usage{} }

// Kill ends all processes.
func (*Process) Kill() {}

// Freeze stops all processes until Thaw.
func (*Process) Freeze() error { return step("freeze", errSystem) }

// Thaw resumes the processes.
func (*Process) Thaw() error { return step("thaw", errSystem) }

// MaybeInit does nothing.
func MaybeInit(Delegate) {}
