//go:build !unix

package remote

import "os/exec"

func setProcessGroup(*exec.Cmd) {}

func killAll(cmd *exec.Cmd) { cmd.Process.Kill() }
