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
	memory = limitByGroups(memory, v1["memory"], "memory.limit_in_bytes")
	return limitByGroups(memory, unified, "memory.max")
}

// limitByGroups returns the least of memory and the limits of a cgroup and of those
// around it. A limit that is not there, or not a number, is none.
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

// quotaFiles are the files cpu.stat of the cgroups of this program, from its own upwards, that limit how
// much of the processors it may use.
var quotaFiles = sync.OnceValue(func() (files []string) {
	v1, unified, err := ownGroups()
	if err != nil {
		return nil
	}
	for _, h := range []struct{ dir, file, none string }{{unified, "cpu.max", "max"}, {v1["cpu"], "cpu.cfs_quota_us", "-1"}} {
		for dir := h.dir; len(dir) > 1; dir = filepath.Dir(dir) {
			limit, err := os.ReadFile(filepath.Join(dir, h.file))
			if err == nil && !bytes.HasPrefix(limit, []byte(h.none)) {
				files = append(files, filepath.Join(dir, "cpu.stat"))
			}
		}
	}
	return files
})

// ThrottledTime returns for how long the cgroups of this program have held its processes back because
// of their quotas.
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
