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

// endings are the signals that end a command in good order. That of a terminal
// which is closed is not, where nohup has it ignored.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
