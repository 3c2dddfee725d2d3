//go:build !linux

package referee

// Cores returns nothing: threads cannot be bound to cores here.
func Cores() []int { return nil }

func pin(int) error { return nil }

func lower() error { return nil }
