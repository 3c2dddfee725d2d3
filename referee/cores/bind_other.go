//go:build !linux

package cores

// All returns nothing: threads cannot be bound to cores here.
func All() []int { return nil }

// Bind does nothing: see All.
func Bind(int) error { return nil }

// Lower does nothing: a thread has no priority of its own here.
func Lower(int) error { return nil }
