//go:build !linux

package sandbox

import (
	"fmt"
	"os"
)

// Guard does nothing: only Linux has a guardian.
func Guard(string) {}

// Unguard does nothing.
func Unguard(string) {}

// Mark returns a variable for the environment of processes without a sandbox.
func Mark() string { return fmt.Sprintf("TIMBA_RUN=%d", os.Getpid()) }
