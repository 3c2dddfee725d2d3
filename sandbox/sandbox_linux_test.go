package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox/internal/plan"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// levelsHere returns the levels that this machine supports, the best first.
func levelsHere(t *testing.T) (levels []Level) {
	t.Helper()
	kit.Slow(t)
	for l := Probe().Level; l > LevelNone; l-- {
		if l == LevelWeak && os.Getuid() == 0 {
			continue // its own user cannot enter root's directories, where the test binary may be
		}
		if l < LevelFull && kit.HasRaceDetector() { // the race detector needs more data than any limit allows
			continue
		}
		levels = append(levels, l)
	}
	if len(levels) == 0 {
		for _, l := range Probe().Layers {
			t.Logf("%s: %v", l.Name, l.Error)
		}
		t.Fatal("this machine holds nothing: the tests of the sandbox need Linux with Landlock or namespaces")
	}
	return levels
}

// self returns the Spec of an action of the test binary.
func self(level Level, args ...string) Spec {
	return Spec{Path: exe(), Args: append([]string{exe(), "do"}, args...), VisiblePaths: []string{exe()}, Level: level, Limit: smallLimit}
}

// command returns the Spec of a command, made in the same way as for bots.
func command(t testing.TB, level Level, dir string, words ...string) Spec {
	t.Helper()
	found, err := interpreter.Find(words[0], dir)
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Path: found.Path, Args: words, VisiblePaths: found.VisiblePaths, Env: found.Env, Dir: dir, Level: level}
}

var smallLimit = Limit{Memory: 128 << 20, Processes: 24, Disk: 16 << 20, Inodes: 256, Output: 8 << 20, OpenFiles: 64}

// runToEnd runs a program to its end and returns its status and output.
func runToEnd(t *testing.T, s Spec) (Status, string) {
	t.Helper()
	kit.Slow(t)
	p, out := launch(t, s)
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	return p.Wait(), string(text)
}

func launch(t *testing.T, s Spec) (*Process, *os.File) {
	t.Helper()
	kit.Slow(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s.Stdout, s.Stderr = w, w
	p, err := Start(s)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	return p, r
}

// stillRuns checks that a sandbox of a level can run a program.
func stillRuns(t *testing.T, level Level) {
	t.Helper()
	if s, out := runToEnd(t, self(level, "hello")); s.Reason != Exited || s.Code != 0 || out != "hello\n" {
		t.Errorf("after it at %s, a program that says hello %s and says %q: %v", level, s, out, s.Err)
	}
}

func TestLimits(t *testing.T) {
	limit := func(change func(*Limit)) Limit {
		l := smallLimit
		change(&l)
		return l
	}
	for _, c := range []struct {
		name, action string
		args         []string
		limit        Limit
		lowest       Level       // lowest level at which this holds
		want         []EndReason // any of these
		out          string      // a part of its output
	}{
		{"exit", "exit", nil, smallLimit, LevelWeak, []EndReason{Exited}, ""},
		{"signal", "fault", nil, smallLimit, LevelWeak, []EndReason{Signalled}, ""},
		// Without a cgroup a process is refused memory, and Go ends by itself.
		{"memory of one process", "eat", nil, smallLimit, LevelWeak, []EndReason{MemoryLimit, Exited}, ""},
		{"memory of one process, told", "eat", nil, smallLimit, LevelFull, []EndReason{MemoryLimit}, ""},
		{"memory of a child", "eat-child", nil, smallLimit, LevelFull, []EndReason{MemoryLimit}, ""},
		{"memory of many", "eat-many", nil, limit(func(l *Limit) { l.Processes = 400 }), LevelWeak, []EndReason{MemoryLimit}, ""},
		{"memory of files", "fill", []string{"$TMPDIR"}, limit(func(l *Limit) { l.Disk = 1 << 30 }), LevelFull, []EndReason{MemoryLimit}, ""},
		{"processes", "fork", nil, limit(func(l *Limit) { l.Memory = 512 << 20 }), LevelReduced, []EndReason{Exited, ProcessLimit}, "refused after"},
		{"processes, told", "fork", nil, limit(func(l *Limit) { l.Memory = 512 << 20 }), LevelFull, []EndReason{ProcessLimit}, "refused after"},
		{"cpu", "spin", nil, limit(func(l *Limit) { l.CPU = 300 * time.Millisecond }), LevelWeak, []EndReason{CPULimit}, ""},
		{"cpu of two", "spin-two", nil, limit(func(l *Limit) { l.CPU = 300 * time.Millisecond }), LevelWeak, []EndReason{CPULimit}, ""},
		{"disk", "fill", []string{"$TMPDIR"}, smallLimit, LevelReduced, []EndReason{Exited}, "no space left on device"},
		{"disk of shared memory", "fill", []string{"/dev/shm"}, smallLimit, LevelReduced, []EndReason{Exited}, "no space left on device"},
		{"inodes", "inodes", []string{"$TMPDIR"}, smallLimit, LevelReduced, []EndReason{Exited}, "no space left on device"},
		{"output", "fill", []string{"$TMPDIR"}, limit(func(l *Limit) { l.Output = 1 << 20 }), LevelReduced, []EndReason{Exited, Signalled}, ""},
		{"open files", "open", nil, smallLimit, LevelWeak, []EndReason{Exited}, "too many open files 6"},
		{"nothing to write to", "fill", []string{"$TMPDIR"}, smallLimit, LevelWeak, []EndReason{Exited}, " MiB"},
		{"a call of an attack", "mount", nil, smallLimit, LevelWeak, []EndReason{Forbidden}, ""},
		{"processes, looked at", "fork", nil, limit(func(l *Limit) { l.Memory, l.Processes = 1<<30, 24 }), LevelWeak, []EndReason{Exited, ProcessLimit}, ""},
		{"many small mappings", "map-many", nil, limit(func(l *Limit) { l.Processes = 400 }), LevelWeak, []EndReason{MemoryLimit, Exited}, "mapping"},
		{"signals to init", "signals", nil, smallLimit, LevelReduced, []EndReason{Exited}, "still here"},
	} {
		for _, level := range levelsHere(t) {
			if level < c.lowest {
				continue
			}
			t.Run(c.name+"/"+level.String(), func(t *testing.T) {
				spec := self(level, append([]string{c.action}, c.args...)...)
				spec.Limit = c.limit
				s, out := runToEnd(t, spec)
				if !slices.Contains(c.want, s.Reason) {
					t.Errorf("it %s (%v), want one of %v; it said %.300q", s, s.Err, c.want, out)
				}
				if !strings.Contains(out, c.out) {
					t.Errorf("it said %.300q, want %q in it", out, c.out)
				}
				if c.action == "exit" && s.Code != 7 {
					t.Errorf("exit status %d, want 7", s.Code)
				}
				stillRuns(t, level)
			})
		}
	}
}

// TestLimitNumbers checks that a program gets about as much as its limits say.
func TestLimitNumbers(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level < LevelReduced {
			continue
		}
		t.Run(level.String(), func(t *testing.T) {
			number := func(out string) int {
				f := strings.Fields(out)
				n, _ := strconv.Atoi(f[len(f)-1])
				return n
			}
			if _, out := runToEnd(t, self(level, "inodes", "$TMPDIR")); number(out) < 200 || number(out) > 256 {
				t.Errorf("files of 256 inodes: %d", number(out))
			}
			if _, out := runToEnd(t, self(level, "fill", "$TMPDIR")); !strings.Contains(out, "15 MiB") && !strings.Contains(out, "16 MiB") {
				t.Errorf("16 MiB of disk hold %q", out)
			}
			spec := self(level, "eat-some")
			p, _ := launch(t, spec)
			p.Kill()
			if s := p.Wait(); s.Reason != Killed {
				t.Errorf("it %s, want killed", s)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	spec := self(Probe().Level, "spin")
	spec.Limit.CPU = 300 * time.Millisecond
	s, _ := runToEnd(t, spec)
	if s.CPU < 250*time.Millisecond || s.CPU > 5*time.Second {
		t.Errorf("CPU time of %s after a limit of 300 ms", s.CPU)
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"), []byte("neither a program nor a script"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, level := range levelsHere(t) {
		p, err := Start(command(t, level, dir, "./bad"))
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Wait(); s.Reason != NotStarted || s.Step != "exec" || !errors.Is(s.Err, unix.ENOEXEC) {
			t.Errorf("%s: a file that is no program: %s", level, s)
		}
		stillRuns(t, level)
	}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "is not the absolute path of a program"},
		{Spec{Path: "ls", Args: []string{"ls"}}, "is not the absolute path of a program"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Dir: "/"}, "cannot be a program's directory"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Dir: "/proc/1"}, "cannot be a program's directory"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Dir: filepath.Join(dir, "bad")}, "is not a directory"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, VisiblePaths: []string{dir + "/none"}}, "no such file or directory"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Limit: Limit{Memory: 1}}, "memory of 1 bytes is too small: try 16m or more"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Limit: Limit{Processes: -1}}, "processes of -1 is too small"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Build: true}, "a build needs a directory"},
		{Spec{Path: "/bin/ls", Args: []string{"ls"}, Level: LevelFull + 1}, "but Level(4) is required"},
	} {
		if c.spec.Level == LevelNone {
			c.spec.Level = Probe().Level
		}
		p, err := Start(c.spec)
		if err == nil {
			p.Kill()
			p.Wait()
			t.Errorf("%+v is started", c.spec)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
}

// TestKill checks that the processes of a sandbox end with it, whether they are frozen or not.
func TestKill(t *testing.T) {
	for _, level := range levelsHere(t) {
		for _, frozen := range []bool{false, true} {
			if frozen && level < LevelFull {
				continue
			}
			p, out := launch(t, self(level, "orphan-and-wait"))
			line := make([]byte, 2)
			if _, err := io.ReadFull(out, line); err != nil {
				t.Fatal(err)
			}
			if frozen {
				if err := p.Freeze(true); err != nil {
					t.Fatal(err)
				}
			}
			p.Kill()
			if s := p.Wait(); s.Reason != Killed {
				t.Errorf("%s: it %s", level, s)
			}
			// A process that still had the pipe would keep it open.
			if _, err := io.Copy(io.Discard, out); err != nil {
				t.Error(err)
			}
			stillRuns(t, level)
		}
	}
}

// TestBuffers checks that a program may open sockets and pipes, and may not enlarge their buffers unless a
// cgroup counts them.
func TestBuffers(t *testing.T) {
	for _, level := range levelsHere(t) {
		want := "0 raised"
		if level == LevelFull {
			want = "raised"
		}
		if s, out := runToEnd(t, self(level, "open-pairs")); s.Reason != Exited || s.Code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: it %s and said %.300q, want %q in it", level, s, out, want)
		}
	}
}

// TestKillTooLate checks that a program that has ended by itself does not count as killed.
func TestKillTooLate(t *testing.T) {
	for _, level := range levelsHere(t) {
		for action, want := range map[string]EndReason{"mount": Forbidden, "fault": Signalled, "exit": Exited} {
			p, _ := launch(t, self(level, action))
			fds := []unix.PollFd{{Fd: int32(p.PidFD()), Events: unix.POLLIN}}
			if n, err := poll(fds); n != 1 || err != nil {
				t.Fatalf("%s at %s has not ended: %v", action, level, err)
			}
			p.Kill()
			if s := p.Wait(); s.Reason != want {
				t.Errorf("%s at %s: it %s, want %s", action, level, s, want)
			}
		}
	}
}

func poll(fds []unix.PollFd) (n int, err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		n, err = unix.Poll(fds, -1)
	}
	return n, err
}

func init() {
	actions["orphan-and-wait"] = func([]string) {
		cmd := again("sleep-apart")
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
		cmd.Start()
		hang()
	}
	actions["sleep-apart"] = func([]string) { fmt.Println("1"); hang() }
}

// TestOrphans checks that the processes that a program leaves behind end with it.
func TestOrphans(t *testing.T) {
	for _, level := range levelsHere(t) {
		if s, out := runToEnd(t, self(level, "orphan")); s.Reason != Exited || !strings.Contains(out, "left\n") {
			t.Errorf("%s: it %s and said %q", level, s, out)
		}
	}
}

func TestPidFD(t *testing.T) {
	for _, level := range levelsHere(t) {
		p, _ := launch(t, self(level, "sleep"))
		fds := []unix.PollFd{{Fd: int32(p.PidFD()), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 0); n != 0 || err != nil {
			t.Errorf("%s: it has ended: %v", level, err)
		}
		p.Kill()
		if n, err := poll(fds); n != 1 || err != nil {
			t.Errorf("%s: it has not ended: %v", level, err)
		}
	}
}

// TestPIDStays checks that no other process has the PID of the first one while Pid returns it.
func TestPIDStays(t *testing.T) {
	for _, level := range levelsHere(t) {
		p, _ := launch(t, self(level, "hello"))
		line := p.lifeline
		fds := kit.Get[[2]int](t)(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))
		p.lifeline = os.NewFile(uintptr(fds[0]), "lifeline") // no report comes, so that Wait stays between the end and the report
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			p.Wait()
		}()
		<-p.monitor.stop
		if pid := p.Pid(); pid == 0 || unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil) != nil {
			t.Errorf("at %s the number is %d, and no child has it", level, pid)
		}
		unix.Close(fds[1])
		<-waited
		line.Close()
		if pid := p.Pid(); pid != 0 {
			t.Errorf("at %s the number is %d after the end", level, pid)
		}
	}
}

// TestClosedOutput checks that nobody keeps a pipe open that the program has closed.
func TestClosedOutput(t *testing.T) {
	for _, level := range levelsHere(t) {
		spec := self(level, "close")
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		spec.Stdout = w
		p, err := Start(spec)
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
		p.Kill()
		p.Wait()
	}
}

func TestFreeze(t *testing.T) {
	if Probe().Level < LevelFull {
		p, _ := launch(t, self(Probe().Level, "sleep"))
		if err := p.Freeze(true); err == nil {
			t.Error("a sandbox without a cgroup is frozen")
		}
		return
	}
	p, out := launch(t, self(LevelFull, "count"))
	fd := int(out.Fd()) // Fd makes the pipe blocking
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	read := func() bool {
		var buf [1 << 16]byte
		n, _ := unix.Read(fd, buf[:])
		return n > 0
	}
	for range 3 {
		kit.Until(t, "it runs", read)
		if err := p.Freeze(true); err != nil {
			t.Fatal(err)
		}
		kit.Until(t, "it is frozen", func() bool { return frozen(p.group) }) // soon, not at once
		for read() {
		}
		if err := p.Freeze(false); err != nil {
			t.Fatal(err)
		}
	}
}

// frozen reports whether the kernel says that all processes of a group are frozen.
func frozen(g group) bool {
	if g, ok := g.(*groupV2); ok {
		return readCounter(g.file("bot/cgroup.events"), "frozen") == 1
	}
	state, err := os.ReadFile(g.(*groupV1).file("freezer", "freezer.state"))
	return err == nil && string(state) == "FROZEN\n"
}

func TestWhatIsSeen(t *testing.T) {
	base := t.TempDir()
	mine, shown, hidden := filepath.Join(base, "mine"), filepath.Join(base, "shown"), filepath.Join(base, "hidden")
	for _, dir := range []string{mine, shown, hidden} {
		if err := os.WriteFile(mkdir(t, dir)+"/file", []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []os.FileMode{0o755, 0o700} { // a directory that only its owner may read is copied
		if err := os.Chmod(mine, mode); err != nil {
			t.Fatal(err)
		}
		for _, level := range levelsHere(t) {
			if level == LevelWeak {
				continue // paths are visible, but not their contents
			}
			spec := self(level, "see", "file", mine+"/file", shown+"/file", hidden, "/etc/shadow", "/root", "/home", "/var", "/usr/bin", "/proc/1", "/proc/self", "/sys", "/dev/tty")
			spec.Dir, spec.VisiblePaths = mine, append(spec.VisiblePaths, shown)
			s, out := runToEnd(t, spec)
			want := "file\n" + mine + "/file\n" + shown + "/file\n/usr/bin\n/proc/self\n"
			if s.Code != 0 || out != want {
				t.Errorf("%s: it %s and sees %q, want %q", level, s, out, want)
			}
		}
	}
}

func mkdir(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET", "a token of the user's")
	spec := self(Probe().Level, "env")
	spec.Env = []string{"LANG=C", "BOT=1"}
	home := "/tmp"
	if plan.IsWithin(exe(), "/tmp") { // where go test builds it
		home = "/scratch"
	}
	temporary := "TMPDIR=" + home + "\n"
	if Probe().Level == LevelWeak { // nothing can be written
		home, temporary = "/", ""
	}
	_, out := runToEnd(t, spec)
	if temporary == "" && strings.Contains(out, "TMPDIR") {
		t.Errorf("its directory for temporary files is not there: %s", out)
	}
	if strings.Contains(out, "SECRET") {
		t.Errorf("it has the environment of its user: %s", out)
	}
	for _, want := range []string{"LANG=C\n", "BOT=1\n", "HOME=" + home + "\n", temporary, "NODE_OPTIONS=--max-old-space-size=76\n", "-Xmx64m"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in its environment: %s", want, out)
		}
	}
}

// TestDescriptors checks that a program has three descriptors, whatever descriptors this process has.
func TestDescriptors(t *testing.T) {
	leak, err := unix.Dup(0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	for _, level := range levelsHere(t) {
		if _, out := runToEnd(t, self(level, "fds")); strings.Count(out, "\n") != 3 {
			t.Errorf("%s: it has %s", level, out)
		}
	}
}

func TestBuild(t *testing.T) {
	for _, level := range levelsHere(t) {
		if level == LevelWeak {
			continue
		}
		dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
		for path, text := range map[string]string{filepath.Join(dir, "source"): "source", secret: "secret"} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(secret, filepath.Join(dir, "trap")); err != nil {
			t.Fatal(err)
		}
		spec := self(level, "build", secret)
		spec.Dir, spec.Build = dir, true
		if s, out := runToEnd(t, spec); s.Reason != Exited || s.Code != 0 {
			t.Fatalf("%s: it %s (%v) and said %q", level, s, s.Err, out)
		}
		for path, want := range map[string]string{
			filepath.Join(dir, "sub/binary"): "built from source",
			filepath.Join(dir, "source"):     "changed",
			filepath.Join(dir, "trap"):       "overwritten",
			secret:                           "secret",
		} {
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%s: %s has %q, want %q: %v", level, path, got, want, err)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "sub/binary")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: the binary cannot be run: %v", level, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "link")); err == nil {
			t.Errorf("%s: a link came out of the sandbox", level)
		}
	}
}

// TestInterpreters runs programs in the usual languages that this machine has.
func TestInterpreters(t *testing.T) {
	ran := 0
	for _, c := range [][]string{
		{"python3", "-c", "print(6*7)"},
		{"node", "-e", "console.log(6*7)"},
		{"perl", "-e", `print 6*7, "\n"`},
		{"ruby", "-e", "puts 6*7"},
		{"sh", "-c", "echo $((6*7))"},
	} {
		if _, err := exec.LookPath(c[0]); err != nil {
			continue
		}
		ran++
		for _, level := range levelsHere(t) {
			s, out := runToEnd(t, command(t, level, "", c...))
			if s.Reason != Exited || s.Code != 0 || out != "42\n" {
				t.Errorf("%s at %s %s (%v) and says %q", c[0], level, s, s.Err, out)
			}
		}
	}
	if ran == 0 {
		t.Error("not even sh was found")
	}
}

// TestScript checks that the interpreter in the first line of a script is visible.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bot"), []byte("#!/usr/bin/env python3\nprint(6*7)\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if s, out := runToEnd(t, command(t, Probe().Level, dir, "./bot")); out != "42\n" {
		t.Errorf("it %s (%v) and says %q", s, s.Err, out)
	}
}

// TestMany runs several sandboxes at the same time, each with its own limits.
func TestMany(t *testing.T) {
	type result struct {
		s   Status
		out []byte
	}
	results := make(chan result)
	for range 16 {
		go func() {
			r, w, _ := os.Pipe()
			spec := self(Probe().Level, "echo")
			in, feed, _ := os.Pipe()
			spec.Stdin, spec.Stdout = in, w
			p, err := Start(spec)
			w.Close()
			in.Close()
			if err != nil {
				results <- result{Status{Reason: NotStarted, Err: err}, nil}
				return
			}
			feed.WriteString("line\n")
			feed.Close()
			out, _ := io.ReadAll(r)
			r.Close()
			results <- result{p.Wait(), out}
		}()
	}
	for range 16 {
		if r := <-results; r.s.Reason != Exited || !bytes.Equal(r.out, []byte("line\n")) {
			t.Errorf("one %s (%v) and said %q", r.s, r.s.Err, r.out)
		}
	}
}

// exe returns the absolute path of the test binary.
func exe() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}
