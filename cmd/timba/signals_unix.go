//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveLimits makes a limit of the size of files an error, like a full disk, and
// no reason to die. The signal is taken rather than ignored, which all programs
// that are started would inherit.
func outliveLimits() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
