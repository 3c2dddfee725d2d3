//go:build !unix

package main

import (
	"os"
	"syscall"
)

// outliveLimits has nothing to do: there are no limits of the size of files.
func outliveLimits() {}

// endings are the signals that end a command in good order.
func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
