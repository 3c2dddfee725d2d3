//go:build !unix

package faults

import (
	"fmt"
	"os"
	"os/exec"
)

// dieOf exits with a similar status on systems without signals.
func dieOf(signal string) {
	fmt.Fprintf(os.Stderr, "misbehave: SIG%s does not exist on this system: exits with status 139\n", signal)
	os.Exit(139)
}

func ownSession(*exec.Cmd) {}
