//go:build soak && linux

package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/explain"
	"github.com/timba-arena/timba/tournament"
)

// TestMistakesMade makes all commands report the bots of testdata/mistakes. With -update it writes
// the records of those whose language is installed.
func TestMistakesMade(t *testing.T) {
	t.Parallel()
	a := newArena(t, "[limits]\nversions = 1000\nbots = 1000\n[[ladder]]\nname = \"brisca\"\ngame = \"brisca\"\ndeals = 1\nclock = {movetime = 1000}\nhouse = [\"@random\"]\n")
	a.program = undetected(t)
	s := a.serve(t, "--workers", "1")
	env := append(os.Environ(), "TIMBA_URL="+s.url, "TIMBA_TOKEN="+s.token, "XDG_CACHE_HOME="+t.TempDir())
	records := map[string]recordOf{}
	data, err := os.ReadFile(mistakesFile)
	if err == nil {
		err = json.Unmarshal(data, &records)
	}
	if err != nil && !kit.Updating() {
		t.Fatal(err)
	}
	var mu sync.Mutex
	t.Run("bots", func(t *testing.T) { // ends before the server
		for _, m := range mistakes {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				kit.Needs(t, m.needs)
				r := m.report(t, a.program, env)
				mu.Lock()
				defer mu.Unlock()
				records[m.name] = r
			})
		}
	})
	if kit.Updating() {
		data := kit.Get[[]byte](t)(json.MarshalIndent(records, "", "\t"))
		kit.Must(t, os.WriteFile(mistakesFile, append(data, '\n'), 0o644))
	}
}

// report compares what each of the commands says, and returns the record.
func (m mistake) report(t *testing.T, timbaPath string, env []string) (record recordOf) {
	bot := kit.Get[string](t)(filepath.Abs(filepath.Join("testdata", "mistakes", m.name)))
	out := filepath.Join(t.TempDir(), "out")
	timba := func(args ...string) (output string, status int) {
		cmd := exec.Command(timbaPath, args...)
		cmd.Args[0] = "timba" // which it tells to call
		cmd.Env = env
		data, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(data), cmd.ProcessState.ExitCode()
	}
	movetime := "10000"
	if m.name == "partial" {
		movetime = "2000" // the whole time passes
	}
	flags := []string{"--games", "brisca", "--movetime", movetime}
	output, status := timba("match", "brisca", bot, "@first", "--deals", "1", "--movetime", movetime, "--out", out)
	says(t, "timba match", output, m.all)
	if status != cli.ExitError { // else it was not built
		says(t, "timba match", output, m.local, m.match, []string{fmt.Sprintf("check: timba check %s --games brisca --movetime %s", bot, movetime)})
		output, _ = timba("explain", out)
		says(t, "timba explain", output, m.all, m.local, m.match, []string{fmt.Sprintf("check the whole bot: timba check %s --games brisca --movetime %s", bot, movetime)})
	}
	if status == cli.ExitGood {
		t.Errorf("timba match finds no fault:\n%s", output)
	}
	output, status = timba(append([]string{"check", bot, "--quick"}, flags...)...)
	says(t, "timba check", output, m.all)
	if status == cli.ExitFault {
		says(t, "timba check", output, m.local, m.check)
	}
	output, status = timba("submit", bot, "--bot", m.name)
	if status != cli.ExitFault {
		t.Errorf("the submission ends with status %d:\n%s", status, output)
	}
	output, _ = timba("bots", m.name)
	_, message, _ := strings.Cut(output, "\n@1: ")
	says(t, "the message", message, m.all, m.check, m.message)
	forAuthors(t, message)
	if m.build != nil {
		record.Build = m.built(t, bot)
	} else {
		record.Reason, record.Circumstances = faultIn(t, bot, out)
	}
	return record
}

// built returns what the build of a bot writes.
func (m mistake) built(t *testing.T, bot string) []string {
	t.Helper()
	dir := t.TempDir()
	kit.Must(t, os.CopyFS(dir, os.DirFS(bot)))
	output, err := program.Build(t.Context(), dir, m.build, sandbox.None, sandbox.Limit{})
	if err == nil {
		t.Error("it is built")
	}
	return fault.Lines(output)
}

// faultIn returns the first fault of a match in a directory, and what is known about it.
func faultIn(t *testing.T, bot, out string) (reason fault.Reason, about *circumstances) {
	t.Helper()
	cmd := new(cobra.Command)
	cmd.SetContext(t.Context())
	games, err := explain.Open([]string{out}, func(path string) (*referee.Replay, *rules.Game, error) { return readReplay(cmd, path) })
	kit.Must(t, err)
	e := &explain.Explainer{Writer: io.Discard, Style: draw.For(io.Discard), Paths: []string{out}, Games: games, Command: cli.CommandLine}
	e.About = func(path, name string, c fault.Circumstances) (fault.Circumstances, []string) {
		c, words := tournament.About(path, name, c)
		if about == nil {
			r, _, err := readReplay(cmd, path)
			kit.Must(t, err)
			reason, about = r.Faults[0].Reason, &circumstances{Circumstances: c}
			about.Stderr = nil
			for _, line := range c.Stderr { // which names directories of this machine
				line = machineDirs.ReplaceAllString(strings.ReplaceAll(line, bot, "/bot"), "/dir")
				about.Stderr = append(about.Stderr, line)
			}
		}
		return c, words
	}
	kit.Must(t, e.Explain())
	return reason, about
}

// machineDirs are the directory of a build, and that of an interpreter's modules.
var machineDirs = regexp.MustCompile(`/[^\s"(]+/(timba/builds/[^/\s"]+|lib/python[0-9.]+)`)
