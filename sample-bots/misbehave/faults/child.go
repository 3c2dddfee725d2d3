package faults

import (
	"fmt"
	"os"
	"os/exec"
)

// ChildArg is the argument with which a program that runs a Bot starts itself as a child. The child must
// sleep for LingerTime.
const ChildArg = "--child"

// startChild starts a process that holds the pipes of this one open and outlives it. If session is set, the
// process is in a session of its own. Its process ID is printed on stderr.
func startChild(session bool) {
	self, err := os.Executable()
	if err == nil {
		cmd := exec.Command(self, ChildArg)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if session {
			setNewSession(cmd)
		}
		if err = cmd.Start(); err == nil {
			fmt.Fprintln(os.Stderr, "misbehave: child", cmd.Process.Pid)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "misbehave: the child cannot be started:", err)
	}
}
