//go:build !linux && !darwin && !windows

package datadir

import "errors"

// FreeSpace returns errors.ErrUnsupported: the free space is unknown on this system.
func FreeSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
