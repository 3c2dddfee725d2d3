package commands

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

	"github.com/timba-arena/timba/internal/kit"
)

// hardBots are shell bots whose processes are hard to end. MARK stands for digits in the arguments of all
// processes that they start.
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

// writeBot makes a directory with a bot written in shell.
func writeBot(t *testing.T, dir, script, manifest string) string {
	t.Helper()
	return kit.Files(t, dir, map[string]string{"bot.sh": script, "timba.toml": manifest})
}

// mess is an environment in which referees are killed: it has a mark in the arguments of all processes, and
// directories for their temporary files.
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
	kit.Slow(t)
	m := &mess{mark: fmt.Sprint(1_000_000 + rand.IntN(9_000_000)), temp: t.TempDir(), cache: t.TempDir(), mounts: mountsOf(t)}
	m.bots = filepath.Join(t.TempDir(), m.mark)
	for name, script := range hardBots {
		script = strings.ReplaceAll(script+hardLoop, "MARK", m.mark)
		writeBot(t, filepath.Join(m.bots, name), script, fmt.Sprintf("run = [\"sh\", \"bot.sh\", %q]\n", m.mark))
		writeBot(t, filepath.Join(m.bots, "build-"+name), script,
			fmt.Sprintf("build = [\"sh\", \"-c\", \"sleep 90%s; :\"]\nrun = [\"sh\", \"bot.sh\"]\n", m.mark))
	}
	return m
}

// mayhem is a referee that will be killed.
type mayhem struct {
	*exec.Cmd
	said    kit.Output
	playing chan struct{} // closed in the middle of its play, or its build
	family  map[string]bool
}

// begin starts a match that does not end. The match counts as playing when certain words have been printed a
// number of times.
func (m *mess) begin(t *testing.T, sign string, times int, args ...string) {
	t.Helper()
	r := &mayhem{Cmd: exec.Command("timba", args...), playing: make(chan struct{})}
	m.all = append(m.all, r)
	r.Env = append(os.Environ(), "TMPDIR="+m.temp, "XDG_CACHE_HOME="+m.cache)
	out, err := r.StdoutPipe()
	kit.Must(t, err)
	r.Stderr = r.Stdout
	kit.Must(t, r.Start())
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

// await waits until all referees play.
func (m *mess) await(t *testing.T) {
	t.Helper()
	for _, r := range m.all {
		kit.Wait(t, fmt.Sprintf("%v plays", r.Args), r.playing)
		if strings.Contains(r.said.String(), "it has ended\n") {
			t.Fatalf("%v has ended:\n%s", r.Args, r.said.String())
		}
		r.family = family(r.Process.Pid)
	}
}

// kill kills all referees, and waits until nothing of them is left.
func (m *mess) kill(t *testing.T) {
	t.Helper()
	for _, r := range m.all {
		r.Process.Kill()
	}
	for _, r := range m.all {
		r.Wait()
	}
	m.gone(t)
}

// gone waits until nothing is left of ended referees.
func (m *mess) gone(t *testing.T) {
	t.Helper()
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Logf("there is left:\n%s", strings.Join(left, "\n"))
		}
	}()
	until(t, "nothing is left", func() bool {
		left = m.left(t)
		return len(left) == 0
	})
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

// foreign reports whether a mount is in the directory of another test that runs at the same time.
func (m *mess) foreign(line string) bool {
	point := strings.Fields(line)[4]
	return strings.HasPrefix(point, filepath.Join(os.TempDir(), "Test")) &&
		!strings.Contains(point, m.mark) && !strings.HasPrefix(point, m.temp) && !strings.HasPrefix(point, m.cache)
}

// groups returns the cgroups that the referees have made.
func (m *mess) groups(t *testing.T) (left []string) {
	t.Helper()
	mounts := kit.Get[[]byte](t)(os.ReadFile("/proc/self/mountinfo"))
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
	return kit.Get[[]string](t)(filepath.Glob(pattern))
}

func mountsOf(t *testing.T) string {
	t.Helper()
	return string(kit.Get[[]byte](t)(os.ReadFile("/proc/self/mountinfo")))
}

// birth identifies a process permanently, by its number and its start time. It returns "" if the process has
// ended, even if nobody has waited for it.
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

// family returns a process and all its descendants, as birth identifies them.
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

// A referee that is killed with SIGKILL leaves no process, mount, cgroup or temporary directory behind: with
// sandboxed bots that are hard to end, without a sandbox, and during a build.
func TestKilled(t *testing.T) {
	t.Parallel()
	m := newMess(t)
	for i, args := range [][]string{
		{"deaf", "runaway", "--sandbox", "auto"}, {"parent", "litter", "--sandbox", "off"}, {"build-deaf", "@greedy", "--sandbox", "auto"},
	} {
		args[0] = filepath.Join(m.bots, args[0])
		sign, times := "building ", 1
		if i < 2 {
			args[1] = filepath.Join(m.bots, args[1])
			sign, times = " > move ", 3
		}
		m.begin(t, sign, times, append([]string{"match", "brisca", "--deals", "100000", "--movetime", "600000", "--log"}, args...)...)
	}
	m.await(t)
	m.kill(t)
}

// kill ends a server with SIGKILL, and waits until none of its processes is left.
func (a *arena) kill(t *testing.T, s *served) {
	t.Helper()
	world := a.world(t, s)
	s.Process.Kill()
	<-s.ended
	world.gone(t)
}

// world returns what a running server has created, to check later that it is gone.
func (a *arena) world(t *testing.T, s *served) *mess {
	t.Helper()
	w := &mess{mark: a.dir, temp: filepath.Join(a.dir, "tmp"), cache: a.home, mounts: mountsOf(t)}
	w.all = []*mayhem{{Cmd: s.Cmd, family: family(s.Process.Pid)}}
	return w
}
