//go:build !linux

package cores

import (
	"fmt"
	"runtime"
)

// Check returns an error: this system does not tell for whom the cores worked.
func Check([]int) error {
	return fmt.Errorf("%s does not tell for whom the cores worked", runtime.GOOS)
}

// Open returns nil: this system does not count for whom the cores worked.
func Open(int, []int, *Players) *Watch { return nil }

// All returns nothing: threads cannot be bound to cores here.
func All() []int { return nil }

// Bind does nothing: see All.
func Bind(int) error { return nil }

// Lower does nothing: a thread has no priority of its own here.
func Lower(int) error { return nil }
