package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

var (
	tableFile = flag.String("table", "", "write the table of attacks to this `file`, as Markdown")
	only      = flag.String("attacks", "", "make only these attacks, `names` with commas")
)

// TestMain is also the entry of the processes that the test starts from its own
// binary: a worker, and the helpers of attacks that ask what this machine has.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if os.Args[1] == "worker" {
			work(os.Args[2:])
			return
		}
		if _, ok := helpers[os.Args[1]]; ok || slices.ContainsFunc(attacks(), func(a attack) bool { return a.Name == os.Args[1] }) {
			main()
			return
		}
	}
	os.Exit(m.Run())
}

// needThrough is how many attacks must get through where there is no sandbox, for
// the test to mean something.
const needThrough = 40

// result is a cell of the table.
type result struct {
	Attack  string
	User    string
	Level   string // "none" for the run without a sandbox
	Through bool
	Idle    string // why it cannot get through without a sandbox
	Allow   string // why it may get through at this level
	Text    string
	Errors  []string // what the harness found wrong
}

// TestAttacks makes every attack without a sandbox, where it must get through, and at the best level of
// this machine, where it must not.
func TestAttacks(t *testing.T) {
	kit.Slow(t)
	attackAs(t, false, os.Getuid())
}

// attackAs makes the attacks as several users at once. Where it is thorough, it makes them at all
// levels, and after each of them the sandbox must work as before.
func attackAs(t *testing.T, thorough bool, users ...int) {
	base := buildPrograms(t)
	var all []result
	var mu sync.Mutex
	t.Run("users", func(t *testing.T) {
		for _, uid := range users {
			t.Run(userName(uid), func(t *testing.T) {
				t.Parallel()
				got := runWorker(t, base, uid, thorough)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, got...)
			})
		}
	})
	if *tableFile != "" {
		if err := os.WriteFile(*tableFile, []byte(markdown(all)), 0o666); err != nil {
			t.Error(err)
		}
	}
	// The failures come last and alone: logs are cut from their beginning.
	check(t, all, len(users))
}

// check fails the test for what attacks got, and where the run without a sandbox
// shows that an attack is none. users is how many users made them.
func check(t *testing.T, all []result, users int) {
	through := map[string]int{}
	for _, r := range all {
		if r.Level == "none" && r.Through {
			through[r.User]++
		}
		if fault := r.fault(); fault != "" {
			t.Errorf("FAILED %s of %s, %s: %.300s", r.Attack, r.User, r.Level, fault)
		}
	}
	if len(through) < users {
		t.Errorf("FAILED attacks of %d of %d users: none gets through without a sandbox", users-len(through), users)
	}
	for user, n := range through {
		if *only == "" && n < needThrough {
			t.Errorf("FAILED attacks of %s: only %d get through without a sandbox: want %d", user, n, needThrough)
		}
	}
}

// fault says what is wrong with a result, if anything is.
func (r result) fault() string {
	faults := r.Errors
	switch {
	case r.Level == "none" && !r.Through && r.Idle == "":
		faults = append(faults, "it got nothing: "+r.Text)
	case r.Level != "none" && r.Through && r.Allow == "":
		faults = append(faults, "it got through: "+r.Text)
	}
	return strings.Join(faults, "; ")
}

// buildPrograms puts the attacks and a worker into a directory that all can read.
// The worker has no race detector, whose memory would count.
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
	if os.Getuid() == 0 { // mounts that others make meanwhile are not the attacks'
		c.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	if uid != os.Getuid() {
		if err := os.Chown(home, uid, uid); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	c.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home+"/tmp", fmt.Sprintf("%s=marker-%d-%d", marker, os.Getpid(), uid))
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
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Errorf("the worker wrote %q: %v", lines.Text(), err)
			continue
		}
		got = append(got, r)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("the worker failed: %v: %s", err, complaint.Bytes())
	}
	if left := processesOf(home); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	return got
}

// terminal makes a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// markdown writes the table: an attack a line, a column for each user and level.
func markdown(all []result) string {
	type column struct{ user, level string }
	var columns []column
	cells := map[string]map[column]result{}
	for _, r := range all {
		c := column{r.User, r.Level}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if cells[r.Attack] == nil {
			cells[r.Attack] = map[column]result{}
		}
		cells[r.Attack][c] = r
	}
	order := []string{"none", "FULL", "REDUCED", "WEAK"}
	slices.SortFunc(columns, func(a, b column) int {
		return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(slices.Index(order, a.level), slices.Index(order, b.level)))
	})
	var b strings.Builder
	b.WriteString("| attack | what it tries |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s, %s |", c.user, c.level)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, a := range attacks() {
		if cells[a.Name] == nil {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", a.Name, a.Help)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", cells[a.Name][c].cell())
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for _, c := range columns {
		through, idle := 0, 0
		for _, r := range all {
			if r.User == c.user && r.Level == c.level {
				if r.Through {
					through++
				} else if r.Idle != "" {
					idle++
				}
			}
		}
		fmt.Fprintf(&b, "%s, %s: %d of %d got through", c.user, c.level, through, len(cells))
		if idle > 0 {
			fmt.Fprintf(&b, ", %d cannot", idle)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (r result) cell() string {
	text := strings.ReplaceAll(r.Text, "|", "/")
	switch {
	case r.Attack == "":
		return ""
	case r.Through && r.Level == "none":
		return "gets through"
	case r.Through && r.Allow != "":
		return "given up: " + r.Allow
	case r.Through:
		return "**THROUGH** " + text
	case r.Level == "none" && r.Idle != "":
		return "cannot: " + r.Idle
	case len(r.Errors) > 0:
		return "**" + strings.Join(r.Errors, "; ") + "**"
	}
	return text
}
