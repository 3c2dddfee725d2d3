package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/text"
)

// process is timba as a separate process; out is what it wrote to stdout and stderr, once it has
// ended.
type process struct {
	*exec.Cmd
	out bytes.Buffer
}

// begin starts timba.
func begin(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("timba", args...)}
	p.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	p.Stdout, p.Stderr = &p.out, &p.out
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// ends requires a process to end with a status.
func (p *process) ends(t *testing.T, status int) {
	t.Helper()
	p.Wait()
	if got := p.ProcessState.ExitCode(); got != status {
		t.Fatalf("%v: %v, want status %d\n%s", p.Args, p.ProcessState, status, p.out.String())
	}
}

// until waits for a condition.
var until = kit.Until

// finished returns a directory's finished games.
func finished(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "games", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// contents returns a directory's files by path, without times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = times.ReplaceAllString(string(data), `"$1":0`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A match whose program is killed at any moment, and again after it resumes, loses no finished
// game and counts none twice.
func TestResumeAfterKill(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	match := func(dir string) []string {
		return []string{"match", "teeko", "@random", "@greedy", "--deals", "20", "--set", "limit=30", "--seed", "9", "--concurrency", "2", "--out", dir}
	}
	whole := t.TempDir()
	begin(t, match(whole)...).ends(t, exitGood)
	want := contents(t, whole)
	const games = 40
	if n := len(finished(t, whole)); n != games {
		t.Fatalf("%d games are kept, want %d", n, games)
	}
	moment := rand.New(rand.NewPCG(1, 2))
	rounds, broken := 0, 0
	for ; rounds < 10 || rounds < 50 && broken < 10; rounds++ { // on a busy machine many kills come too late
		dir := t.TempDir()
		before := 0
		for range 2 {
			args := match(dir)
			if _, err := os.Stat(filepath.Join(dir, "plan.json")); err == nil {
				args = []string{"match", "--resume", dir}
			}
			p := begin(t, args...)
			least := before + moment.IntN(games-before+1)
			until(t, "it has come so far", func() bool { return len(finished(t, dir)) >= least })
			for began, more := time.Now(), time.Duration(moment.IntN(5_000_000)); time.Since(began) < more; {
			}
			p.Process.Kill()
			p.Wait()
			n := len(finished(t, dir))
			if n < before {
				t.Errorf("%d games are kept, there were %d", n, before)
			}
			if before = n; n > 0 && n < games {
				broken++
			}
		}
		args := match(dir)
		if _, err := os.Stat(filepath.Join(dir, "plan.json")); err == nil {
			args = []string{"match", "--resume", dir}
		}
		p := begin(t, args...)
		p.ends(t, exitGood)
		if text := fmt.Sprintf("\n%s in ", text.Count(games-before, "game")); !strings.Contains(p.out.String(), text) {
			t.Errorf("%d games were kept, and it says:\n%s", before, p.out.String())
		}
		if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
			t.Errorf("the directory differs (-whole +resumed):\n%s", diff)
		}
	}
	if broken < 10 {
		t.Errorf("only %d of %d kills came between the first game and the last", broken, 2*rounds)
	}
}

// Ctrl-C ends a match between two games with status 3, the results so far and the command that
// resumes it; that command works.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := begin(t, "match", "teeko", "@random", "@greedy", "--deals", "200", "--seed", "9", "--out", dir)
	until(t, "a game is kept", func() bool { return len(finished(t, dir)) > 0 })
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.ends(t, exitNoVerdict)
	n := len(finished(t, dir))
	for _, text := range []string{
		fmt.Sprintf("interrupted after %s\n", text.Count(n, "game")), "resume: timba match --resume " + dir + "\n", "@greedy", "replays: " + dir,
	} {
		if !strings.Contains(p.out.String(), text) {
			t.Errorf("it says nothing of %q:\n%s", text, p.out.String())
		}
	}
	again := begin(t, "match", "--resume", dir)
	again.ends(t, exitGood)
	if text := fmt.Sprintf("\n%s in ", text.Count(400-n, "game")); !strings.Contains(again.out.String(), text) {
		t.Errorf("%d games were kept, and it says:\n%s", n, again.out.String())
	}

	p = begin(t, "match", "teeko", "@random", "@greedy", "--deals", "100000")
	until(t, "the match goes on", func() bool { return len(children(t, p)) > 0 })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(t, exitNoVerdict)
	if !strings.Contains(p.out.String(), "only a match with --out DIR can be resumed\n") {
		t.Errorf("it says\n%s", p.out.String())
	}
}

// children returns the processes that a process has started.
func children(t *testing.T, p *process) []string {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range tasks {
		data, _ := os.ReadFile(path) // a thread that has ended has none
		all = append(all, strings.Fields(string(data))...)
	}
	return all
}

// A second Ctrl-C ends the program at once, even while it waits for a reader of its output.
func TestInterruptTwice(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := exec.Command("timba", "match", "teeko", "@random", "@greedy", "--deals", "100000", "--log")
	p.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	p.Stdout = w
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan struct{})
	go func() {
		p.Wait()
		close(ended)
	}()
	last := -1
	until(t, "the pipe is full", func() bool {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		full := err == nil && n > 60_000 && n == last
		last = n
		return full
	})
	until(t, "it has ended", func() bool {
		select {
		case <-ended:
			return true
		default:
			p.Process.Signal(os.Interrupt)
			return false
		}
	})
	if status := p.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", p.ProcessState)
	}
}
