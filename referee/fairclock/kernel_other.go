//go:build !linux

package fairclock

import (
	"fmt"
	"runtime"
)

// Check always returns an error, because this operating system does not tell which processes use the cores.
func Check() error {
	return fmt.Errorf("%s does not tell for whom the cores worked", runtime.GOOS)
}

// Open always returns nil, because this operating system does not tell which processes use the cores.
func Open(int, *Players) *Monitor { return nil }
