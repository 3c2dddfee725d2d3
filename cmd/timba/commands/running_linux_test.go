package commands

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// running is a program that runs in the background of a test.
type running struct {
	*exec.Cmd
	out   kit.Output // what it has written, but what goes elsewhere
	ended chan struct{}
}

// run starts a program, which ends with the test.
func run(t testing.TB, cmd *exec.Cmd, start func(*exec.Cmd) error) *running {
	t.Helper()
	r := &running{Cmd: cmd, ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = &r.out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &r.out
	}
	kit.Must(t, start(cmd))
	go func() {
		defer close(r.ended)
		cmd.Wait()
	}()
	t.Cleanup(func() {
		r.Process.Kill()
		if t.Failed() {
			t.Logf("%v says\n%s", r.Args, r.out.String())
		}
	})
	return r
}

// begin starts timba.
func begin(t *testing.T, args ...string) *running {
	t.Helper()
	kit.Slow(t)
	cmd := exec.Command("timba", args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	return run(t, cmd, (*exec.Cmd).Start)
}

// over reports whether the program has ended.
func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// await waits until the output matches a pattern, and returns the submatches.
func (r *running) await(t testing.TB, pattern string) (found []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	until(t, fmt.Sprintf("%v says %s", r.Args, pattern), func() bool {
		over := r.over()
		if found = re.FindStringSubmatch(r.out.String()); found == nil && over {
			t.Fatalf("%v has ended, %v, and has not said %s:\n%s", r.Args, r.ProcessState, pattern, r.out.String())
		}
		return found != nil
	})
	return found
}

// exits waits until the program ends and requires its exit status.
func (r *running) exits(t testing.TB, status int) {
	t.Helper()
	kit.Wait(t, fmt.Sprintf("%v ends", r.Args), r.ended)
	if got := r.ProcessState.ExitCode(); got != status {
		t.Fatalf("%v: %v, want status %d\n%s", r.Args, r.ProcessState, status, r.out.String())
	}
}
