//go:build unix

package server

import (
	"os"
	"os/signal"
	"syscall"
)

// outliveLimits makes a write beyond the limit on file sizes (ulimit -f) fail like a write to a full disk;
// otherwise the signal SIGXFSZ would end the process. It catches the signal, because child processes would
// inherit an ignored one.
func outliveLimits() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
