//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// Endings returns the signals that end a command gracefully.
func Endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
