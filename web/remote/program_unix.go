//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// setProcessGroup gives a process a group of its own: Ctrl-C is for the client alone, and all that the
// process has started ends with it.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killAll(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
