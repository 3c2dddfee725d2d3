package faults

import (
	"fmt"
	"os"
	"os/exec"
)

// ChildArg makes a program that runs a Bot the child that it starts: it waits for Linger.
const ChildArg = "--child"

// startChild starts a process that keeps this one's pipes open and outlives it, on request in
// its own session, and prints its process ID on stderr.
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
