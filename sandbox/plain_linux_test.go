package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestPlain checks that a program without a sandbox has this program's rights and environment, and that the
// processes that it leaves behind end with it.
func TestPlain(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.Setenv("SECRET", "is seen")
	plain := func(args ...string) Spec { return Spec{Path: exe(), Args: append([]string{exe(), "do"}, args...)} }
	for action, want := range map[string]Status{
		"exit": {Reason: Exited, Code: 7}, "fault": {Reason: Signalled, Code: -1, Signal: syscall.SIGSEGV},
		"orphan": {Reason: Exited}, "env": {Reason: Exited},
	} {
		spec := plain(action)
		spec.Dir, spec.Env = t.TempDir(), []string{"OWN=1"}
		p, r := launch(t, spec)
		got := p.Wait()
		out := string(kit.Get[[]byte](t)(io.ReadAll(r))) // ends when no process has the pipe
		if got.Reason != want.Reason || got.Code != want.Code || got.Signal != want.Signal || got.CPU == 0 {
			t.Errorf("%s: %+v, want %+v", action, got, want)
		}
		if action == "env" && (!strings.Contains(out, "SECRET=is seen\n") || !strings.Contains(out, "OWN=1\n")) {
			t.Errorf("it has the environment %s", out)
		}
		if p.Pid() != 0 || len(p.MarkedProcesses()) > 0 || p.Level() != LevelNone {
			t.Errorf("%s: it has ended, and is process %d with %v", action, p.Pid(), p.MarkedProcesses())
		}
	}

	p, r := launch(t, plain("orphan-and-wait")) // its child has a session of its own
	kit.Must(t, firstByte(r))
	if len(p.MarkedProcesses()) != 2 {
		t.Errorf("%v are its processes, want two", p.MarkedProcesses())
	}
	if err := p.Freeze(true); err == nil {
		t.Error("it is frozen")
	}
	p.Kill()
	if s := p.Wait(); s.Reason != Killed || s.Signal != syscall.SIGKILL {
		t.Errorf("it %s", s)
	}
	kit.Get[[]byte](t)(io.ReadAll(r))

	for path, want := range map[string]error{"timba-no-such-program": nil, "/no/such/program": fs.ErrNotExist, os.DevNull: fs.ErrPermission} {
		_, err := Start(Spec{Path: path, Args: []string{path}})
		if s, ok := errors.AsType[*StepError](err); !ok || s.Step != "program" || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Start(Spec{Path: "/bin/true"}); err == nil {
		t.Error("a program is started without a command")
	}
}

func firstByte(r io.Reader) error {
	_, err := io.ReadFull(r, make([]byte, 1))
	return err
}
