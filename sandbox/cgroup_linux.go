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
)

// group counts and holds all processes of one sandbox together.
type group interface {
	// cloneInto is a cgroup that init is born in; -1 for none. Then there are lists
	// of threads where the one that starts the program enters itself, and into the
	// first of which, that of memory, init does, too.
	cloneInto() int
	enter() []*os.File
	// leave is what init writes when it has started the program, to stay out of a
	// freeze and of the count of processes; thaw, nil for none, is where it ends a
	// freeze.
	leave() []note
	thaw() *os.File
	freeze(on bool) error
	kill() // as far as the cgroup itself can
	// outOfMemory tells whether a process was ended for its memory, refused
	// whether one was not started for its number.
	outOfMemory() bool
	refused() bool
	usage() Usage
	close() error
}

// note is something to write to an open file.
type note struct {
	file *os.File
	text string
}

// groups makes groups.
type groups interface {
	create(Limit) (group, error)
}

// initMemory is what init may need beside the program.
const initMemory = 8 << 20

// groupPrefix begins the names of all cgroup folders.
const groupPrefix = "timba-"

var groupCount atomic.Int64

// groupName tells whose folder it is, for those who sweep.
func groupName() string {
	pid := os.Getpid()
	return fmt.Sprintf("%s%d-%s-%d", groupPrefix, pid, startOf(pid), groupCount.Add(1))
}

// startOf is when a process was started, in ticks since the machine was; "" when
// there is none of that number.
func startOf(pid int) string {
	f := statFields("/proc/" + strconv.Itoa(pid))
	if len(f) < 20 {
		return ""
	}
	return string(f[19])
}

// sweep removes what is left in a folder of referees that are no more. What
// they ran has ended with them.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && abandoned(e.Name()) {
			dir := filepath.Join(base, e.Name())
			writeFile(filepath.Join(dir, "freezer.state"), "THAWED")
			writeFile(filepath.Join(dir, "cgroup.kill"), "1")
			removeGroup(dir)
		}
	}
}

func abandoned(name string) bool {
	rest, ok := strings.CutPrefix(name, groupPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[0])
	return err == nil && startOf(pid) != parts[1]
}

// removeGroup removes a cgroup and those in it. The last process of one may
// still be on its way out, for a moment.
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

// writeFile writes to a file that is there: cgroups make theirs.
func writeFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// number reads a file of one number; 0 where there is none.
func number(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}

// event reads a number from a file of lines with a name and a number.
func event(path, name string) int64 {
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

// openGroups finds out which cgroups this process may use.
func openGroups() (groups, error) {
	v1, unified, err := ownGroups()
	switch {
	case err != nil:
		return nil, err
	case v1["memory"] != "":
		return openV1(v1)
	case unified == "":
		return nil, errors.New("no cgroup file system is mounted")
	}
	return openV2(unified)
}

// ownGroups gives the folders of this process's own cgroups, as parseGroups does.
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

// parseGroups finds the folders of this process's own cgroups: by controller for
// version 1, and that of version 2.
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
				unified = below(point, root, path)
			}
		case "cgroup":
			for _, controller := range strings.Split(r[2], ",") {
				if path, ok := paths[controller]; ok && controller != "" {
					v1[controller] = below(point, root, path)
				}
			}
		}
	}
	return v1, unified
}

// below is where a path of a hierarchy is, of which a part, from root on, is
// mounted at a point.
func below(point, root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return filepath.Join(point, rel)
	}
	return point
}
