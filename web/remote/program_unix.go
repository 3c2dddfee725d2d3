//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// setProcessGroup makes cmd start in a process group of its own. Ctrl-C then ends only the client, and
// killAll also ends the processes that cmd has started.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killAll(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
