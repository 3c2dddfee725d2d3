package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
	"github.com/timba-arena/timba/sandbox/systemd"
)

// groupMakerV2 creates cgroups of version 2 as directories below base. The cgroup base itself has no processes: the
// kernel requires that of a cgroup whose children have limits.
type groupMakerV2 struct{ base string }

func (g groupMakerV2) baseDirs() []string { return []string{g.base} }

// groupV2 is the cgroup of one sandbox in version 2. It is a directory with the limits, and has two cgroups below it.
// The cgroup "bot" is for the program and can be frozen. The cgroup "init" is for the sandbox's init process, which
// must never be frozen.
type groupV2 struct {
	dir       string
	bot       *os.File // directory of the cgroup "bot"
	initProcs *os.File // file that lists the processes of the cgroup "init"
	pidsMax   *os.File // file with the process limit of the cgroup "bot"
	freezer   *os.File // file that controls the freezer
}

// initMemory is how much memory, in bytes, the sandbox's init process may use. It is added to the memory limit of the
// program.
const initMemory = 8 << 20

func (g groupMakerV2) create(l Limit) (group, error) {
	c := &groupV2{dir: filepath.Join(g.base, groupName())}
	if err := c.make(l); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *groupV2) file(name string) string { return filepath.Join(c.dir, name) }

func (c *groupV2) make(l Limit) error {
	for _, dir := range []string{"", "bot", "init"} {
		if err := os.Mkdir(c.file(dir), 0o755); err != nil {
			return err
		}
	}
	for _, f := range []struct{ name, value string }{
		{"cgroup.subtree_control", "+pids"},
		{"memory.max", strconv.FormatInt(l.Memory+initMemory, 10)},
		{"memory.swap.max", "0"},
		{"memory.oom.group", "1"},
		{"bot/pids.max", strconv.Itoa(l.Processes + initproc.InitThreads)},
	} {
		err := writeFile(c.file(f.name), f.value)
		if err != nil && !(f.name == "memory.swap.max" && errors.Is(err, fs.ErrNotExist)) { // a kernel without swap
			return err
		}
	}
	var errs [4]error
	c.bot, errs[0] = os.Open(c.file("bot"))
	c.initProcs, errs[1] = os.OpenFile(c.file("init/cgroup.procs"), os.O_WRONLY, 0)
	c.freezer, errs[2] = os.OpenFile(c.file("bot/cgroup.freeze"), os.O_WRONLY, 0)
	c.pidsMax, errs[3] = os.OpenFile(c.file("bot/pids.max"), os.O_WRONLY, 0)
	return errors.Join(errs[:]...)
}

// join implements group. It prepares config and init so that the init process starts in the cgroup "bot", where its
// memory counts, and then moves to the cgroup "init".
func (c *groupV2) join(config *initproc.Config, init *os.ProcAttr) {
	init.Sys.UseCgroupFD, init.Sys.CgroupFD = true, int(c.bot.Fd())
	init.Files = append(init.Files, c.initProcs, c.pidsMax)
	config.LeaveTexts = []string{"0", strconv.Itoa(config.Limit.Processes)}
}

func (c *groupV2) kill()                { writeFile(c.file("cgroup.kill"), "1") }
func (c *groupV2) killsAll() bool       { return true } // by memory.oom.group
func (c *groupV2) outOfMemory() bool    { return readCounter(c.file("memory.events"), "oom_kill") > 0 }
func (c *groupV2) refusedProcess() bool { return readCounter(c.file("bot/pids.events"), "max") > 0 }
func (c *groupV2) freeze(on bool) error {
	text := "0"
	if on {
		text = "1"
	}
	_, err := c.freezer.WriteAt([]byte(text), 0)
	return err
}

func (c *groupV2) cpu() time.Duration {
	return time.Duration(readCounter(c.file("cpu.stat"), "usage_usec")) * time.Microsecond
}

func (c *groupV2) memory() int64 { return readNumber(c.file("memory.current")) }

func (c *groupV2) threadsFile() string { return c.file("bot/cgroup.threads") }

func (c *groupV2) close() error {
	for _, f := range []*os.File{c.bot, c.initProcs, c.pidsMax, c.freezer} {
		if f != nil {
			f.Close()
		}
	}
	if err := removeGroup(c.dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Cgroups of version 2 form a single tree. timba may use a part of it whose controllers are delegated to
// it: by systemd, on request, or by a container.

// The controllers of version 2 that sandboxes use. With the optional controller cpu, each program gets an equal
// share of the processors.
var (
	requiredV2 = []string{"memory", "pids"}
	optionalV2 = []string{"cpu"}
)

// leafV2 is the name of the child cgroup to which enableControllers moves the processes of a cgroup. The move is
// needed because a cgroup cannot both have processes and enable controllers for its children.
const leafV2 = "timba"

// openV2 returns a groupMaker for cgroups of version 2. own is the directory of this process's cgroup. If this
// process may not create cgroups with limits there or in the parent, openV2 asks systemd for a cgroup where it may.
func openV2(own string) (groupMaker, error) {
	if base := baseV2(own, isDelegated); base != "" {
		return divideGroup(base)
	}
	if hasSystemd() {
		base, err := requestDelegation()
		if err != nil {
			return nil, fmt.Errorf("systemd does not delegate a cgroup: %w", err)
		}
		return divideGroup(base)
	}
	return divideGroup(own)
}

// baseV2 returns the directory of a cgroup in which this process may already create child cgroups with controllers:
// own, which is the process's cgroup, or the parent of own. It returns "" if there is none. isDelegated is the
// function of that name, or a replacement in tests.
func baseV2(own string, isDelegated func(dir string) bool) string {
	above := filepath.Dir(own)
	switch {
	case filepath.Base(own) == leafV2 && missingController(above, enabledFile, requiredV2) == "" && isWritable(above):
		return above // another timba process, such as this one's parent, has divided it
	case isDelegated(own) && isWritable(own):
		return own
	case isDelegated(above) && isWritable(above):
		return above // systemd's DelegateSubgroup
	case missingController(own, enabledFile, requiredV2) == "" && isWritable(own):
		return own // the root of the tree is the only cgroup with both processes and enabled controllers
	}
	return ""
}

func isWritable(dir string) bool {
	return unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
}

// isDelegated reports whether systemd has marked a cgroup as delegated, which means that this program may manage it.
// dir is the directory of the cgroup. Only root can read the mark of systemd versions before 251.
func isDelegated(dir string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		var value [8]byte
		if n, err := unix.Getxattr(dir, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

func hasSystemd() bool {
	info, err := os.Lstat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// Files that list controllers: those that are available in a cgroup, and those that it enables for its children.
const (
	availableFile = "cgroup.controllers"
	enabledFile   = "cgroup.subtree_control"
)

// missingController returns the first element of controllers that a file of a cgroup does not list, or "" if the file
// lists all. dir is the directory of the cgroup, and fileName is availableFile or enabledFile. A file that cannot be
// read counts as empty.
func missingController(dir, fileName string, controllers []string) string {
	data, _ := os.ReadFile(filepath.Join(dir, fileName))
	have := " " + strings.TrimSpace(string(data)) + " "
	for _, c := range controllers {
		if !strings.Contains(have, " "+c+" ") {
			return c
		}
	}
	return ""
}

// controllerError is the error for a cgroup, the directory dir, that lacks the required controller called name.
type controllerError struct{ dir, name string }

func (e *controllerError) Error() string {
	return fmt.Sprintf("%s does not have the controller %q", e.dir, e.name)
}

// divideGroup prepares a cgroup so that sandboxes can have cgroups below it, and returns a groupMaker that creates
// them. dir is the directory of the cgroup. If necessary, divideGroup moves the processes in the cgroup, possibly
// including this one, to a child cgroup.
func divideGroup(dir string) (groupMaker, error) {
	if missing := missingController(dir, availableFile, requiredV2); missing != "" {
		return nil, &controllerError{dir, missing}
	}
	if err := enableControllers(dir, requiredV2); err != nil {
		return nil, err
	}
	for _, c := range optionalV2 {
		enableControllers(dir, []string{c}) // an error is ignored
	}
	return groupMakerV2{dir}, nil
}

// enableControllers enables controllers for the children of a cgroup. dir is the directory of the cgroup. If the
// kernel requires it, the processes in the cgroup, possibly including this one, are first moved to a child cgroup.
func enableControllers(dir string, controllers []string) error {
	if missingController(dir, enabledFile, controllers) == "" {
		return nil
	}
	for range 10 { // a new process may start meanwhile
		err := writeFile(filepath.Join(dir, enabledFile), "+"+strings.Join(controllers, " +"))
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		if err := moveToLeaf(dir); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: its processes start others faster than they can be moved out", dir)
}

// moveToLeaf moves all processes of a cgroup to its child cgroup leafV2, which it creates if necessary. dir is the
// directory of the cgroup.
func moveToLeaf(dir string) error {
	leaf := filepath.Join(dir, leafV2)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, pid := range strings.Fields(string(data)) {
		if err := writeFile(filepath.Join(leaf, "cgroup.procs"), pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// requestDelegation asks systemd to move this process to a new cgroup that the process may manage. It returns the
// directory of the cgroup, or an error after five seconds.
func requestDelegation() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	name := fmt.Sprintf("timba-%d-%s.scope", os.Getpid(), startTicks(os.Getpid()))
	if err := systemd.Delegate(ctx, name); err != nil {
		return "", err
	}
	_, unified, err := ownGroups()
	if err != nil {
		return "", err
	}
	if filepath.Base(unified) != name {
		return "", fmt.Errorf("%s was started, but this process is still in %s", name, unified)
	}
	return unified, nil
}
