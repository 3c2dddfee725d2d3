// Package clitest has the tests that the programs timba and timba-lab share: Walk runs all commands with bad
// arguments, CheckUsage and CheckText check the commands in the documentation, and Scripts runs test scripts.
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

// badValues are values of flags and arguments that almost no command accepts.
var badValues = []string{
	"", "0", "-1", "7.5", "nonsense", "a=b", "--", "9223372036854775807", "-9223372036854775809", "100000000000000000000000",
	strings.Repeat("9", 1_000_000), "\xff\xfe", "a\xffb", "red\x1b[31m", "line\nbreak", "\u202eright", "/dev/null/x", ".",
}

// unknownFlags are not flags of any command.
var unknownFlags = []string{"--no-such-flag", "--no-such-flag=1", "-Z", "--=", "---x", "--\xff", "-\xff", "--" + strings.Repeat("x", 1_000_000)}

// forbidden has patterns of texts that come from libraries, and which no message to a user may contain. The key says
// what a pattern finds.
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
// arguments. It passes each bad value to every type of flag and to every argument, and some bad values to
// every flag. It requires that no command panics or continues after its context has ended, and that every
// message is in timba's words.
type Walk struct {
	New func() *cobra.Command
	// GoodValues has a valid value for each placeholder in the usage lines of the program, and no other keys.
	GoodValues map[string]string
	// RequiredFlags has, for each command, the flags without which it does nothing, and flags that make it end soon.
	// In their values, $DATA stands for the field Data.
	RequiredFlags map[string][]string
	// UsageOnly are commands that would run for longer than a test may take. Run calls them with a context that has
	// ended, so that they only check their usage. Other tests really start them.
	UsageOnly []string
	Data      string // directory with the data of a competition; may be empty
	// All makes Run try every bad value with every flag and argument. Without All, Run tries only one or two bad
	// values with a flag or an argument of a type that it has seen before.
	All bool

	t           *testing.T
	dir         string          // current directory
	usedParsers map[string]bool // types of flags and arguments that have had bad values
	next        int             // index of the next bad value
}

// Run runs each command of the program with the good and bad arguments that Walk describes, and checks the outcomes.
// Each command runs in a new directory with copies of the files in the directory source.
func (w *Walk) Run(t *testing.T, source string) {
	w.t, w.usedParsers = t, map[string]bool{}
	words := map[string]bool{}
	for _, c := range Commands(w.New()) {
		w.dir = t.TempDir()
		kit.Must(t, os.CopyFS(w.dir, os.DirFS(source)))
		t.Chdir(w.dir)
		for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
			t.Setenv(name, w.dir)
		}
		for _, a := range arguments(c.Use) {
			words[a] = true
			if w.GoodValues[a] == "" {
				t.Errorf("%s: GoodValues has no value for %s", c.CommandPath(), a)
			}
		}
		w.command(c)
	}
	for word := range w.GoodValues {
		if !words[word] {
			t.Errorf("GoodValues: no usage line has the word %s", word)
		}
	}
}

// Make runs command lines of a program in the directory dir, to create files there. The test fails unless all of them
// succeed. newRoot returns the top command of the program.
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

// Commands returns c and all its direct and indirect subcommands.
func Commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, Commands(sub)...)
	}
	return all
}

func (w *Walk) command(c *cobra.Command) {
	path := strings.Fields(c.CommandPath())[1:]
	var good, flags []string
	words := arguments(c.Use)
	for _, a := range words {
		good = append(good, w.GoodValues[a])
	}
	for _, f := range w.RequiredFlags[c.CommandPath()] {
		flags = append(flags, strings.ReplaceAll(f, "$DATA", w.Data))
	}
	line := func(args []string, more ...string) []string {
		if strings.Contains(c.Use, "COMMAND") { // the arguments after COMMAND belong to another program
			return slices.Concat(path, flags, more, args)
		}
		return slices.Concat(path, args, flags, more)
	}
	start := !slices.Contains(w.UsageOnly, c.CommandPath())
	w.run(line(good), start)
	w.run(line(nil), false)
	w.run(slices.Concat(path, good), false)
	w.run(line(append(slices.Clone(good), "surplus", "more")), false)
	for i, a := range words {
		w.run(line(slices.Delete(slices.Clone(good), i, i+1)), false)
		for _, bad := range w.nextValues("argument "+a, badValues, len(badValues), 2) {
			args := slices.Clone(good)
			args[i] = bad
			w.run(line(args), start)
		}
	}
	for _, unknown := range w.nextValues("unknown flag", unknownFlags, len(unknownFlags), 2) {
		w.run(line(good, unknown), false)
	}
	visit := func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		if f.NoOptDefVal == "" {
			w.run(line(good, "--"+f.Name), false)
		}
		parser, first := fmt.Sprintf("%T %s", f.Value, f.Value.Type()), len(badValues)
		if f.Value.Type() == "string" { // its parser depends on the command
			parser, first = parser+" "+f.Name, 4
		}
		for _, bad := range w.nextValues(parser, badValues, first, 1) {
			w.run(line(good, "--"+f.Name+"="+bad), false)
		}
	}
	c.LocalFlags().VisitAll(visit)
	c.InheritedFlags().VisitAll(visit)
}

// nextValues returns the next few of values. It starts after the last value that the previous call returned, and
// after the end of values it starts over. parser is a name for the code that will parse the values. The first call
// with a parser returns newCount values, and each later call with that parser returns oldCount. If w.All is set,
// every call returns all values.
func (w *Walk) nextValues(parser string, values []string, newCount, oldCount int) (some []string) {
	n := oldCount
	if w.All {
		n = len(values)
	} else if !w.usedParsers[parser] {
		n = newCount
	}
	w.usedParsers[parser] = true
	for range n {
		some = append(some, values[w.next%len(values)])
		w.next++
	}
	return some
}

// output collects the output of a command, and ends the command's context when the first output arrives.
type output struct {
	kit.Output
	end context.CancelFunc
}

func (o *output) Write(p []byte) (int, error) {
	defer o.end()
	return o.Output.Write(p)
}

// run runs a command line and checks its exit status and messages. If start is true, the context of the command
// ends at its first output. Otherwise it has ended before the command starts, so that the command only checks its
// usage.
func (w *Walk) run(args []string, start bool) {
	w.t.Helper()
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
	w.checkOutcome(args, status, stdout.String(), stderr.String())
}

func (w *Walk) text(args []string) string {
	return fmt.Sprintf("%s %.60q", w.New().Name(), args)
}

func (w *Walk) checkOutcome(args []string, status int, stdout, stderr string) {
	w.t.Helper()
	text := strings.ReplaceAll(stderr, w.dir, "$HOME")
	if w.Data != "" {
		text = strings.ReplaceAll(text, filepath.Dir(w.Data), "$DATA")
	}
	switch {
	case status < cli.ExitGood || status > cli.ExitNoVerdict:
		w.t.Errorf("%s: status %d\n%s", w.text(args), status, text)
	case status == cli.ExitError && !strings.Contains(text, w.New().Name()+": "):
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
	if flag := uselessFlag(args, text); flag != "" {
		w.t.Errorf("%s: the message proposes %s, which is in use:\n%.600s", w.text(args), flag, text)
	}
	if found := forbidden["Go's text of a value"].FindString(stdout); found != "" {
		w.t.Errorf("%s: the output has %q", w.text(args), found)
	}
}

// proposedFlag matches a flag in the advice of a message. Its submatches are up to three words before it, and the flag.
var proposedFlag = regexp.MustCompile(`((?:[^\s,]+ ){0,3})(--[a-z][a-z-]*)`)

// leaveOrChange matches a word such as "leave" or "another" in the advice of a message. Before a flag, the word means
// that the user should leave out the flag or give it another value. uselessFlag does not report such a flag.
var leaveOrChange = regexp.MustCompile(`\b(another|leave|out|only)\b`)

// programName matches the name of a program, timba or timba-lab, with which a command in a message begins.
var programName = regexp.MustCompile(`timba(-lab)? `)

// uselessFlag returns the first flag that the advice in message proposes although args already has it, or "" if there
// is none. The advice of a line is the text after its last ": ", up to the name of a program (timba or timba-lab).
// uselessFlag skips a flag that args has as --flag=0, that the line names before the advice, with which the advice
// begins, or that the advice says to leave out or to change.
func uselessFlag(args []string, message string) string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i] // no flags follow
	}
	for line := range strings.Lines(message) {
		colon := strings.LastIndex(line, ": ") + 1
		advice := programName.Split(line[colon:], 2)[0]
		for _, m := range proposedFlag.FindAllStringSubmatch(advice, -1) {
			flag := m[2]
			isUsed := slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") && arg != flag+"=0" })
			if isUsed && !leaveOrChange.MatchString(m[1]) && !strings.Contains(line[:colon], flag) && !strings.HasPrefix(advice, " "+flag) {
				return flag
			}
		}
	}
	return ""
}

// arguments returns the names of the arguments in a command's usage line.
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
