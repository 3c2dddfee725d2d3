package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

var only = flag.String("attacks", "", "make only these attacks and calls, `names` with commas")

// TestMain also runs the workers, which the test starts from its own binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		work(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// needThrough is the minimum number of attacks and calls that must succeed without a sandbox. With fewer the
// test would prove little.
const needThrough = 80

// result is the result of an attack or a call at one level.
type result struct {
	Name    string
	Level   string // "none" means without a sandbox
	Through bool
	Idle    string // why it cannot succeed without a sandbox
	Allow   string // why it may succeed at this level
	Text    string
	Fault   string // what the worker found to be wrong
}

// fault returns what is wrong with a result, or "".
func (r result) fault() string {
	switch {
	case r.Fault != "":
		return r.Fault
	case r.Level == "none" && !r.Through && r.Idle == "":
		return "it got nothing: " + r.Text
	case r.Level != "none" && r.Through && r.Allow == "":
		return "it got through: " + r.Text
	}
	return ""
}

// TestResultFaults checks that an attack must succeed without a sandbox and fail in one, unless there is a reason.
func TestResultFaults(t *testing.T) {
	for _, c := range []struct {
		result
		want string
	}{
		{result{Level: "none", Through: true}, ""},
		{result{Level: "none", Text: "nothing there"}, "it got nothing: nothing there"},
		{result{Level: "none", Idle: "the user is not root"}, ""},
		{result{Level: "FULL"}, ""},
		{result{Level: "FULL", Through: true, Text: "a file"}, "it got through: a file"},
		{result{Level: "WEAK", Through: true, Allow: "sizes are seen"}, ""},
		{result{Level: "FULL", Fault: "its end is not known"}, "its end is not known"},
	} {
		if got := c.fault(); got != c.want {
			t.Errorf("%+v: fault %q, want %q", c.result, got, c.want)
		}
	}
}

// TestCallFaults checks that a call must succeed without a sandbox and have one of the wanted results in one.
// If the machine does not support the call, both results may be the same.
func TestCallFaults(t *testing.T) {
	mount := call{want: killed, freeErrors: results{unix.EINVAL, unix.ENOENT}, root: true}
	for _, c := range []struct {
		free, within syscall.Errno
		root         bool
		wrong, weak  bool // whether the result without a sandbox is wrong, and the one within it
	}{
		{free: unix.EINVAL, within: killed[0], root: true},
		{free: 0, within: killed[0], root: true},
		{free: unix.EPERM, within: killed[0], root: true, wrong: true},
		{free: unix.EPERM, within: killed[0]},
		{free: unix.EINVAL, within: unix.EINVAL, root: true, weak: true},
		{free: unix.EINVAL, within: unix.EPERM, root: true, weak: true},
		{free: unix.EINVAL, within: 0, root: true, weak: true},
		{free: unix.ENOENT, within: unix.ENOENT, root: true, weak: true},
		{free: unix.ENOSYS, within: unix.ENOSYS, root: true},
		{free: unix.ENOSYS, within: 0, root: true, weak: true},
	} {
		wrong, _ := mount.freeFault(c.free, c.root)
		weak := mount.sandboxFault(c.within, c.free)
		if (wrong != "") != c.wrong || (weak != "") != c.weak {
			t.Errorf("%+v: faults %q and %q", c, wrong, weak)
		}
	}
}

// TestAttacks makes every attack without a sandbox, where it must succeed, and at the best level of this
// machine, where it must fail.
func TestAttacks(t *testing.T) {
	kit.Slow(t)
	attackAs(t, false, os.Getuid())
}

// attackAs makes the attacks as several users at once. If thorough is set, it makes them at all levels and
// checks after each that the sandbox works as before.
func attackAs(t *testing.T, thorough bool, users ...int) {
	base := buildPrograms(t)
	all := make([][]result, len(users))
	t.Run("workers", func(t *testing.T) {
		for i, uid := range users {
			t.Run(userName(uid), func(t *testing.T) {
				t.Parallel()
				all[i] = runWorker(t, base, uid, thorough)
			})
		}
	})
	for i, results := range all {
		through, sandboxed := 0, 0
		for _, r := range results {
			if r.Level != "none" {
				sandboxed++
			} else if r.Through {
				through++
			}
			t.Run(userName(users[i])+"/"+r.Level+"/"+r.Name, func(t *testing.T) {
				t.Log(r.Text, r.Idle, r.Allow)
				if fault := r.fault(); fault != "" {
					t.Errorf("%.300s", fault)
				}
			})
		}
		if sandboxed == 0 {
			t.Errorf("%s has no sandbox on this machine: timba doctor says why", userName(users[i]))
		}
		if *only == "" && through < needThrough {
			t.Errorf("only %d attacks of %s succeed without a sandbox, want %d", through, userName(users[i]), needThrough)
		}
	}
}

// buildPrograms builds the attacks and a worker in a directory that all users can read. The worker is built
// without the race detector, whose memory would count.
func buildPrograms(t *testing.T) string {
	base, err := os.MkdirTemp("/tmp", "timba-attack")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"build", "-o", base + "/attack", "."}, {"test", "-c", "-o", base + "/worker", "."}} {
		c := exec.Command("go", args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return base
}

func userName(uid int) string {
	if uid == 0 {
		return "root"
	}
	return "user"
}

// runWorker makes all attacks as a user, in a session with a terminal.
func runWorker(t *testing.T, base string, uid int, thorough bool) (got []result) {
	home := filepath.Join(base, userName(uid))
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(base+"/worker", "worker", base, home, *only, strconv.FormatBool(thorough))
	c.Dir = home
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if uid != os.Getuid() {
		if err := os.Chown(home, uid, uid); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	c.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home+"/tmp")
	master, slave := terminal(t)
	defer master.Close()
	c.ExtraFiles = []*os.File{slave}
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("the worker wrote %q: %v", lines.Text(), err)
		}
		got = append(got, r)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the worker failed: %v: %s", err, complaint.Bytes())
	}
	return got
}

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	master = kit.Get[*os.File](t)(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))
	kit.Must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n := kit.Get[int](t)(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))
	return master, kit.Get[*os.File](t)(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0))
}
