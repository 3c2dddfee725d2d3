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

// group is the cgroup of one sandbox, in which the kernel counts and limits all processes of the sandbox together.
type group interface {
	// join prepares the start of the sandbox's init process, so that init starts the program in the cgroup. Init
	// itself is then neither frozen nor counted as a process of the cgroup. join changes the attributes with which
	// init will be started, and its configuration c.
	join(c *initproc.Config, init *os.ProcAttr)
	freeze(on bool) error
	kill() // kills the processes if the kernel can do that for a cgroup; otherwise only thaws them
	// outOfMemory reports whether the kernel killed a process because the memory limit was reached.
	outOfMemory() bool
	killsAll() bool       // whether the kernel kills all processes of the sandbox at the memory limit
	refusedProcess() bool // whether the kernel refused to start a process because of the process limit
	cpu() time.Duration   // CPU time of all processes, including those that have ended; 0 if unknown
	memory() int64        // bytes in use by all processes; 0 if unknown
	threadsFile() string  // path of the file that lists the running threads
	close() error
}

// groupMaker creates the cgroups of sandboxes, as directories below the base directories.
type groupMaker interface {
	create(Limit) (group, error)
	baseDirs() []string
}

// groupPrefix is the prefix of the names of all cgroup directories.
const groupPrefix = "timba-"

var groupCount atomic.Int64

// groupName returns a unique name for the directory of a cgroup. It contains the PID and the start time of this
// process. By these, removeAbandoned later finds out whether the process still runs.
func groupName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%d", groupPrefix, pid, startTicks(pid), groupCount.Add(1))
}

// startTicks returns the start time of a process in clock ticks since boot. It returns "" if there is no such
// process.
func startTicks(pid int) string {
	f := proc.Stat("/proc/" + strconv.Itoa(pid))
	if len(f) < 20 {
		return ""
	}
	return string(f[19])
}

// removeAbandoned removes the cgroups of sandboxes below the directory base whose creators, earlier processes of this
// program, have ended.
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

// removeGroup removes a cgroup and the cgroups below it. dir is its directory. While a cgroup is busy, removeGroup
// tries again for about two seconds, because its last process may need a moment to disappear.
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

// writeFile writes text to an existing file. It returns an error if the file does not exist.
func writeFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// readNumber returns the number in a file, or 0 if the file does not exist or has no number.
func readNumber(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}

// readCounter returns a number from a file with lines of the form "NAME NUMBER": the number after the given name, or
// 0 if there is none.
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

// openGroupMaker returns a groupMaker for the version of cgroups on this machine. It removes cgroups that processes
// left which have ended, and tests that a cgroup can be created.
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

// ownGroups returns the directories of the cgroups of this process. v1 maps controllers of version 1 to directories;
// it may be empty. unified is the directory for version 2, or "" if there is none.
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

// parseGroups returns the directories of the cgroups of a process. own and mounts are the contents of its files
// cgroup and mountinfo in /proc. v1 maps controllers of version 1 to directories; unified is the directory for
// version 2.
func parseGroups(own, mounts string) (v1 map[string]string, unified string) {
	v1 = map[string]string{}
	paths := map[string]string{} // path by controller, or by "" for version 2
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

// mountedPath returns the directory in which the cgroup called path is visible. point is the directory where a tree
// of cgroups is mounted, and root is the cgroup that is visible at point.
func mountedPath(point, root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.Join(point, rel)
	}
	return point
}
