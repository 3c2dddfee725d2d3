package datadir

import "golang.org/x/sys/windows"

// Free returns how many bytes of the disk with a path are free for this user, and how many it has.
func Free(path string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	var mine, all uint64
	err = windows.GetDiskFreeSpaceEx(name, &mine, &all, nil)
	return int64(mine), int64(all), err
}
