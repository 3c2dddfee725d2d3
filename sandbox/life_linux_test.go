package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/proc"
)

func init() {
	// A referee that starts a bot, may freeze it, and then does nothing any more.
	actions["referee"] = func(args []string) {
		level, err := ParseLevel(args[0])
		if err != nil {
			panic(err)
		}
		s := self(level, "orphan-and-wait")
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		s.Stdout, s.Stderr = w, os.Stdout
		p, err := Start(s)
		if err != nil {
			panic(err)
		}
		w.Close()
		var line [2]byte
		if _, err := io.ReadFull(r, line[:]); err != nil {
			panic(err)
		}
		if args[1] == "frozen" {
			if err := p.Freeze(true); err != nil {
				panic(err)
			}
		}
		fmt.Println("ready")
		hang()
	}
}

// TestRefereeKilled checks that when SIGKILL ends the referee, everything that it started ends, too, and that
// the next referee removes its cgroups.
func TestRefereeKilled(t *testing.T) {
	for _, level := range levelsHere(t) {
		for _, how := range []string{"running", "frozen"} {
			if how == "frozen" && level < LevelFull {
				continue
			}
			t.Run(level.String()+"/"+how, func(t *testing.T) {
				cmd := exec.Command(exe(), "do", "referee", level.String(), how)
				out := kit.Get[io.ReadCloser](t)(cmd.StdoutPipe())
				cmd.Stderr = os.Stderr
				kit.Must(t, cmd.Start())
				line := make([]byte, 6)
				if _, err := io.ReadFull(out, line); err != nil || string(line) != "ready\n" {
					t.Fatalf("the referee says %q: %v", line, err)
				}
				cmd.Process.Kill()
				// The bot's processes hold the other end of the pipe.
				if _, err := io.Copy(io.Discard, out); err != nil {
					t.Fatal(err)
				}
				cmd.Wait()
				if level == LevelFull {
					checkSwept(t)
				}
			})
		}
	}
}

func init() {
	// A program whose cleaner stops reading, and which then does nothing any more.
	actions["cleaned-up"] = func(args []string) {
		cleanerTime = time.Millisecond
		RemoveAtEnd(args[0] + "-first")
		first := cleaner.pid
		unix.Kill(first, unix.SIGSTOP)
		for i := range 2000 { // more than a pipe can hold
			RemoveAtEnd(fmt.Sprintf("%s-%060d", args[0], i))
			CancelRemoveAtEnd(fmt.Sprintf("%s-%060d", args[0], i))
		}
		RemoveAtEnd(args[0])
		if cleaner.pid == first {
			unix.Kill(first, unix.SIGCONT)
		}
		fmt.Println("ready")
		hang()
	}
}

// TestCleanerStops checks that a cleaner that does not read is replaced by one that gets all messages.
func TestCleanerStops(t *testing.T) {
	dir := mkdir(t, filepath.Join(t.TempDir(), "left"))
	cmd := exec.Command(exe(), "do", "cleaned-up", dir)
	out := kit.Get[io.ReadCloser](t)(cmd.StdoutPipe())
	kit.Must(t, cmd.Start())
	line := make([]byte, 6)
	if _, err := io.ReadFull(out, line); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	kit.Until(t, "the directory of a program that was killed is gone", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestFreezeFails checks that Freeze can be called again after it has failed.
func TestFreezeFails(t *testing.T) {
	state := kit.Get[*os.File](t)(os.Create(filepath.Join(t.TempDir(), "state")))
	defer state.Close()
	broken := kit.Get[*os.File](t)(os.Open(os.DevNull)) // cannot be written to
	defer broken.Close()
	p := &Process{level: LevelFull, freezer: freezer{initLeft: true}}
	for _, c := range []struct {
		on   bool
		want string
	}{{true, "1"}, {false, "0"}} {
		p.group = &groupV2{freezer: broken}
		if err := p.Freeze(c.on); err == nil {
			t.Error("no error")
		}
		p.group = &groupV2{freezer: state}
		kit.Must(t, p.Freeze(c.on))
		if got := kit.Get[[]byte](t)(os.ReadFile(state.Name())); string(got) != c.want {
			t.Errorf("the file has %q, want %q", got, c.want)
		}
	}
}

// TestWatch checks that only limits are monitored that the kernel does not enforce, and that nothing waits
// for a check.
func TestWatch(t *testing.T) {
	limited := Limit{CPU: time.Second}
	for _, c := range []struct {
		p    *Process
		want bool
	}{
		{&Process{}, false},
		{&Process{monitor: monitor{limit: limited}}, false}, // init does
		{&Process{group: &groupV2{}}, false},
		{&Process{group: &groupV2{}, monitor: monitor{limit: limited}}, true},
		{&Process{group: &groupV1{}}, true},
	} {
		if got := c.p.needsMonitor(); got != c.want {
			t.Errorf("%+v is watched: %t", c.p, got)
		}
	}

	dir := t.TempDir()
	events := filepath.Join(dir, "memory.oom_control")
	kit.Must(t, unix.Mkfifo(events, 0o600))
	p := &Process{group: &groupV1{dirs: map[string]string{"memory": dir}}, monitor: monitor{stop: make(chan struct{})}}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.runMonitor()
	}()
	held := kit.Get[*os.File](t)(os.OpenFile(events, os.O_WRONLY, 0)) // a check reads it from now on
	close(p.monitor.stop)
	held.Close()
	<-watched
}

// TestInitMemory checks that init does not grow while it polls the limits, and reports the end after garbage
// collection.
func TestInitMemory(t *testing.T) {
	if !slices.Contains(levelsHere(t), LevelReduced) {
		t.Logf("this machine has level %s, or the race detector is on", Probe().Level)
		return
	}
	limit := Limit{Memory: 1 << 30, Processes: 200}
	in, end, err := os.Pipe()
	kit.Must(t, err)
	defer in.Close()
	defer end.Close()
	script := "for i in $(seq 100); do sleep 1d & done; echo started; read line; exit 3"
	p, out := launch(t, Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Stdin: in, Level: LevelReduced, Limit: limit})
	kit.Must(t, firstByte(out))
	init := fmt.Sprintf("/proc/%d", p.Pid())
	kit.Until(t, "init has looked often", func() bool { return proc.CPU(init) > 600*time.Millisecond })
	status := kit.Get[[]byte](t)(os.ReadFile(init + "/status"))
	if kilobytes := proc.Kilobytes(status, "\nRssAnon:"); kilobytes == 0 || kilobytes > 48<<10 {
		t.Errorf("it has %d kB", kilobytes)
	}
	kit.Must(t, end.Close())
	if s := p.Wait(); s.Reason != Exited || s.Code != 3 {
		t.Errorf("the program that ends with 3 %s: %v", s, s.Err)
	}
}

func checkSwept(t *testing.T) {
	t.Helper()
	again, err := openGroupMaker() // as another referee does first
	kit.Must(t, err)
	for _, base := range again.baseDirs() {
		left := kit.Get[[]string](t)(filepath.Glob(base + "/" + groupPrefix + "*"))
		for _, dir := range left {
			if isAbandoned(filepath.Base(dir)) {
				t.Errorf("%s is left", dir)
			}
		}
	}
}

// TestParseGroups checks which cgroups of this process are found, for all common hierarchies.
func TestParseGroups(t *testing.T) {
	for _, c := range []struct {
		name, own, mounts string
		v1                map[string]string
		unified           string
	}{
		{"version 2 of a session", "0::/user.slice/user-1000.slice/session-2.scope\n",
			"29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
			map[string]string{}, "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope"},
		{"version 2 in a container", "0::/\n", "29 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			map[string]string{}, "/sys/fs/cgroup"},
		{"version 1", "4:memory:/a/b\n3:cpu,cpuacct:/a\n2:pids:/\n1:name=systemd:/init\n",
			"30 24 0:27 / /cg/memory rw - cgroup cgroup rw,memory\n31 24 0:28 / /cg/cpu rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n32 24 0:29 / /cg/pids rw - cgroup cgroup rw,pids\n",
			map[string]string{"memory": "/cg/memory/a/b", "cpu": "/cg/cpu/a", "cpuacct": "/cg/cpu/a", "pids": "/cg/pids"}, ""},
		{"version 1 in a container", "4:memory:/docker/x/y\n", "30 24 0:27 /docker/x /cg/memory rw - cgroup cgroup rw,memory\n",
			map[string]string{"memory": "/cg/memory/y"}, ""},
		{"none", "", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\nnonsense\n - \n", map[string]string{}, ""},
	} {
		v1, unified := parseGroups(c.own, c.mounts)
		if fmt.Sprint(v1) != fmt.Sprint(c.v1) || unified != c.unified {
			t.Errorf("%s: %v and %q, want %v and %q", c.name, v1, unified, c.v1, c.unified)
		}
	}
}

func TestAbandoned(t *testing.T) {
	self := fmt.Sprintf("%s%d-%s-1", groupPrefix, os.Getpid(), startTicks(os.Getpid()))
	for name, want := range map[string]bool{
		self: false, // this process is running
		fmt.Sprintf("%s%d-1-1", groupPrefix, os.Getpid()): true, // another process had this PID
		groupPrefix + "999999999-5-1":                     true,
		groupPrefix + "x-5-1":                             false, // not a group of timba
		groupPrefix + "1":                                 false,
		"system.slice":                                    false,
	} {
		if isAbandoned(name) != want {
			t.Errorf("%s: abandoned is %v", name, !want)
		}
	}
}

// BenchmarkTurn measures the time of a line to the program and back.
func BenchmarkTurn(b *testing.B) {
	turn := func(b *testing.B, in, out *os.File) {
		var buf [16]byte
		for b.Loop() {
			if _, err := in.WriteString("turn\n"); err != nil {
				b.Fatal(err)
			}
			if _, err := out.Read(buf[:]); err != nil {
				b.Fatal(err)
			}
		}
		in.Close()
	}
	pipes := func() (theirIn, in, out, theirOut *os.File) {
		r, w, err := os.Pipe()
		r2, w2, err2 := os.Pipe()
		if err != nil || err2 != nil {
			b.Fatal(err, err2)
		}
		return r, w, r2, w2
	}
	b.Run("bare", func(b *testing.B) {
		r, in, out, w := pipes()
		cmd := exec.Command("/bin/cat")
		cmd.Stdin, cmd.Stdout = r, w
		kit.Must(b, cmd.Start())
		r.Close()
		turn(b, in, out)
		cmd.Wait()
	})
	for level := Probe().Level; level > LevelWeak; level-- {
		b.Run(level.String(), func(b *testing.B) {
			r, in, out, w := pipes()
			p, err := Start(Spec{Path: "/bin/cat", Args: []string{"cat"}, Stdin: r, Stdout: w, Level: level})
			kit.Must(b, err)
			r.Close()
			turn(b, in, out)
			p.Wait()
		})
	}
	if Probe().Level == LevelFull {
		b.Run("frozen", func(b *testing.B) {
			r, in, out, w := pipes()
			p := kit.Get[*Process](b)(Start(Spec{Path: "/bin/cat", Args: []string{"cat"}, Stdin: r, Stdout: w, Level: LevelFull}))
			r.Close()
			var buf [16]byte
			for b.Loop() {
				p.Freeze(false)
				in.WriteString("turn\n")
				out.Read(buf[:])
				p.Freeze(true)
			}
			p.Kill()
			p.Wait()
		})
	}
}
