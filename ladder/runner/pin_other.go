//go:build !linux

package runner

// pinThread does nothing: this system binds no program to a core.
func pinThread(int) error { return nil }

func lowPriority() {}
