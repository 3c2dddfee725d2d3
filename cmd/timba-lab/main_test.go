package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
)

// TestMain makes the test binary run as timba-lab, because a match in this process starts house bots, and
// measurements start timba-lab env and timba-lab bench.
func TestMain(m *testing.M) {
	run := func() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	if len(os.Args) > 1 && slices.Contains([]string{"bot", "env", "bench"}, os.Args[1]) {
		run()
	}
	testscript.Main(binaries.Clean(m), map[string]func(){"timba-lab": run})
}

// TestScripts runs the scripts of testdata/script, each in its own directory.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script")
}

// runScripts runs the scripts of a directory, which can also call timba.
func runScripts(t *testing.T, dir string) {
	clitest.Scripts(t, dir, nil, filepath.Dir(binaries.Program(t, "timba")))
}

// TestDocumentedUsage requires every command in the pages and in --help to exist, with its flags.
func TestDocumentedUsage(t *testing.T) {
	t.Parallel()
	clitest.CheckUsage(t, newRoot, 20)
	clitest.CheckText(t, newRoot, 10)
}

// TestExamples runs the examples of --help, those of each command in a directory of its own. Experiments take
// long; a page has their examples, and the tests of cmd/timba run its commands.
func TestExamples(t *testing.T) {
	t.Parallel()
	path := filepath.Dir(binaries.Program(t, "timba")) + ":" + filepath.Dir(binaries.Program(t, "timba-lab")) + ":" + os.Getenv("PATH")
	pages, examples := map[string]bool{}, map[string][]string{}
	for _, d := range clitest.Lines(t, newRoot) {
		if filepath.Ext(d.Source) == ".md" {
			pages[d.Line] = true
		} else {
			examples[d.Source] = append(examples[d.Source], d.Line)
		}
	}
	for command, lines := range examples {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, example := range lines {
				line := example
				for _, r := range clitest.Shorter {
					line = r.Pattern.ReplaceAllString(line, r.Replacement)
				}
				switch {
				case strings.HasPrefix(line, "timba-lab experiment"):
					if !pages[example] {
						t.Errorf("%s is on no page", example)
					}
					continue
				case strings.HasPrefix(line, "timba match "):
					line += " --movetime 60000"
				case strings.HasPrefix(line, "timba-lab env --listen "):
					line = "exec 3< <(exec " + line + "); read -r said <&3; kill -INT $!; wait $!; [[ $said == listening* ]]"
				}
				cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s\n(run as %s): %v\n%s", example, line, err, out)
				}
			}
		})
	}
}

// TestWalk runs Walk in an empty directory and in one with the data of a model.
func TestWalk(t *testing.T) {
	kit.Slow(t)
	made := t.TempDir()
	clitest.Make(t, newRoot, made, "train data --mode brisca2 --each 1 --out data")
	w := clitest.Walk{New: newRoot, GoodValues: goodValues, RequiredFlags: requiredFlags, UsageOnly: usageOnly, All: kit.Soak}
	w.Run(t, made)
}

// goodValues has a value for each word in the usage lines. A new word needs a value here.
var goodValues = map[string]string{"DIR": "new", "EXPERIMENT": "teeko-5", "NAME[:KEY=VALUE,...]": "greedy:noise=5", "command": "train"}

// requiredFlags are the flags without which a command does nothing, and those that make it short.
var requiredFlags = map[string][]string{
	"timba-lab train data": {"--each", "1"},
	"timba-lab train rl":   {"--episodes", "64"},
	"timba-lab train ga":   {"--generations", "1", "--population", "4", "--best", "2", "--games", "2", "--final", "0"},
	"timba-lab train net":  {"--generations", "1", "--games", "2", "--layers", "4"},
	"timba-lab train sl":   {"--data", "data", "--games", "16", "--epochs", "1"},
}

// usageOnly are the commands whose usage only is checked here, as they would measure for longer than a test
// may take. Scripts start them.
var usageOnly = []string{
	"timba-lab bench", "timba-lab bench duplicates", "timba-lab bench env", "timba-lab bench ladder", "timba-lab bench openings",
	"timba-lab bench sandbox", "timba-lab train tebes-weights",
}
