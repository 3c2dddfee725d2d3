package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

// MachineMemory returns how many bytes of memory this process and its children may use: the memory of the
// machine, or the limit of a cgroup of this process if that is lower. It returns 0 if that is unknown.
func MachineMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	memory := proc.Kilobytes(info, "MemTotal:") << 10
	v1, unified, err := ownGroups()
	if err != nil {
		return memory
	}
	memory = limitByGroups(memory, v1["memory"], "memory.limit_in_bytes")
	return limitByGroups(memory, unified, "memory.max")
}

// limitByGroups returns the smallest of memory and the memory limits of a cgroup and its ancestors, in bytes. A
// memory of 0 means no limit. dir is the directory of the cgroup, and file is the name of the file in each directory
// that has the limit. A file without a number sets no limit.
func limitByGroups(memory int64, dir, file string) int64 {
	for dir = filepath.Clean(dir); strings.HasPrefix(dir, "/"); dir = filepath.Dir(dir) {
		if limit := readNumber(filepath.Join(dir, file)); limit > 0 && (memory == 0 || limit < memory) {
			memory = limit
		}
		if dir == "/" {
			break
		}
	}
	return memory
}

// quotaFiles returns the paths of the cpu.stat files of all cgroups that limit the CPU time of this process. These
// are the process's own cgroup and its ancestors, if they have a quota.
var quotaFiles = sync.OnceValue(func() (files []string) {
	v1, unified, err := ownGroups()
	if err != nil {
		return nil
	}
	for _, h := range []struct{ dir, file, noLimit string }{{unified, "cpu.max", "max"}, {v1["cpu"], "cpu.cfs_quota_us", "-1"}} {
		for dir := h.dir; len(dir) > 1; dir = filepath.Dir(dir) {
			limit, err := os.ReadFile(filepath.Join(dir, h.file))
			if err == nil && !bytes.HasPrefix(limit, []byte(h.noLimit)) {
				files = append(files, filepath.Join(dir, "cpu.stat"))
			}
		}
	}
	return files
})

// ThrottledTime returns for how long CPU quotas have stopped processes in the cgroups of this process. It adds the
// times of all cgroups with a quota, each since its creation.
func ThrottledTime() (sum time.Duration) {
	for _, file := range quotaFiles() {
		if us := readCounter(file, "throttled_usec"); us > 0 {
			sum += time.Duration(us) * time.Microsecond
		} else {
			sum += time.Duration(readCounter(file, "throttled_time")) // in version 1
		}
	}
	return sum
}
