package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// group counts and limits all processes of one sandbox together.
type group interface {
	// join makes init start the program in the group, without being frozen or counted as a process
	// itself: by attributes of init, and by files that the configuration tells it to write to.
	join(c *initproc.Config, init *os.ProcAttr)
	freeze(on bool) error
	kill() // by means of the cgroup, if it has any
	// outOfMemory reports whether the kernel ended a process at the memory limit, refused
	// whether it refused to start one at the limit of processes.
	outOfMemory() bool
	killsAll() bool // whether the kernel then ends all processes of the sandbox
	refusedProcess() bool
	cpu() time.Duration  // of all processes, also ended ones; 0 if unknown
	memory() int64       // that all processes use, in bytes; 0 if unknown
	threadsFile() string // the file that lists the threads that run
	close() error
}

// groupMaker makes groups, each a directory below the bases.
type groupMaker interface {
	create(Limit) (group, error)
	baseDirs() []string
}

// groupPrefix begins the names of all cgroup directories.
const groupPrefix = "timba-"

var groupCount atomic.Int64

// groupName names a directory after its owner, for sweep.
func groupName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%d", groupPrefix, pid, startTicks(pid), groupCount.Add(1))
}

// startTicks returns when a process was started, in ticks since boot; "" if it does not
// exist.
func startTicks(pid int) string {
	f := proc.Stat("/proc/" + strconv.Itoa(pid))
	if len(f) < 20 {
		return ""
	}
	return string(f[19])
}

// removeAbandoned removes the cgroups in a directory that ended referees left. Their bots ended
// with them.
func removeAbandoned(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && isAbandoned(e.Name()) {
			dir := filepath.Join(base, e.Name())
			writeFile(filepath.Join(dir, "freezer.state"), "THAWED")
			writeFile(filepath.Join(dir, "cgroup.kill"), "1")
			removeGroup(dir)
		}
	}
}

func isAbandoned(name string) bool {
	rest, ok := strings.CutPrefix(name, groupPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[0])
	return err == nil && startTicks(pid) != parts[1]
}

// removeGroup removes a cgroup and those below it. It retries, because the last process
// may take a moment to disappear.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			removeGroup(filepath.Join(dir, e.Name()))
		}
	}
	for wait := time.Millisecond; ; wait *= 2 {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || wait > time.Second {
			return &os.PathError{Op: "rmdir", Path: dir, Err: err}
		}
		time.Sleep(wait)
	}
}

// writeFile writes to an existing file.
func writeFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// readNumber reads a file with one number; 0 if it does not exist.
func readNumber(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}

// readCounter returns the number of a name, from a file of lines "NAME NUMBER".
func readCounter(path, name string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// openGroupMaker returns the cgroups that this process may use, after it has made one and removed what
// others have left.
func openGroupMaker() (groupMaker, error) {
	v1, unified, err := ownGroups()
	if err != nil {
		return nil, err
	}
	var all groupMaker
	switch {
	case v1["memory"] != "":
		all, err = openV1(v1)
	case unified != "":
		all, err = openV2(unified)
	default:
		err = errors.New("no cgroup file system is mounted")
	}
	if err != nil {
		return nil, err
	}
	for _, base := range all.baseDirs() {
		removeAbandoned(base)
		cleaner.addGroups(base)
	}
	probe, err := all.create(DefaultLimit)
	if err != nil {
		return nil, err
	}
	return all, probe.close()
}

// ownGroups returns the directories of this process's own cgroups, as parseGroups does.
func ownGroups() (v1 map[string]string, unified string, err error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, "", err
	}
	v1, unified = parseGroups(string(own), string(mounts))
	return v1, unified, nil
}

// parseGroups returns the directories of this process's own cgroups: by controller for
// version 1, and the one of version 2.
func parseGroups(own, mounts string) (v1 map[string]string, unified string) {
	v1 = map[string]string{}
	paths := map[string]string{} // controller, or "" for version 2, to path
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		root, point := l[3], l[4]
		switch r[0] {
		case "cgroup2":
			if path, ok := paths[""]; ok {
				unified = mountedPath(point, root, path)
			}
		case "cgroup":
			for _, controller := range strings.Split(r[2], ",") {
				if path, ok := paths[controller]; ok && controller != "" {
					v1[controller] = mountedPath(point, root, path)
				}
			}
		}
	}
	return v1, unified
}

// mountedPath returns the directory of a path of a hierarchy, of which the part below root is
// mounted at a point.
func mountedPath(point, root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.Join(point, rel)
	}
	return point
}
