//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// Endings returns the signals that end a command gracefully: SIGHUP only if it is not ignored,
// as under nohup.
func Endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
