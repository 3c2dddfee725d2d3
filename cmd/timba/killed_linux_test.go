package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox"
)

// hardBots are shell bots whose processes are hard to end. MARK stands for digits in the arguments
// of all processes that they start.
var hardBots = map[string]string{
	"deaf": `trap '' TERM INT HUP QUIT PIPE`,
	"parent": `for i in 1 2 3; do sleep 4MARK & done
(trap '' TERM HUP; sleep 5MARK) &`,
	"runaway": `command -v setsid >/dev/null && setsid sh -c 'sleep 6MARK; :' >/dev/null 2>&1 &`,
	"spinner": `spin=yes`,
	"litter": `mkdir "$TMPDIR/deep" && echo x > "$TMPDIR/deep/file"
sleep 7MARK &`,
}

const hardLoop = `
while read -r verb ply left move rest; do
	case $verb in
	timba) echo "ready hard 1" ;;
	turn)
		if [ -n "$spin" ]; then while :; do :; done; fi
		echo "move $move" ;;
	esac
done
sleep 8MARK
`

// writeBot makes a directory with a bot in the shell.
func writeBot(t *testing.T, dir, script, manifest string) string {
	t.Helper()
	return kit.Files(t, dir, map[string]string{"bot.sh": script, "timba.toml": manifest})
}

// mess is a world in which referees are killed: a mark in the arguments of all
// processes, and directories for their temporary files.
type mess struct {
	mark   string
	bots   string
	temp   string
	cache  string
	mounts string
	all    []*mayhem
}

func newMess(t *testing.T) *mess {
	t.Helper()
	m := &mess{mark: fmt.Sprint(1_000_000 + rand.IntN(9_000_000)), temp: t.TempDir(), cache: t.TempDir(), mounts: mountsOf(t)}
	m.bots = filepath.Join(t.TempDir(), m.mark)
	for name, script := range hardBots {
		script = strings.ReplaceAll(script+hardLoop, "MARK", m.mark)
		writeBot(t, filepath.Join(m.bots, name), script, fmt.Sprintf("run = [\"sh\", \"bot.sh\", %q]\n", m.mark))
		writeBot(t, filepath.Join(m.bots, "build-"+name), script,
			fmt.Sprintf("build = [\"sh\", \"-c\", \"sleep 9%s; :\"]\nrun = [\"sh\", \"bot.sh\"]\n", m.mark))
	}
	return m
}

// mayhem is a referee that will be killed.
type mayhem struct {
	*exec.Cmd
	said    bytes.Buffer
	playing chan struct{} // closed in the middle of its play, or its build
	family  map[string]bool
}

// begin starts a match that does not end; it plays when some words have been
// shown some times.
func (m *mess) begin(t *testing.T, sign string, times int, args ...string) {
	t.Helper()
	r := &mayhem{Cmd: exec.Command("timba", args...), playing: make(chan struct{})}
	m.all = append(m.all, r)
	r.Env = append(os.Environ(), "TMPDIR="+m.temp, "XDG_CACHE_HOME="+m.cache)
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Stderr = r.Stdout
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill() })
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if times > 0 {
				fmt.Fprintln(&r.said, lines.Text())
			}
			if strings.Contains(lines.Text(), sign) {
				if times--; times == 0 {
					close(r.playing)
				}
			}
		}
		if times > 0 {
			fmt.Fprintln(&r.said, "it has ended")
			close(r.playing)
		}
	}()
}

// kill ends all referees while they play, and requires that nothing of them is left a second
// later.
func (m *mess) kill(t *testing.T) {
	t.Helper()
	processes := 0
	for _, r := range m.all {
		select {
		case <-r.playing:
		case <-time.After(time.Minute):
			t.Fatalf("%v does not play after a minute", r.Args)
		}
		if strings.Contains(r.said.String(), "it has ended\n") {
			t.Fatalf("%v has ended:\n%s", r.Args, r.said.String())
		}
		r.family = family(r.Process.Pid)
		processes += len(r.family)
	}
	began := time.Now()
	for _, r := range m.all {
		r.Process.Kill()
	}
	for _, r := range m.all {
		r.Wait()
	}
	var left []string
	for deadline := began.Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if left = m.left(t); len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	took := time.Since(began)
	if len(left) > 0 {
		t.Errorf("after %v there is left:\n%s", took, strings.Join(left, "\n"))
	} else if took > time.Second && !kit.Raced() {
		t.Errorf("nothing is left only after %v", took)
	}
	t.Logf("%d referees and %d processes of theirs were gone after %v", len(m.all), processes, took)
}

// left returns what is left of the referees.
func (m *mess) left(t *testing.T) (left []string) {
	t.Helper()
	for _, entry := range glob(t, "/proc/[0-9]*") {
		line, _ := os.ReadFile(entry + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(entry))
		born := birth(pid)
		ours := bytes.Contains(line, []byte(m.mark)) && pid != os.Getpid()
		for _, r := range m.all {
			ours = ours || r.family[born]
		}
		if ours && born != "" {
			left = append(left, fmt.Sprintf("process %d: %q", pid, line))
		}
	}
	for line := range strings.Lines(mountsOf(t)) {
		if !strings.Contains(m.mounts, line) && !m.foreign(line) {
			left = append(left, "mount "+line)
		}
	}
	left = append(left, glob(t, m.temp+"/*")...)
	left = append(left, glob(t, m.cache+"/timba/builds/tmp-*")...)
	return append(left, m.groups(t)...)
}

// foreign reports whether a mount is in the directory of another test, which may run beside this
// one.
func (m *mess) foreign(line string) bool {
	point := strings.Fields(line)[4]
	return strings.HasPrefix(point, filepath.Join(os.TempDir(), "Test")) &&
		!strings.Contains(point, m.mark) && !strings.HasPrefix(point, m.temp) && !strings.HasPrefix(point, m.cache)
}

// groups returns the cgroups that the referees have made.
func (m *mess) groups(t *testing.T) (left []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		_, right, _ := strings.Cut(line, " - ")
		if !strings.HasPrefix(right, "cgroup") {
			continue
		}
		filepath.WalkDir(strings.Fields(line)[4], func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && slices.ContainsFunc(m.all, func(r *mayhem) bool {
				return strings.HasPrefix(d.Name(), fmt.Sprintf("timba-%d-", r.Process.Pid))
			}) {
				left = append(left, path)
			}
			return nil // directories come and go meanwhile
		})
	}
	return left
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func mountsOf(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// birth names a process for ever: its number and when it began; "" when it is
// gone, or dead and only not waited for by somebody else.
func birth(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fmt.Sprintf("%d since %s", pid, fields[19])
}

// family returns a process and all below it, by birth.
func family(pid int) map[string]bool {
	all := map[string]bool{birth(pid): true}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		data, _ := os.ReadFile(path)
		for _, f := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(f); err == nil {
				for name := range family(child) {
					all[name] = true
				}
			}
		}
	}
	return all
}

// TestKilled kills the referees of twenty matches with SIGKILL at once: with bots of all kinds,
// sandboxed and not, stopped between their turns and not, two of them still building. A second
// later no process, mount, cgroup or temporary directory is left.
func TestKilled(t *testing.T) {
	kit.Slow(t)
	m := newMess(t)
	ways := [][]string{{"--sandbox", "auto"}, {"--sandbox", "off"}}
	if sandbox.Probe().Level == sandbox.Full {
		ways = append(ways, []string{"--sandbox", "full", "--ponder", "off"})
	}
	names := []string{"deaf", "parent", "runaway", "spinner", "litter"}
	for i := range 18 {
		a, b, way := names[i%len(names)], names[(i+i/len(names)+1)%len(names)], ways[i%len(ways)]
		sign, times := " > move ", 3
		if a == "spinner" || b == "spinner" {
			sign, times = " < turn ", 1
		}
		args := []string{"match", "brisca", filepath.Join(m.bots, a), filepath.Join(m.bots, b), "--deals", "100000", "--movetime", "600000", "--log"}
		m.begin(t, sign, times, append(args, way...)...)
	}
	for i := range 2 {
		m.begin(t, "building ", 1, append([]string{"match", "brisca", filepath.Join(m.bots, "build-deaf"), "@greedy"}, ways[i]...)...)
	}
	m.kill(t)
}

// TestKilledWorkers does the same with one referee during twenty concurrent games.
func TestKilledWorkers(t *testing.T) {
	kit.Slow(t)
	m := newMess(t)
	args := []string{"match", "brisca", "--deals", "100000", "--movetime", "600000", "--log", "--concurrency", "20"}
	for name := range hardBots {
		if name != "spinner" { // at whose games all others would wait
			bot := filepath.Join(m.bots, name)
			args = append(args, "--bot", "name="+name+"-1 cmd="+bot, "--bot", "name="+name+"-2 cmd="+bot)
		}
	}
	m.begin(t, " > move ", 400, args...)
	m.kill(t)
}
