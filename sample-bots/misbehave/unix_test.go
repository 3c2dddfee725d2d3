//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

var exits = map[string]string{
	"exit-at-start": "exit status 3",
	"exit-0":        "exit status 0",
	"exit-3":        "exit status 3",
	"panic":         "exit status 2",
	"half-line":     "exit status 0",
	"fork-exit":     "exit status 0",
	"segv":          "signal: segmentation fault",
	"abort":         "signal: aborted",
}

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a group by its first process, or what is left of it, or a
// process that leads none.
func killGroup(pid int) {
	syscall.Kill(-pid, syscall.SIGKILL)
	syscall.Kill(pid, syscall.SIGKILL)
}
