//go:build !unix

package faults

import (
	"fmt"
	"os"
	"os/exec"
)

// dieBySignal exits with a similar status on systems without signals.
func dieBySignal(signal string) {
	fmt.Fprintf(os.Stderr, "misbehave: SIG%s does not exist on this system: exits with status 139\n", signal)
	os.Exit(139)
}

func setNewSession(*exec.Cmd) {}
