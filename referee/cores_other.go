//go:build !linux

package referee

// Cores is empty where threads cannot be bound to cores.
func Cores() []int { return nil }

func pin(int) error { return nil }
