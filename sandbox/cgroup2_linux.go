package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// groupsV2 makes cgroups of version 2 below a directory without processes, so that its
// controllers can be delegated.
type groupsV2 struct{ base string }

func (g groupsV2) bases() []string { return []string{g.base} }

// groupV2 is a directory with the limits and two leaves: one for the program, which can
// be frozen, and one for init, which must not be.
type groupV2 struct {
	dir  string
	bot  *os.File // the leaf itself
	out  *os.File // the other leaf's list of processes
	most *os.File // the limit of processes of the program's leaf
	room string   // its value
	cold *os.File // the file that controls the freezer
}

// initMemory is what init needs besides the program, in bytes.
const initMemory = 8 << 20

func (g groupsV2) create(l Limit) (group, error) {
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
	c.room = strconv.Itoa(l.Processes)
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
	c.out, errs[1] = os.OpenFile(c.file("init/cgroup.procs"), os.O_WRONLY, 0)
	c.cold, errs[2] = os.OpenFile(c.file("bot/cgroup.freeze"), os.O_WRONLY, 0)
	c.most, errs[3] = os.OpenFile(c.file("bot/pids.max"), os.O_WRONLY, 0)
	return errors.Join(errs[:]...)
}

func (c *groupV2) cloneInto() int    { return int(c.bot.Fd()) }
func (c *groupV2) enter() []*os.File { return nil }
func (c *groupV2) leave() []note     { return []note{{c.out, "0"}, {c.most, c.room}} }
func (c *groupV2) thaw() *os.File    { return nil } // SIGKILL ends frozen processes, too
func (c *groupV2) kill()             { writeFile(c.file("cgroup.kill"), "1") }
func (c *groupV2) endsAll() bool     { return true } // by memory.oom.group
func (c *groupV2) outOfMemory() bool { return event(c.file("memory.events"), "oom_kill") > 0 }
func (c *groupV2) refused() bool     { return event(c.file("bot/pids.events"), "max") > 0 }
func (c *groupV2) freeze(on bool) error {
	text := "0"
	if on {
		text = "1"
	}
	_, err := c.cold.WriteAt([]byte(text), 0)
	return err
}

func (c *groupV2) cpu() time.Duration {
	return time.Duration(event(c.file("cpu.stat"), "usage_usec")) * time.Microsecond
}

func (c *groupV2) threads() string { return c.file("bot/cgroup.threads") }

func (c *groupV2) close() error {
	for _, f := range []*os.File{c.bot, c.out, c.most, c.cold} {
		if f != nil {
			f.Close()
		}
	}
	if err := removeGroup(c.dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
