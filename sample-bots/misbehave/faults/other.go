//go:build !unix

package faults

import (
	"fmt"
	"os"
	"os/exec"
)

// dieBySignal exits with status 139, which shells report for SIGSEGV, because this system has no signals.
func dieBySignal(signal string) {
	fmt.Fprintf(os.Stderr, "misbehave: SIG%s does not exist on this system: exits with status 139\n", signal)
	os.Exit(139)
}

func setNewSession(*exec.Cmd) {}
