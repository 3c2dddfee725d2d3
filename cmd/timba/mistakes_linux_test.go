package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/proc"
)

// mistake is a bot in testdata/mistakes, and what is said of it by all that report a fault:
// timba match, explain and check, and the message of a submission.
type mistake struct {
	name  string
	needs string   // the interpreter or compiler
	all   []string // what each of them says
	local []string // what match, explain and check say
	match []string // what match and explain say
	check []string // what check and the message say

	message []string // what only the message says
}

const (
	sayWhy  = "its stderr says why"
	gone    = "the process exited with status 1"
	prompts = `a prompt, as of input("...") in Python, belongs on stderr`
)

var mistakes = []mistake{
	{name: "partial", needs: "python3", all: []string{`end every line with a line feed ("\n") and flush it`},
		match: []string{`after the unfinished line "move `}, check: []string{`the line "move 5c" does not end with a line feed`}},
	{name: "upper", needs: "python3", all: []string{"is not a move", "write moves letter for letter as they are listed: ", "in lower case"}},
	{name: "index", needs: "python3", all: []string{`"0" is not a move`, `that looks like a position in the list: print the move that stands there, as in "move `}, check: []string{`as in "move 5c"`}},
	{name: "position", needs: "python3", all: []string{`"3" is not a move`, `that looks like a position in the list`, `counted from 1`}, check: []string{`as in "move 12e", counted from 1`}},
	{name: "header", needs: "python3", all: []string{`the first two words after "turn" are the ply and the milliseconds`}},
	{name: "twice", needs: "python3", all: []string{`print exactly one "move" for each turn`}},
	{name: "prompt", needs: "python3", all: []string{`"> ready" is no line of the protocol`, `"> " is printed before "ready" on the same line: ` + prompts}},
	{name: "prompt-move", needs: "python3", all: []string{`"Your move: `, `print "move `, prompts}},
	{name: "debug", needs: "python3", all: []string{`"moves: ['`, "write debug output to stderr"}},
	{name: "no-verb", needs: "python3", all: []string{`the verb is missing: print "move `}},
	{name: "network", needs: "python3", all: []string{gone, "it tried to use the network", "a match has no network, not even on localhost"}},
	{name: "read-only", needs: "python3", all: []string{gone, "it tried to write cache.txt", "write to $TMPDIR"}},
	{name: "exception", needs: "python3", all: []string{gone, `its stderr says "KeyError: '`, sayWhy}},
	{name: "python-module", needs: "python3", all: []string{gone, "it needs the module numpy_of_nobody, which is not there", "use only the standard library"}},
	{name: "processes", needs: "python3", all: []string{"more than 64 processes and threads, after which it exited with status 1"},
		local: []string{"start fewer, or allow more with --processes; the limit was 64"}, message: []string{"start fewer; the limit was 64"}},
	{name: "js-throw", needs: "node", all: []string{gone, `its stderr says "TypeError: Cannot read properties of undefined (reading 'cards')"`, sayWhy}},
	{name: "js-read-only", needs: "node", all: []string{gone, "it tried to write cache.txt", "write to $TMPDIR"}},
	{name: "js-syntax", needs: "node", all: []string{gone, `its stderr says "SyntaxError: missing ) after argument list"`, sayWhy}},
	{name: "js-module", needs: "node", all: []string{gone, "it needs the module lodash, which is not there"}},
	{name: "c-segfault", needs: "cc", all: []string{"the process was killed by signal 11 (SIGSEGV)", "build with -g -fsanitize=address,undefined"}},
	{name: "c-assert", needs: "cc", all: []string{"the process was killed by signal 6 (SIGABRT)", "bot.c:10: main: Assertion `", sayWhy}},
	{name: "c-sanitizer", needs: "cc", all: []string{gone, `its stderr says "SUMMARY: AddressSanitizer: heap-buffer-overflow `, "bot.c:11 in main", sayWhy}},
	{name: "c-compile", needs: "cc", all: []string{"bot.c:4:16: error: expected"}},
	{name: "cpp-throw", needs: "c++", all: []string{"(SIGABRT)", "instance of 'std::out_of_range' what(): vector::_M_range_check", sayWhy}},
	{name: "cpp-compile", needs: "c++", all: []string{"bot.cpp:7:13: error: no match for"}},
	{name: "bash", needs: "bash", all: []string{gone, `its stderr says "bot.sh: line 5: best: unbound variable"`, sayWhy}},
	{name: "perl", needs: "perl", all: []string{`its stderr says "Can't call method "best" on an undefined value at bot.pl line 7, <STDIN> line`, sayWhy}},
	{name: "ruby", needs: "ruby", all: []string{gone, "undefined method", "(NoMethodError)", sayWhy}},
	{name: "lua", needs: "lua5.4", all: []string{gone, `bot.lua:5: attempt to index a nil value (local 'hand')"`, sayWhy}},
	{name: "tcl", needs: "tclsh", all: []string{gone, `its stderr says "can't read "best": no such variable"`, sayWhy}},
	{name: "php", needs: "php", all: []string{`its stderr says "PHP Fatal error: Uncaught Error: Call to a member function best() on null`, sayWhy}},
	{name: "java", needs: "javac", all: []string{gone, `its stderr says "Exception in thread "main" java.lang.NullPointerException`, sayWhy}},
	{name: "java-compile", needs: "javac", all: []string{"Bot.java:1: error: incompatible types: int cannot be converted to String"}},
	{name: "rust", needs: "rustc", all: []string{"exited with status 101", "bot.rs:9:", "index out of bounds: the len is ", sayWhy}},
	{name: "rust-compile", needs: "rustc", all: []string{"bot.rs:1:46: error[E0425]: cannot find value `y` in this scope"}},
}

// TestMistakes makes all commands report the bots of testdata/mistakes.
func TestMistakes(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	a := newArena(t, "[limits]\nversions = 1000\nbots = 1000\n[[ladder]]\nname = \"brisca\"\ngame = \"brisca\"\ndeals = 1\nclock = {movetime = 1000}\nhouse = [\"@random\"]\n")
	a.program = proc.Program(t, "timba")
	s := a.serve(t, "--workers", "1")
	env := append(os.Environ(), "TIMBA_URL="+s.url, "TIMBA_TOKEN="+s.token, "XDG_CACHE_HOME="+t.TempDir())
	t.Run("bots", func(t *testing.T) { // ends before the server
		for _, m := range mistakes {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(m.needs); err != nil {
					t.Skip(err)
				}
				m.report(t, a.program, env)
			})
		}
	})
}

// report compares what each of the commands says.
func (m mistake) report(t *testing.T, program string, env []string) {
	bot, err := filepath.Abs(filepath.Join("testdata", "mistakes", m.name))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	timba := func(args ...string) (output string, status int) {
		cmd := exec.Command(program, args...)
		cmd.Args[0] = "timba" // which it tells to call
		cmd.Env = env
		data, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(data), cmd.ProcessState.ExitCode()
	}
	says := func(name, output string, lists ...[]string) {
		t.Helper()
		for _, list := range lists {
			for _, want := range list {
				if !strings.Contains(oneLine(output), want) {
					t.Errorf("%s does not say %q:\n%s", name, want, output)
				}
			}
		}
	}
	movetime := "10000"
	if m.name == "partial" {
		movetime = "2000" // the whole time passes
	}
	flags := []string{"--games", "brisca", "--movetime", movetime}
	output, status := timba("match", "brisca", bot, "@first", "--deals", "1", "--movetime", movetime, "--out", out)
	says("timba match", output, m.all)
	if status != exitError { // else it was not built
		says("timba match", output, m.local, m.match, []string{fmt.Sprintf("check: timba check %s --games brisca --movetime %s", bot, movetime)})
		output, _ = timba("explain", out)
		says("timba explain", output, m.all, m.local, m.match, []string{fmt.Sprintf("check the whole bot: timba check %s --games brisca --movetime %s", bot, movetime)})
	}
	if status == exitGood {
		t.Errorf("timba match finds no fault:\n%s", output)
	}
	output, status = timba(append([]string{"check", bot, "--quick"}, flags...)...)
	says("timba check", output, m.all)
	if status == exitFault {
		says("timba check", output, m.local, m.check)
	}
	output, status = timba("submit", bot, "--bot", m.name)
	if status != exitFault {
		t.Errorf("the submission ends with status %d:\n%s", status, output)
	}
	_, message, _ := strings.Cut(output, m.name+"@1 failed: ")
	says("the message", message, m.all, m.check, m.message)
	for _, flag := range []string{"--memory", "--processes", "--startup", "--sandbox", "timba doctor"} {
		if strings.Contains(message, flag) {
			t.Errorf("the message suggests %s, which is not for its author:\n%s", flag, message)
		}
	}
}

// oneLine returns a text without line breaks and indentation.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
