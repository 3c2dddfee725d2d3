//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endings returns the signals that end a command gracefully: SIGHUP only if it is not ignored,
// as under nohup.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
