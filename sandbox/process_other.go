//go:build !linux

package sandbox

import "errors"

var errSystem = errors.New("only Linux has what a sandbox is made of")

// Probe tells what this machine can hold: outside Linux, nothing.
func Probe() Report {
	return Report{Level: None, Layers: []Layer{{Name: "linux", Err: errSystem, Fix: "run timba on Linux, in a container or a virtual machine"}}}
}

// SelfTest has nothing to test.
func SelfTest(Level) []Trial { return nil }

// Process is a sandbox that runs.
type Process struct{}

// Start always fails.
func Start(Spec) (*Process, error) { return nil, step("start", errSystem) }

// PidFD is a descriptor that becomes readable when the sandbox has ended.
func (*Process) PidFD() int { return -1 }

// Wait ends what is left and tells how it ended.
func (*Process) Wait() Status {
	return Status{Reason: NotStarted, Step: "start", Err: errSystem}
}

// Usage is what the sandbox has used so far.
func (*Process) Usage() Usage { return Usage{} }

// Kill ends all processes.
func (*Process) Kill() {}

// Freeze stops all processes until Thaw.
func (*Process) Freeze() error { return step("freeze", errSystem) }

// Thaw lets them go on.
func (*Process) Thaw() error { return step("thaw", errSystem) }

// MaybeInit does nothing.
func MaybeInit() {}
