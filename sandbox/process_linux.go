package sandbox

import "errors"

var errUnfinished = errors.New("the walls are not built yet")

// Probe tells what this machine can hold, by running it.
func Probe() Report { return Report{Level: None} }

// Process is a sandbox that runs.
type Process struct{}

// Start runs a program in a sandbox.
func Start(Spec) (*Process, error) { return nil, step("start", errUnfinished) }

// PidFD is a descriptor that becomes readable when the sandbox has ended.
func (*Process) PidFD() int { return -1 }

// Wait ends what is left, frees everything and tells how it ended.
func (*Process) Wait() Status { return Status{Reason: NotStarted, Step: "start", Err: errUnfinished} }

// Kill ends all processes.
func (*Process) Kill() {}

// Freeze stops all processes until Thaw.
func (*Process) Freeze() error { return step("freeze", errUnfinished) }

// Thaw lets them go on.
func (*Process) Thaw() error { return step("thaw", errUnfinished) }

// MaybeInit is called first thing in main: when the process was started as a
// sandbox's init it never returns.
func MaybeInit() {}
