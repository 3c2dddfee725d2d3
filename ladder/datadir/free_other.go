//go:build !linux && !darwin && !windows

package datadir

import "errors"

// Free returns how many bytes of the disk with a path are free for this user, and how many it has.
func Free(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
