package datadir

import "golang.org/x/sys/windows"

// FreeSpace returns how many bytes this user can still write to the disk that contains path, and the size of the
// disk in bytes.
func FreeSpace(path string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	var mine, all uint64
	err = windows.GetDiskFreeSpaceEx(name, &mine, &all, nil)
	return int64(mine), int64(all), err
}
