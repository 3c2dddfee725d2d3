package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// groupMakerV1 creates cgroups of version 1, which only root can do. In version 1 every controller has a tree of
// cgroups of its own. The map has, for each controller, the directory of this process's cgroup in that tree.
type groupMakerV1 map[string]string

// controllersV1 are the controllers of version 1 that are used. The first two are required.
var controllersV1 = []string{"memory", "pids", "freezer", "cpuacct"}

// memoryV1 are the names of the files that limit the memory of a cgroup. The second file limits memory and swap
// together and may be missing.
var memoryV1 = []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}

func openV1(own map[string]string) (groupMaker, error) {
	for _, c := range controllersV1[:2] {
		if own[c] == "" {
			return nil, fmt.Errorf("cgroup v1 does not have the controller %q", c)
		}
	}
	g := groupMakerV1{}
	for _, c := range controllersV1 {
		if own[c] != "" {
			g[c] = own[c]
		}
	}
	return g, nil
}

func (g groupMakerV1) baseDirs() []string { return slices.Collect(maps.Values(g)) }

func (g groupMakerV1) create(l Limit) (group, error) {
	c := &groupV1{dirs: map[string]string{}}
	name := groupName()
	for _, controller := range controllersV1 {
		if g[controller] == "" {
			continue
		}
		dir := filepath.Join(g[controller], name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.dirs[controller] = dir
	}
	if err := c.limit(l); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// groupV1 is the cgroup of one sandbox in version 1: a directory in the tree of each controller. In version 1 the
// threads of one process may be in different cgroups. Only the thread that starts the program enters this cgroup,
// because moving a whole process takes about 5 ms.
type groupV1 struct {
	dirs    map[string]string
	tasks   []*os.File
	pidsMax *os.File // file with the process limit
	freezer *os.File // file that controls the freezer; nil if there is no controller "freezer"
}

func (c *groupV1) file(controller, name string) string {
	return filepath.Join(c.dirs[controller], name)
}

func (c *groupV1) limit(l Limit) error {
	for i, name := range memoryV1 {
		err := writeFile(c.file("memory", name), strconv.FormatInt(l.Memory, 10))
		if err != nil && !(i > 0 && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	if err := writeFile(c.file("pids", "pids.max"), strconv.Itoa(l.Processes+initproc.StarterThreads)); err != nil {
		return err
	}
	var err error
	if c.pidsMax, err = os.OpenFile(c.file("pids", "pids.max"), os.O_WRONLY, 0); err != nil {
		return err
	}
	for _, controller := range controllersV1 {
		if c.dirs[controller] == "" {
			continue
		}
		f, err := os.OpenFile(c.file(controller, "tasks"), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		c.tasks = append(c.tasks, f)
	}
	if c.dirs["freezer"] != "" {
		c.freezer, err = os.OpenFile(c.file("freezer", "freezer.state"), os.O_WRONLY, 0)
	}
	return err
}

// join implements group. It prepares config and init so that one thread of the sandbox's init process, which starts
// the program, enters the cgroup. The other threads of init stay outside. If the cgroup can be frozen, init inherits
// the file for that, to thaw the program before killing it.
func (c *groupV1) join(config *initproc.Config, init *os.ProcAttr) {
	init.Files = append(append(init.Files, c.tasks...), c.pidsMax)
	config.EnterCount = len(c.tasks)
	config.LeaveTexts = []string{strconv.Itoa(config.Limit.Processes)}
	if c.freezer != nil {
		init.Files = append(init.Files, c.freezer)
		config.CanThaw = true
	}
}

func (c *groupV1) freeze(on bool) error {
	if c.freezer == nil {
		return errors.New("cgroup v1 does not have the controller \"freezer\"")
	}
	text := "THAWED"
	if on {
		text = "FROZEN"
	}
	_, err := c.freezer.WriteString(text)
	return err
}

// kill only resumes frozen processes, because SIGKILL does not reach them while they are frozen. The caller must send
// SIGKILL.
func (c *groupV1) kill() {
	if c.freezer != nil {
		c.freeze(false)
	}
}

func (c *groupV1) outOfMemory() bool {
	return readCounter(c.file("memory", "memory.oom_control"), "oom_kill") > 0
}

func (c *groupV1) killsAll() bool { return false }

func (c *groupV1) refusedProcess() bool { return readCounter(c.file("pids", "pids.events"), "max") > 0 }

func (c *groupV1) cpu() time.Duration {
	return time.Duration(readNumber(c.file("cpuacct", "cpuacct.usage")))
}

func (c *groupV1) memory() int64 { return readNumber(c.file("memory", "memory.usage_in_bytes")) }

func (c *groupV1) threadsFile() string { return c.file("cpuacct", "tasks") }

func (c *groupV1) close() error {
	var errs []error
	for _, f := range append(c.tasks, c.pidsMax, c.freezer) {
		f.Close() // a nil file is allowed
	}
	for _, dir := range c.dirs {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}
