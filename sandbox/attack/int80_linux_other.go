//go:build linux && !amd64

package main

import "golang.org/x/sys/unix"

func call80(uint32) uint32 {
	e := int32(unix.ENOSYS)
	return uint32(-e)
}
