//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// setProcessGroup gives a process its own process group. So Ctrl-C reaches only the client, and killAll also
// ends what the process has started.
func setProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killAll(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
