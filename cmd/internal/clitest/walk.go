// Package clitest has what the tests of the programs timba and timba-lab share: Walk runs all commands
// wrongly, Pages are their documentation, and Scripts their sessions.
package clitest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
)

// badValues are values that hardly any flag or argument takes.
var badValues = []string{
	"", "0", "-1", "7.5", "nonsense", "a=b", "--", "9223372036854775807", "-9223372036854775809", "100000000000000000000000",
	strings.Repeat("9", 1_000_000), "\xff\xfe", "a\xffb", "red\x1b[31m", "line\nbreak", "\u202eright", "/dev/null/x", ".",
}

// unknownFlags are no flags of any command.
var unknownFlags = []string{"--no-such-flag", "--no-such-flag=1", "-Z", "--=", "---x", "--\xff", "-\xff", "--" + strings.Repeat("x", 1_000_000)}

// forbidden are patterns that no message has: they are words of libraries, not of timba.
var forbidden = map[string]*regexp.Regexp{
	"Go's name of a type or function":     regexp.MustCompile(`\b[a-z]\w*\.[A-Z][a-z]\w*`),
	"Go's text of a value":                regexp.MustCompile(`%!|<nil>|&\{|map\[|\[\]string|\b0x[0-9a-f]{6,}|\bNaN\b`),
	"Go's text of a list":                 regexp.MustCompile(`\[[a-z-]+( [a-z-]+)+\]|\[\]`),
	"a stack":                             regexp.MustCompile(`goroutine \d|panic|runtime error|\.go:\d`),
	"the name of a package":               regexp.MustCompile(`(?m)(^|[:(] )(timba(-lab)?: )?(strconv|strings|json|toml|yaml|sqlite|SQL|pflag|cobra|flag|url|hex|gzip|zip|tar|exec|csv|http2?|tls|x509|os|io|fs|net|time|bufio|parse): `),
	"a message of cobra":                  regexp.MustCompile(`arg\(s\)|unknown (flag|command|shorthand)|flag needs an argument|invalid argument "`),
	"a message of strconv":                regexp.MustCompile(`parsing "|invalid syntax|value out of range`),
	"a message of encoding/json":          regexp.MustCompile(`invalid character|unexpected end of JSON|unmarshal`),
	"a message of net":                    regexp.MustCompile(`\b(dial|lookup|listen) (tcp|udp)|missing port|too many colons|protocol scheme|no such host|first path segment`),
	"a message of context":                regexp.MustCompile(`context canceled|deadline exceeded`),
	"the name of a system call":           regexp.MustCompile(`\b(open|stat|lstat|mkdir|rename|read|write|unlinkat|readdirent|chdir|fork/exec|connect|bind|openat) [^ ]+: [a-z]`),
	"an error number's text":              regexp.MustCompile(`: (no such file or directory|file exists|not a directory|permission denied|invalid argument|file name too long|is a directory)`),
	"a temporary name":                    regexp.MustCompile(`[a-z]-\d{7,}|\.tmp\b`),
	"an unexpected end":                   regexp.MustCompile(`\bEOF\b`),
	"a control character":                 regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{202a}-\x{202e}]`),
	"an escape that nobody has explained": regexp.MustCompile(`\\x[0-9a-f]{2}`),
}

// Walk runs every command of a program with missing, surplus, unknown, empty, wrong and huge flags and
// arguments. Each bad value comes to every type of flag and every argument, and some come to every flag.
// No command panics or goes on after its context has ended, and every message is in timba's words.
type Walk struct {
	New func() *cobra.Command
	// Good has a value for each word in the usage lines, and no others.
	Good map[string]string
	// Needed are, by command, the flags without which it does nothing, and those that keep it short.
	// $DATA is the directory Data.
	Needed map[string][]string
	// Unstarted are the commands that only check their usage, as their context has ended before they
	// begin: they would serve or measure for longer than a test has. Other tests start them.
	Unstarted []string
	Data      string
	// All bad values come to every flag, as in soak.
	All bool
	// Bare walks leave out bad values, which are the same everywhere.
	Bare bool

	t     *testing.T
	name  string // of the program
	root  string // of the directories
	dir   string // the current directory
	seen  map[string]bool
	tried map[string]bool // the parsers that have had bad values
	next  int             // which bad value comes next
	count int
}

// Run walks. Each command has a directory of its own, with the files of made unless the walk is bare.
func (w *Walk) Run(t *testing.T, made string) {
	root := w.New()
	w.t, w.name, w.root, w.seen, w.tried = t, root.Name(), t.TempDir(), map[string]bool{}, map[string]bool{}
	commands := Commands(root)
	w.checkTables(commands)
	for i, c := range commands {
		w.enter(fmt.Sprint(i), made)
		w.command(c)
	}
	t.Logf("%d command lines, %d messages", w.count, len(w.seen))
}

// Make runs command lines that make files in a directory.
func Make(t *testing.T, newRoot func() *cobra.Command, dir string, lines ...string) {
	t.Helper()
	t.Chdir(dir)
	for _, line := range lines {
		var out bytes.Buffer
		if status := cli.Run(newRoot(), strings.Fields(line), strings.NewReader(""), &out, &out); status != cli.ExitGood {
			t.Fatalf("%s: status %d\n%s", line, status, out.String())
		}
	}
}

// Commands returns a command and those below it.
func Commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, Commands(sub)...)
	}
	return all
}

// checkTables requires every word of a usage line to have a value, and every entry of the tables
// to be of use.
func (w *Walk) checkTables(commands []*cobra.Command) {
	t := w.t
	words, paths := map[string]bool{}, map[string]bool{}
	for _, c := range commands {
		paths[c.CommandPath()] = true
		for _, a := range arguments(c.Use) {
			words[a] = true
			if w.Good[a] == "" {
				t.Errorf("%s: Good has no value for %s", c.CommandPath(), a)
			}
		}
	}
	for word := range w.Good {
		if !words[word] {
			t.Errorf("Good: no usage line has the word %s", word)
		}
	}
	for path := range w.Needed {
		if !paths[path] {
			t.Errorf("Needed: there is no command %s", path)
		}
	}
	for _, path := range w.Unstarted {
		if !paths[path] {
			t.Errorf("Unstarted: there is no command %s", path)
		}
	}
}

// enter makes a new directory, which is also the home of what runs in it.
func (w *Walk) enter(name, made string) {
	w.dir = filepath.Join(w.root, name)
	err := os.Mkdir(w.dir, 0o755)
	if err == nil && !w.Bare {
		err = os.CopyFS(w.dir, os.DirFS(made))
	}
	kit.Must(w.t, err)
	w.t.Chdir(w.dir)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		w.t.Setenv(name, w.dir)
	}
}

// command runs one command in all ways.
func (w *Walk) command(c *cobra.Command) {
	path := strings.Fields(c.CommandPath())[1:]
	var good []string
	words := arguments(c.Use)
	for _, a := range words {
		good = append(good, w.Good[a])
	}
	var flags []string
	for _, f := range w.Needed[c.CommandPath()] {
		flags = append(flags, strings.ReplaceAll(f, "$DATA", w.Data))
	}
	line := func(args, more []string) []string {
		if strings.Contains(c.Use, "COMMAND") { // what follows it is not the program's
			return slices.Concat(path, flags, more, args)
		}
		return slices.Concat(path, args, flags, more)
	}
	start := !slices.Contains(w.Unstarted, c.CommandPath())
	w.run(line(good, nil), start)
	w.run(line(nil, nil), false)
	w.run(line(append(slices.Clone(good), "surplus", "more"), nil), false)
	for i := range words {
		w.run(line(slices.Delete(slices.Clone(good), i, i+1), nil), false)
	}
	if w.Bare {
		return // a bad value is the same everywhere
	}
	w.run(slices.Concat(path, good), false)
	for i, a := range words {
		for _, bad := range w.bad("argument "+a, badValues, len(badValues), 2) {
			args := slices.Clone(good)
			args[i] = bad
			w.run(line(args, nil), start)
		}
	}
	for _, unknown := range w.bad("unknown flag", unknownFlags, len(unknownFlags), 2) {
		w.run(line(good, []string{unknown}), false)
	}
	all := pflag.NewFlagSet("all", pflag.ContinueOnError)
	all.AddFlagSet(c.LocalFlags())
	all.AddFlagSet(c.InheritedFlags())
	all.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		if f.NoOptDefVal == "" {
			w.run(line(good, []string{"--" + f.Name}), false)
		}
		parser, first := fmt.Sprintf("%T %s", f.Value, f.Value.Type()), len(badValues)
		if f.Value.Type() == "string" { // the command parses it, and there are many
			parser, first = parser+" "+f.Name, 4
		}
		for _, bad := range w.bad(parser, badValues, first, 1) {
			w.run(line(good, []string{"--" + f.Name + "=" + bad}), false)
		}
	})
}

// bad returns so many values for a parser that has had none, and so many for another, by turns, or all.
func (w *Walk) bad(parser string, values []string, first, later int) (some []string) {
	n := later
	if !w.tried[parser] {
		n = first
	}
	if w.All {
		n = len(values)
	}
	w.tried[parser] = true
	for range n {
		some = append(some, values[w.next%len(values)])
		w.next++
	}
	return some
}

// output is what a command writes. With its first bytes it ends the command's context.
type output struct {
	kit.Output
	end context.CancelFunc
}

func (o *output) Write(p []byte) (int, error) {
	defer o.end()
	return o.Output.Write(p)
}

// run runs a command line and looks at what it says. The context has ended before the command starts
// or, with start, ends when the command first says something.
func (w *Walk) run(args []string, start bool) {
	w.t.Helper()
	w.count++
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if !start {
		cancel()
	}
	stdout, stderr := &output{end: cancel}, &output{end: cancel}
	ended := make(chan struct{})
	status := -1
	go func() {
		defer func() {
			if p := recover(); p != nil {
				w.t.Errorf("%s panics: %v\n%s", w.text(args), p, debug.Stack())
			}
			close(ended)
		}()
		status = cli.RunUntil(ctx, w.New(), args, strings.NewReader(""), stdout, stderr)
	}()
	kit.Wait(w.t, w.text(args)+" ends with its context", ended)
	w.judge(args, status, stdout.String(), stderr.String())
}

// text returns a command line as people can read it.
func (w *Walk) text(args []string) string {
	var words []string
	for _, a := range args {
		if len(a) > 60 {
			a = fmt.Sprintf("%s...(%d)", a[:20], len(a))
		}
		words = append(words, fmt.Sprintf("%q", a))
	}
	return w.name + " " + strings.Join(words, " ")
}

// judge looks at the outcome of a command.
func (w *Walk) judge(args []string, status int, stdout, stderr string) {
	w.t.Helper()
	text := strings.ReplaceAll(stderr, w.dir, "$HOME")
	if w.Data != "" {
		text = strings.ReplaceAll(text, filepath.Dir(w.Data), "$DATA")
	}
	w.seen[text] = true
	switch {
	case status < cli.ExitGood || status > cli.ExitNoVerdict:
		w.t.Errorf("%s: status %d\n%s", w.text(args), status, text)
	case status == cli.ExitError && !strings.Contains(text, w.name+": "):
		w.t.Errorf("%s: status %d without a message:\n%s", w.text(args), status, text)
	case len(text) > 4000 || !utf8.ValidString(text):
		w.t.Errorf("%s: a message of %d bytes, UTF-8: %t", w.text(args), len(text), utf8.ValidString(text))
	}
	for what, pattern := range forbidden {
		if what == "an escape that nobody has explained" && (strings.Contains(text, "stand for what cannot be shown") || strings.Contains(text, "$'")) {
			continue
		}
		if found := pattern.FindString(text); found != "" {
			w.t.Errorf("%s: the message has %s, %q:\n%.600s", w.text(args), what, found, text)
		}
	}
	if found := forbidden["Go's text of a value"].FindString(stdout); found != "" {
		w.t.Errorf("%s: the output has %q", w.text(args), found)
	}
}

// arguments returns the arguments in the usage line of a command.
func arguments(use string) (names []string) {
	words := strings.Fields(use)
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--":
		case strings.HasPrefix(word, "--"):
			i++ // the value of a flag
		default:
			if inner, ok := strings.CutPrefix(word, "["); ok {
				word = strings.TrimSuffix(inner, "]")
			}
			names = append(names, strings.TrimSuffix(word, "..."))
		}
	}
	return names
}
