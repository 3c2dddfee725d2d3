//go:build !linux

package sandbox

import (
	"fmt"
	"os"
)

// Guard would have a temporary folder removed when this program is killed; there
// is no guardian here.
func Guard(string) {}

// Unguard is for a folder that is removed already, or that stays.
func Unguard(string) {}

// Mark is a variable for the environment of processes without a sandbox.
func Mark() string { return fmt.Sprintf("TIMBA_RUN=%d", os.Getpid()) }
