package env

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee/cores"
)

// StudyRate is how many random games of Brisca a second the Python environment of
// R. Arjonilla's bachelor's thesis (UOC, 2024) plays on one core.
const StudyRate = 343

// Rate is the speed of random games through the client in Python.
type Rate struct {
	Game  string
	Way   string  // how actions are chosen
	Games int     `json:"games"` // finished
	Moves int     `json:"moves"`
	Wall  float64 `json:"seconds"`
	CPU   float64 `json:"cpu"` // seconds of client and server together
}

// ways are the arrays that actions are chosen from, in the words of the benchmark's program.
var ways = []struct {
	word, title string
	numpy       bool
	games       int // at once
}{
	{arrayLegal, "numpy, list of actions", true, 2048},
	{arrayMask, "numpy, mask of actions", true, 2048},
	{"none", "standard library", false, 256},
}

// Bench measures random games through the client in Python, client and server on one core where
// the machine can: the first game in every way, the others from lists of actions. The client starts
// self with the argument env. It tells log if numpy is missing.
func Bench(ctx context.Context, self string, games []string, each time.Duration, log io.Writer) (rates []Rate, err error) {
	python, numpy, err := findPython(ctx)
	if err != nil {
		return nil, err
	}
	if !numpy {
		fmt.Fprintln(log, "bench env: numpy is missing: only the standard library is measured")
	}
	dir, err := os.MkdirTemp("", "timba-env-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{clientModule, benchFile} {
		if err := writePython(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	for _, game := range games {
		for _, way := range ways {
			if way.numpy && !numpy || game != games[0] && way.word == arrayMask {
				continue
			}
			r := Rate{Game: game, Way: way.title}
			args := append(oneCore(), python, "-B", benchFile, game, way.word, strconv.Itoa(way.games), fmt.Sprint(each.Seconds()))
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "TIMBA_LAB="+self)
			var out, problem bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &problem
			if err := cmd.Run(); err != nil {
				return nil, fmt.Errorf("env: the benchmark in Python has failed: %w\n%s", err, problem.Bytes())
			}
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				return nil, fmt.Errorf("env: the benchmark in Python has printed %q", out.Bytes())
			}
			rates = append(rates, r)
		}
	}
	return rates, nil
}

// oneCore returns the words before a command that bind it to one core; none where that is not
// possible.
func oneCore() []string {
	cores := cores.All()
	taskset, err := exec.LookPath("taskset")
	if err != nil || len(cores) == 0 {
		return nil
	}
	return []string{taskset, "-c", strconv.Itoa(cores[len(cores)-1])}
}

// pythons are where Python is looked for; the system's may have numpy where another has not.
var pythons = []string{"python3", "/usr/bin/python3", "python"}

// findPython returns a Python, one with numpy if there is one.
func findPython(ctx context.Context) (path string, numpy bool, err error) {
	const script = "import sys\nif sys.version_info < (3, 8): sys.exit(1)\nprint('timba')\nimport numpy\nprint('numpy')"
	for _, name := range pythons {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, _ := exec.CommandContext(ctx, found, "-c", script).Output() // without numpy it fails
		if strings.Contains(string(out), "numpy") {
			return found, true, nil
		}
		if path == "" && strings.Contains(string(out), "timba") {
			path = found
		}
	}
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if path == "" {
		return "", false, fmt.Errorf("env: there is no Python 3.8 or later: install python3, and numpy for speed")
	}
	return path, false, nil
}
