//go:build unix

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// dieBySignal ends this process by a signal. It first replaces the process by a shell, because Go's runtime
// would catch the signal and exit with a status.
func dieBySignal(signal string) {
	err := syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -s " + signal + " $$"}, os.Environ())
	fmt.Fprintln(os.Stderr, "misbehave: the shell cannot be started:", err)
	os.Exit(1)
}

func setNewSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
