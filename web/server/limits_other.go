//go:build !unix

package server

// outliveLimits does nothing, as these systems have no limit on file sizes.
func outliveLimits() {}
