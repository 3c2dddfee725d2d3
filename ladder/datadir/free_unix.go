//go:build linux || darwin

package datadir

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes this user can still write to the disk that contains path, and the size of the
// disk in bytes.
func FreeSpace(path string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), nil
}
