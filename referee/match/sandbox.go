package match

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Sandbox says how strictly a bot is confined, and which limits it has.
type Sandbox struct {
	Level  sandbox.Level
	Limit  sandbox.Limit
	Freeze bool // stop the bot while it is not its turn; requires sandbox.LevelFull
}

// spec returns what is needed to start the bot with or without its sandbox: program, arguments, directory, visible
// files and limits. b.Temp must be a directory for this bot alone. If the bot is to blame for the error, it is a
// fault.Reason.
func (b Contestant) spec() (sandbox.Spec, error) {
	h := b.Sandbox
	switch {
	case h == nil:
		return sandbox.Spec{Path: b.Command[0], Args: b.Command, Dir: b.Dir, Env: []string{"TMPDIR=" + b.Temp}}, nil
	case h.Level == sandbox.LevelNone:
		return sandbox.Spec{}, fmt.Errorf("match: starting %s: its sandbox has no level", b.Name)
	case h.Freeze && h.Level < sandbox.LevelFull:
		return sandbox.Spec{}, fmt.Errorf("match: starting %s: stopping a bot between its turns needs a cgroup, which level %s does not have", b.Name, h.Level)
	}
	s, err := b.visibleFiles()
	if err != nil {
		return s, err
	}
	s.Limit, s.Level = h.Limit, h.Level
	if s.Path = s.Args[0]; slices.Contains(b.Show, s.Path) { // it needs none of the files beside it
		return s, nil
	}
	found, err := interpreter.Find(s.Args[0], s.Dir)
	if err != nil {
		return s, startError(b, err)
	}
	s.Path, s.VisiblePaths, s.Env = found.Path, append(found.VisiblePaths, s.VisiblePaths...), found.Env
	return s, nil
}

// visibleFiles returns a Spec with the command of a bot in a sandbox and the user's files that are visible there: the
// bot's directory and the files that the command names.
func (b Contestant) visibleFiles() (sandbox.Spec, error) {
	s := sandbox.Spec{Args: b.Command, Dir: b.Dir, VisiblePaths: b.Show}
	if s.Dir != "" {
		return s, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return s, fmt.Errorf("match: finding the working directory: %w", err)
	}
	shared := interpreter.IsSharedDir(here)
	if !shared {
		s.Dir = here
	}
	// A shared directory, such as the user's home, is not shown. From there, and from outside
	// the directory, only the files that the command names are shown, at absolute paths.
	s.Args = append([]string{}, b.Command...)
	for i, word := range s.Args {
		info, err := os.Stat(word)
		if err != nil || i == 0 && filepath.IsAbs(word) {
			continue
		}
		path, err := filepath.Abs(word)
		if err != nil {
			return s, fmt.Errorf("match: %s: %w", word, err)
		}
		if inside, err := filepath.Rel(here, path); !shared && (err == nil && filepath.IsLocal(inside) || info.IsDir()) {
			continue
		}
		if info.IsDir() && interpreter.IsSharedDir(path) {
			return s, fmt.Errorf("match: a sandboxed bot cannot see %s: put the bot in a separate directory", path)
		}
		s.Args[i] = path
		if dir := filepath.Dir(path); !info.IsDir() && !interpreter.IsSharedDir(dir) {
			path = dir // a program may load files beside it
		}
		s.VisiblePaths = append(s.VisiblePaths, path)
	}
	return s, nil
}

// startError converts err, with which a bot could not be started, to a fault.Reason. It does not convert an error for
// which this machine is to blame, for instance because it has no memory left.
func startError(b Contestant, err error) error {
	if s, ok := errors.AsType[*sandbox.StepError](err); ok {
		if s.Step != "program" {
			return fmt.Errorf("match: starting %s: %w", b.Name, err)
		}
		err = s.Err
	}
	for _, own := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, own) {
			return fmt.Errorf("match: starting %s: %w", b.Name, err)
		}
	}
	if refused := new(interpreter.PathError); !errors.As(err, &refused) {
		if r, ok := ObstacleReason(b.Command[0], b.Dir); ok {
			return r
		}
	}
	return fault.Reason{
		Kind: fault.NotStarted, Detail: strings.TrimPrefix(err.Error(), "fork/exec "),
		Command: fault.Raw(strings.Join(b.Command, " ")),
	}
}

// ObstacleReason returns why the system cannot execute a bot's file, as a fault.Reason. word is the first word of the
// bot's command, and dir the bot's directory. ok is false if there is no such file, or if no reason is found.
func ObstacleReason(word, dir string) (r fault.Reason, ok bool) {
	o, ok := interpreter.FindObstacle(word, dir)
	if !ok {
		return r, false
	}
	file := o.File
	if inside, err := filepath.Rel(dir, o.File); err == nil && filepath.IsLocal(inside) {
		file = "." + string(filepath.Separator) + inside
	}
	r = fault.Reason{Kind: fault.Kind(o.Kind), Command: fault.Raw(file), Line: fault.Raw(protocol.Clip([]byte(o.Line)))}
	switch o.Kind {
	case interpreter.OtherSystem:
		r.Name, r.Detail = o.System, runtime.GOOS+"/"+runtime.GOARCH
	case interpreter.NoInterpreter, interpreter.NoLoader:
		r.Detail = strings.Trim(strconv.QuoteToASCII(o.Missing), `"`)
	}
	return r, true
}
