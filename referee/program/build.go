package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// maxBuildLog is how many bytes of a sandboxed build's output are kept.
const maxBuildLog = 1 << 20

// BuildError is a failure of the build itself: on the same machine it would fail again.
type BuildError struct{ err error }

func (e *BuildError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.err }

// Said returns the line of a failed build's output that says why, to follow its error; ""
// if there is none.
func Said(output []byte) string {
	line := fault.BuildCause(fault.Lines(output))
	if line == "" {
		return ""
	}
	return fmt.Sprintf("; it says %q", line)
}

// Build runs a bot's build in a directory that it may change, in a sandbox with a limit
// unless the level is None. It returns the output of the build. The error is a
// *BuildError if it is the bot's fault.
func Build(ctx context.Context, dir string, build []string, level sandbox.Level, limit sandbox.Limit) ([]byte, error) {
	if level == sandbox.None {
		out, err := runBare(ctx, dir, build)
		// A file that was just copied is busy while a process that is being started
		// still has it open.
		for try := 0; errors.Is(err, syscall.ETXTBSY) && try < 50; try++ {
			time.Sleep(10 * time.Millisecond)
			out, err = runBare(ctx, dir, build)
		}
		if err != nil {
			err = cmp.Or(ctx.Err(), error(&BuildError{err}))
		}
		return out, err
	}
	if level < sandbox.Reduced {
		return nil, fmt.Errorf("a sandbox of level %s cannot run builds: build it yourself, or use --sandbox=off", level)
	}
	found, err := interpreter.Find(build[0], dir)
	if err != nil {
		return nil, &BuildError{err}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := sandbox.Start(sandbox.Spec{
		Path: found.Path, Args: build, Show: found.Show, Env: found.Env,
		Dir: dir, Build: true, Stdout: w, Stderr: w, Limit: limit, Level: level,
	})
	w.Close()
	if err != nil {
		var s *sandbox.StepError
		if errors.As(err, &s) && s.Step == "program" {
			return nil, &BuildError{s.Err}
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(r, maxBuildLog))
	io.Copy(io.Discard, r)
	switch s := p.Wait(); {
	case ctx.Err() != nil:
		return out.Bytes(), ctx.Err()
	case s.Reason == sandbox.Exited && s.Code == 0:
		return out.Bytes(), err
	case s.Reason == sandbox.NotStarted && s.Step == "exec":
		return out.Bytes(), &BuildError{s.Err}
	case s.Reason == sandbox.NotStarted && s.Step == "keep the build" && !machineFailed(s.Err):
		return out.Bytes(), &BuildError{fmt.Errorf("its output cannot be kept: %w", s.Err)}
	case s.Reason == sandbox.Exited:
		return out.Bytes(), &BuildError{fmt.Errorf("exit status %d", s.Code)}
	case s.Reason == sandbox.NotStarted:
		return out.Bytes(), fmt.Errorf("%s: %w", s.Step, s.Err)
	default:
		return out.Bytes(), &BuildError{errors.New("the build " + s.String())}
	}
}

// machineFailed reports whether the machine caused an error of files.
func machineFailed(err error) bool {
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// runBare runs a build without a sandbox.
func runBare(ctx context.Context, dir string, build []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, build[0], build[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), sandbox.Mark())
	cmd.WaitDelay = time.Second // for processes that it left behind
	return cmd.CombinedOutput()
}
