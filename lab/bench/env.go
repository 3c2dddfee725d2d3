package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/timba-arena/timba/lab/env"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/games"
)

// Env measures how many random games per second a Python program plays through the client of timba-lab env. If
// possible, client and server share one core. Only for Brisca it also measures the use of masks of the legal actions.
type Env struct {
	Time time.Duration // approximate time for each row of the report
	self string        // path of timba-lab; "" means this program
}

// studyRate is the number of random games of Brisca per second that a Python environment plays, as published in table 5
// of R. Arjonilla's bachelor's thesis (UOC, 2024): 16,000 games with their rows of a data set in 84 s.
const studyRate = 190

// envProgram is the Python program that measures.
//
//go:embed bench_env.py
var envProgram []byte

// envWays are the ways in which the Python program can choose actions. The field word is the argument of the
// program that selects the way.
var envWays = []struct {
	word, title string
	numpy       bool
	games       int // played at once
}{
	{"legal", "numpy, list of actions", true, 2048},
	{"mask", "numpy, mask of actions", true, 2048},
	{"none", "standard library", false, 256},
}

// Run runs the measurement and returns a table with a row for each game and each way to choose actions.
// Without numpy it measures only the ways that need the standard library alone, and says so in log.
func (b Env) Run(ctx context.Context, log io.Writer) (*Report, error) {
	python, numpy, err := env.FindPython(ctx)
	if err != nil {
		return nil, err
	}
	if !numpy {
		fmt.Fprintln(log, "bench env: numpy is missing: only the standard library is measured")
	}
	if b.self == "" {
		if b.self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "timba-env-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := env.WriteClient(dir); err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "bench_env.py")
	if err := os.WriteFile(program, envProgram, 0o644); err != nil {
		return nil, err
	}
	t := newTable("env|actions chosen by|games/s|games/s of CPU|moves/s of CPU|study's games/s|ratio|of CPU")
	for _, game := range games.All() {
		for _, way := range envWays {
			if way.numpy && !numpy || game != brisca.Game && way.word == "mask" {
				continue
			}
			r, err := b.measure(ctx, python, program, game.Name, way.word, strconv.Itoa(way.games))
			if err != nil {
				return nil, err
			}
			wall, cpu := r.Games/r.Wall, r.Games/r.CPU
			row := []any{game.Name, way.title, noDecimals(wall), noDecimals(cpu), noDecimals(r.Moves / r.CPU)}
			if game == brisca.Game {
				row = append(row, studyRate, noDecimals(wall/studyRate), noDecimals(cpu/studyRate))
			}
			t.add(row...)
		}
	}
	return newReport(t), nil
}

// envResult is the output of the Python program envProgram: the number of finished games and of moves, the
// elapsed seconds, and the CPU seconds of client and server together.
type envResult struct {
	Games, Moves float64
	Wall         float64 `json:"seconds"`
	CPU          float64
}

// measure runs a Python program and returns its output. The program gets words as its first arguments and the
// duration of the measurement in seconds as the last one.
func (b Env) measure(ctx context.Context, python, program string, words ...string) (r envResult, err error) {
	args := append(oneCore(), python, "-B", program)
	args = append(append(args, words...), fmt.Sprint(b.Time.Seconds()))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TIMBA_LAB="+b.self)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("bench env: the program in Python has failed: %w\n%s", err, problem.Bytes())
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("bench env: the program in Python has printed %q", out)
	}
	return r, nil
}

// oneCore returns the words of a command that runs another command on a single processor core, or nil if this
// machine has no such command.
func oneCore() []string {
	cores := cores.All()
	taskset, err := exec.LookPath("taskset")
	if err != nil || len(cores) == 0 {
		return nil
	}
	return []string{taskset, "-c", strconv.Itoa(cores[len(cores)-1])}
}
