package commands

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/fault"
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

	build []string // the command that fails to build it
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
	{name: "js-syntax", needs: "node", all: []string{gone, `its stderr says "SyntaxError: missing ) after argument list (bot.js, line 5)"`, sayWhy}},
	{name: "js-module", needs: "node", all: []string{gone, "it needs the module lodash, which is not there"}},
	{name: "c-segfault", needs: "cc", all: []string{"the process was killed by signal 11 (SIGSEGV)", "build with -g -fsanitize=address,undefined"}},
	{name: "c-assert", needs: "cc", all: []string{"the process was killed by signal 6 (SIGABRT)", "bot.c:10: main: Assertion `", sayWhy}},
	{name: "c-sanitizer", needs: "cc", all: []string{gone, `its stderr says "SUMMARY: AddressSanitizer: heap-buffer-overflow `, "bot.c:11 in main", sayWhy}},
	{name: "c-compile", build: []string{"cc", "bot.c"}, needs: "cc", all: []string{"bot.c:4:16: error: expected"}},
	{name: "cpp-throw", needs: "c++", all: []string{"(SIGABRT)", "instance of 'std::out_of_range' what(): vector::_M_range_check", sayWhy}},
	{name: "cpp-compile", build: []string{"c++", "-std=c++17", "bot.cpp"}, needs: "c++", all: []string{"bot.cpp:7:13: error: no match for"}},
	{name: "bash", needs: "bash", all: []string{gone, `its stderr says "bot.sh: line 5: best: unbound variable"`, sayWhy}},
	{name: "perl", needs: "perl", all: []string{`its stderr says "Can't call method "best" on an undefined value at bot.pl line 7, <STDIN> line`, sayWhy}},
	{name: "ruby", needs: "ruby", all: []string{gone, "undefined method", "(NoMethodError)", sayWhy}},
	{name: "lua", needs: "lua5.4", all: []string{gone, `bot.lua:5: attempt to index a nil value (local 'hand')"`, sayWhy}},
	{name: "tcl", needs: "tclsh", all: []string{gone, `its stderr says "can't read "best": no such variable"`, sayWhy}},
	{name: "php", needs: "php", all: []string{`its stderr says "PHP Fatal error: Uncaught Error: Call to a member function best() on null`, sayWhy}},
	{name: "java", needs: "javac", all: []string{gone, `its stderr says "Exception in thread "main" java.lang.NullPointerException`, sayWhy}},
	{name: "java-compile", build: []string{"javac", "Bot.java"}, needs: "javac", all: []string{"Bot.java:1: error: incompatible types: int cannot be converted to String"}},
	{name: "rust", needs: "rustc", all: []string{"exited with status 101", "bot.rs:9:", "index out of bounds: the len is ", sayWhy}},
	{name: "rust-compile", build: []string{"rustc", "bot.rs"}, needs: "rustc", all: []string{"bot.rs:1:46: error[E0425]: cannot find value `y` in this scope"}},
}

// recordOf is what is known of a mistake: what its build has written, or its fault, and what a match
// knows about that.
type recordOf struct {
	Build         []string       `json:"build,omitempty"`
	Reason        fault.Reason   `json:"reason"`
	Circumstances *circumstances `json:"circumstances,omitempty"`
}

type circumstances struct {
	fault.Circumstances
	Hidden *int `json:",omitempty"` // hides a function, which JSON cannot have
}

// mistakesFile has the records, by name of the mistake. With -tags soak and -update, TestMistakesMade
// writes it with the compilers and interpreters of all languages.
const mistakesFile = "testdata/mistakes.json"

// The advice on every recorded fault, of a match and of a submission, is what the table has.
// TestMistakesMade compares what all commands say of the bots themselves.
func TestMistakes(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile(mistakesFile))
	records := map[string]recordOf{}
	kit.Must(t, json.Unmarshal(data, &records))
	if len(records) != len(mistakes) {
		t.Errorf("%s has %d records of %d mistakes", mistakesFile, len(records), len(mistakes))
	}
	for _, m := range mistakes {
		r, ok := records[m.name]
		switch {
		case !ok:
			t.Errorf("%s has no record of %s", mistakesFile, m.name)
			continue
		case r.Circumstances == nil:
			says(t, m.name, fault.BuildCause(r.Build), m.all)
			continue
		}
		f, c := fault.New(0, 0, r.Reason), r.Circumstances.Circumstances
		tells := func() string { return f.TextIn(c) + "\n" + strings.Join(f.Reason.Advice(c), "\n") }
		says(t, m.name+": a match", tells(), m.all, m.local, m.match)
		c.Fixed = true
		message := tells()
		says(t, m.name+": the message", message, m.all, m.message)
		forAuthors(t, message)
	}
}

// says requires a text to have all of some words.
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

// forAuthors requires a message about a submission to suggest nothing that its author cannot do.
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
