//go:build !linux

package cores

// All returns nil: this system cannot bind threads to cores.
func All() []int { return nil }

// Bind does nothing: this system cannot bind threads to cores.
func Bind(int) error { return nil }

// Lower does nothing: on this system a thread has no priority of its own.
func Lower(int) error { return nil }
