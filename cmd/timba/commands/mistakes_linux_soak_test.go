//go:build soak && linux

package commands

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
)

// mistake is a bot in testdata/mistakes, and what each program that reports a fault says of it: timba match,
// explain and check, and the message of a submission.
type mistake struct {
	name    string
	needs   string   // the interpreter or compiler
	all     []string // what each of them says
	local   []string // what match, explain and check say
	message []string // what only the message says
}

const (
	sayWhy = "its stderr says why"
	gone   = "the process exited with status 1"
)

// mistakes has a bot for each language, and three that do what a sandbox forbids.
var mistakes = []mistake{
	{name: "network", needs: "python3", all: []string{gone, "it tried to use the network", "a match has no network, not even on localhost"}},
	{name: "read-only", needs: "python3", all: []string{gone, "it tried to write cache.txt", "write to $TMPDIR"}},
	{name: "exception", needs: "python3", all: []string{gone, `its stderr says "KeyError: '`, sayWhy}},
	{name: "processes", needs: "python3", all: []string{"more than 64 processes and threads, after which it exited with status 1"},
		local: []string{"start fewer, or allow more with --processes; the limit was 64"}, message: []string{"start fewer; the limit was 64"}},
	{name: "js-throw", needs: "node", all: []string{gone, `its stderr says "TypeError: Cannot read properties of undefined (reading 'cards')"`, sayWhy}},
	{name: "c-segfault", needs: "cc", all: []string{"the process was killed by signal 11 (SIGSEGV)", "build with -g -fsanitize=address,undefined"}},
	{name: "c-compile", needs: "cc", all: []string{"bot.c:4:16: error: expected"}},
	{name: "cpp-throw", needs: "c++", all: []string{"(SIGABRT)", "instance of 'std::out_of_range' what(): vector::_M_range_check", sayWhy}},
	{name: "bash", needs: "bash", all: []string{gone, `its stderr says "bot.sh: line 5: best: unbound variable"`, sayWhy}},
	{name: "perl", needs: "perl", all: []string{`its stderr says "Can't call method "best" on an undefined value at bot.pl line 7, <STDIN> line`, sayWhy}},
	{name: "ruby", needs: "ruby", all: []string{gone, "undefined method", "(NoMethodError)", sayWhy}},
	{name: "lua", needs: "lua5.4", all: []string{gone, `bot.lua:5: attempt to index a nil value (local 'hand')"`, sayWhy}},
	{name: "tcl", needs: "tclsh", all: []string{gone, `its stderr says "can't read "best": no such variable"`, sayWhy}},
	{name: "php", needs: "php", all: []string{`its stderr says "PHP Fatal error: Uncaught Error: Call to a member function best() on null`, sayWhy}},
	{name: "java", needs: "javac", all: []string{gone, `its stderr says "Exception in thread "main" java.lang.NullPointerException`, sayWhy}},
	{name: "rust", needs: "rustc", all: []string{"exited with status 101", "bot.rs:9:", "index out of bounds: the len is ", sayWhy}},
}

// TestMistakes makes all commands report the faults of the bots in testdata/mistakes.
func TestMistakes(t *testing.T) {
	t.Parallel()
	a := newArena(t, "[limits]\nversions = 1000\nbots = 1000\n[[ladder]]\nname = \"brisca\"\ngame = \"brisca\"\ndeals = 1\nclock = {movetime = 1000}\nhouse = [\"@random\"]\n")
	a.program = undetected(t)
	s := a.serve(t, "--workers", "1")
	env := append(os.Environ(), "TIMBA_URL="+s.url, "TIMBA_TOKEN="+s.token, "XDG_CACHE_HOME="+t.TempDir())
	t.Run("bots", func(t *testing.T) { // ends before the server
		for _, m := range mistakes {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				kit.Needs(t, m.needs)
				m.report(t, a.program, env)
			})
		}
	})
}

// report compares what each of the commands says.
func (m mistake) report(t *testing.T, timbaPath string, env []string) {
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
	const movetime = "10000"
	flags := []string{"--games", "brisca", "--movetime", movetime}
	output, status := timba("match", "brisca", bot, "@first", "--deals", "1", "--movetime", movetime, "--out", out)
	says(t, "timba match", output, m.all)
	if status != cli.ExitError { // else it was not built
		says(t, "timba match", output, m.local, []string{fmt.Sprintf("check: timba check %s --games brisca --movetime %s", bot, movetime)})
		output, _ = timba("explain", out)
		says(t, "timba explain", output, m.all, m.local, []string{fmt.Sprintf("check the whole bot: timba check %s --games brisca --movetime %s", bot, movetime)})
	}
	if status == cli.ExitGood {
		t.Errorf("timba match finds no fault:\n%s", output)
	}
	output, status = timba(append([]string{"check", bot, "--quick"}, flags...)...)
	says(t, "timba check", output, m.all)
	if status == cli.ExitFault {
		says(t, "timba check", output, m.local)
	}
	output, status = timba("submit", bot, "--bot", m.name)
	if status != cli.ExitFault {
		t.Errorf("the submission ends with status %d:\n%s", status, output)
	}
	output, _ = timba("bots", m.name)
	_, message, _ := strings.Cut(output, "\n@1: ")
	says(t, "the message", message, m.all, m.message)
	forAuthors(t, message)
}

// says requires that a text has all given words.
func says(t *testing.T, name, text string, lists ...[]string) {
	t.Helper()
	for _, list := range lists {
		for _, want := range list {
			if !strings.Contains(oneLine(text), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text)
			}
		}
	}
}

// forAuthors requires that a message about a submission suggests nothing that its author cannot do.
func forAuthors(t *testing.T, message string) {
	t.Helper()
	for _, flag := range []string{"--memory", "--processes", "--startup", "--sandbox", "timba doctor"} {
		if strings.Contains(message, flag) {
			t.Errorf("the message suggests %s, which is not for its author:\n%s", flag, message)
		}
	}
}

// oneLine returns a text without line breaks and indentation.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
