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

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

// groupsV2 are cgroups of version 2 below a folder that has no processes of its
// own, so that its controllers can be handed on.
type groupsV2 struct{ base string }

// needV2 are the controllers that there must be.
var needV2 = []string{"memory", "pids", "cpu"}

// openV2 finds a folder for groups: this process's own cgroup when it hands on
// its controllers already or can, else one that systemd delegates.
func openV2(own string) (groups, error) {
	if hands(own) && unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK) == nil {
		return prepareV2(own)
	}
	if booted() {
		base, err := delegated()
		if err != nil {
			return nil, fmt.Errorf("systemd delegates no cgroup: %w", err)
		}
		if err := vacate(base); err != nil {
			return nil, err
		}
		return prepareV2(base)
	}
	if err := vacate(own); err != nil {
		return nil, err
	}
	return prepareV2(own)
}

// booted tells whether systemd runs this machine.
func booted() bool {
	info, err := os.Lstat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// hands tells whether a cgroup hands on all controllers.
func hands(dir string) bool {
	return lacks(filepath.Join(dir, "cgroup.subtree_control")) == ""
}

// lacks is a controller that a list lacks; "" when none.
func lacks(list string) string {
	data, err := os.ReadFile(list)
	if err != nil {
		return err.Error()
	}
	have := " " + strings.TrimSpace(string(data)) + " "
	for _, c := range needV2 {
		if !strings.Contains(have, " "+c+" ") {
			return c
		}
	}
	return ""
}

func prepareV2(base string) (groups, error) {
	sweep(base)
	guardian.groups(base)
	g := groupsV2{base}
	probe, err := g.create(DefaultLimit)
	if err != nil {
		return nil, err
	}
	return g, probe.close()
}

// vacate moves every process of a cgroup, of which this is one, into a leaf and
// hands its controllers on: the kernel allows one or the other.
func vacate(dir string) error {
	if missing := lacks(filepath.Join(dir, "cgroup.controllers")); missing != "" {
		return fmt.Errorf("%s: there is no controller %q", dir, missing)
	}
	leaf := filepath.Join(dir, "timba")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	var err error
	for range 10 { // a process may be born while they are moved
		data, readErr := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if readErr != nil {
			return readErr
		}
		for _, pid := range strings.Fields(string(data)) {
			if moveErr := writeFile(filepath.Join(leaf, "cgroup.procs"), pid); moveErr != nil && !errors.Is(moveErr, unix.ESRCH) {
				return moveErr
			}
		}
		if err = writeFile(control, "+"+strings.Join(needV2, " +")); !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	return err
}

// delegated has systemd move this process into a scope that is ours to divide,
// and gives its folder. It takes some 200 ms, once.
func delegated() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	connect := dbus.NewUserConnectionContext
	if os.Getuid() == 0 {
		connect = dbus.NewSystemConnectionContext
	}
	conn, err := connect(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	done := make(chan string, 1)
	properties := []dbus.Property{
		dbus.PropDescription("timba's bots"),
		dbus.PropPids(uint32(os.Getpid())),
		{Name: "Delegate", Value: godbus.MakeVariant(true)},
		{Name: "CollectMode", Value: godbus.MakeVariant("inactive-or-failed")},
	}
	name := fmt.Sprintf("timba-%d-%s.scope", os.Getpid(), startOf(os.Getpid()))
	if _, err := conn.StartTransientUnitContext(ctx, name, "fail", properties, done); err != nil {
		return "", err
	}
	select {
	case result := <-done:
		if result != "done" {
			return "", fmt.Errorf("%s: %s", name, result)
		}
	case <-ctx.Done():
		return "", fmt.Errorf("%s: %w", name, ctx.Err())
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	_, unified := parseGroups(string(own), string(mounts))
	if !strings.HasSuffix(unified, name) {
		return "", fmt.Errorf("%s: this process is still in %s", name, unified)
	}
	return unified, nil
}

// groupV2 is a folder with the limits and two leaves: one for the program, which
// can be frozen, and one for init, which must not be.
type groupV2 struct {
	dir  string
	bot  *os.File // the leaf itself
	out  *os.File // the other leaf's list of processes
	most *os.File // the limit of processes of the program's leaf
	room string   // what it is to be
	cold *os.File // where the freezer is told
}

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
		{"bot/pids.max", strconv.Itoa(l.Processes + initThreads)},
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
func (c *groupV2) thaw() *os.File    { return nil } // who is frozen dies when killed
func (c *groupV2) kill()             { writeFile(c.file("cgroup.kill"), "1") }
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

func (c *groupV2) usage() Usage {
	return Usage{
		Memory:    number(c.file("memory.peak")),
		CPU:       time.Duration(event(c.file("cpu.stat"), "usage_usec")) * time.Microsecond,
		Processes: int(number(c.file("bot/pids.peak"))),
	}
}

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
