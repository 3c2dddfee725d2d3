//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endings returns the signals that end a command gracefully.
func endings() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
