//go:build unix

package server

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveLimits makes a write beyond the limit on file sizes fail like one to a full disk,
// instead of ending the process. It catches SIGXFSZ: child processes would inherit an ignored
// signal.
func outliveLimits() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
