//go:build !linux

package sandbox

// RemoveAtEnd does nothing: only Linux has a cleaner.
func RemoveAtEnd(string) {}

// Forget does nothing.
func Forget(string) {}
