package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/internal/proc"
)

// MachineMemory returns the bytes of memory that this process and all that it starts
// may use: those of the machine, or less where one of its cgroups has less. 0 when it
// cannot be found out.
func MachineMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	memory := proc.Kilobytes(info, "MemTotal:") << 10
	v1, unified, err := ownGroups()
	if err != nil {
		return memory
	}
	memory = lessInGroups(memory, v1["memory"], "memory.limit_in_bytes")
	return lessInGroups(memory, unified, "memory.max")
}

// lessInGroups returns the least of memory and the limits of a cgroup and of those
// around it. A limit that is not there, or not a number, is none.
func lessInGroups(memory int64, dir, file string) int64 {
	for dir = filepath.Clean(dir); strings.HasPrefix(dir, "/"); dir = filepath.Dir(dir) {
		if limit := number(filepath.Join(dir, file)); limit > 0 && (memory == 0 || limit < memory) {
			memory = limit
		}
		if dir == "/" {
			break
		}
	}
	return memory
}
