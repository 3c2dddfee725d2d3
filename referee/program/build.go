package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// maxBuildLog is the largest number of bytes of a build's output that are stored. Of longer output, the beginning and
// the end are stored.
const maxBuildLog = 1 << 20

// BuildError is the error of a build that failed because of the bot. The build would fail again on the same machine.
type BuildError struct{ err error }

func (e *BuildError) Error() string { return e.err.Error() }

// Phrase returns the text of the error in a form that can be translated.
func (e *BuildError) Phrase() phrase.Text { return phrase.FromError(e.err) }

func (e *BuildError) Unwrap() error { return e.err }

// BuildErrorLine returns the line that says why a build failed, or "" if there is none. output is the output of the
// build.
func BuildErrorLine(output []byte) string { return fault.BuildCause(fault.Lines(output)) }

// Build runs the build command of a bot in the directory dir, which the command may change. It returns the output of
// the command, also with most errors. The command runs in a sandbox with the given limit, or without one if level is
// sandbox.LevelNone. The error is a *BuildError if the bot is to blame.
func Build(ctx context.Context, dir string, build []string, level sandbox.Level, limit sandbox.Limit) ([]byte, error) {
	spec := sandbox.Spec{Path: build[0], Args: build, Dir: dir, Build: true, Limit: limit, Level: level}
	switch {
	case level == sandbox.LevelNone:
	case level < sandbox.LevelReduced:
		return nil, fmt.Errorf("a sandbox of level %s cannot run builds: build it yourself, or use --sandbox=off", level)
	default:
		found, err := interpreter.Find(build[0], dir)
		if err != nil {
			return nil, buildStartError(build[0], dir, err)
		}
		spec.Path, spec.VisiblePaths, spec.Env = found.Path, found.VisiblePaths, found.Env
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	spec.Stdout, spec.Stderr = w, w
	runtime.LockOSThread() // a program without a sandbox ends with the thread that started it
	defer runtime.UnlockOSThread()
	p, err := startBuild(spec)
	w.Close()
	if err != nil {
		var s *sandbox.StepError
		if errors.As(err, &s) && s.Step == "program" {
			return nil, cmp.Or(ctx.Err(), error(buildStartError(build[0], dir, s.Err)))
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	out := cutlog.Buffer{Limit: maxBuildLog}
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, r)
	}()
	s := p.Wait()
	late := time.AfterFunc(pipeWait, func() { r.Close() })
	<-read
	late.Stop()
	switch {
	case ctx.Err() != nil:
		return out.Take(), ctx.Err()
	case s.Reason == sandbox.Exited && s.Code == 0:
		return out.Take(), nil
	case s.Reason == sandbox.NotStarted && s.Step == "exec":
		return out.Take(), buildStartError(build[0], dir, s.Err)
	case s.Reason == sandbox.NotStarted && s.Step == "keep the build" && !machineFailed(s.Err):
		return out.Take(), &BuildError{phrase.Errorf("its output cannot be kept: %w", s.Err)}
	case s.Reason == sandbox.Exited && level != sandbox.LevelNone && fault.UsesNetwork(fault.Lines(out.Bytes())):
		return out.Take(), &BuildError{phrase.Errorf("exit status %d: it tried to use the network, which a build does not have: put what it needs into the bot's directory, as go mod vendor, cargo vendor and pip download do", s.Code)}
	case s.Reason == sandbox.Exited && slices.ContainsFunc(build[1:], isForShell) && !slices.Contains(build, "-c"):
		return out.Take(), &BuildError{phrase.Errorf("exit status %d: no shell reads the words of build, so that %q is not replaced: write [\"sh\", \"-c\", %q]", s.Code, build[1+slices.IndexFunc(build[1:], isForShell)], strings.Join(build, " "))}
	case s.Reason == sandbox.Exited:
		return out.Take(), &BuildError{phrase.Errorf("exit status %d", s.Code)}
	case s.Reason == sandbox.NotStarted:
		return out.Take(), fmt.Errorf("%s: %w", s.Step, s.Err)
	default:
		return out.Take(), &BuildError{phrase.Errorf("the build %s", s)}
	}
}

// isForShell reports whether a word has a character that a shell would replace, or is an operator of a shell.
func isForShell(word string) bool {
	return strings.ContainsAny(word, "*`") || strings.HasPrefix(word, "$") || slices.Contains([]string{"&&", "|", ">", ";"}, word)
}

// buildStartError returns the error for a build command that could not be started. dir is the directory where it
// should run, word is the command's first word, and err is the error of the system.
func buildStartError(word, dir string, err error) *BuildError {
	r, ok := match.ObstacleReason(word, dir)
	switch refused := new(interpreter.PathError); {
	case strings.Contains(word, " "):
		return &BuildError{phrase.Errorf("%w: %s", err, separateWords("build"))}
	case !ok || errors.As(err, &refused):
		return &BuildError{err}
	}
	return &BuildError{phrase.Errorf("%s: %s", r.Phrase(), r.Advice(fault.Circumstances{})[0])}
}

func machineFailed(err error) bool {
	machines := []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}
	return slices.ContainsFunc(machines, func(of error) bool { return errors.Is(err, of) })
}

// pipeWait is how long Build waits for more output after the build has ended. A process that the build started may
// still run and have the pipe open. In a sandbox there is no such process.
const pipeWait = 10 * time.Second

// startBuild starts the program of a build. If the program's file is open for writing (ETXTBSY), startBuild tries
// again for half a second. That can happen after the file was copied: a process that is being started at that moment
// has the file open for a short time.
func startBuild(spec sandbox.Spec) (p *sandbox.Process, err error) {
	for range 50 {
		if p, err = sandbox.Start(spec); !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p, err
}
