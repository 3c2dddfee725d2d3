package main

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
	"github.com/timba-arena/timba/web/client"
)

// badValues are values that hardly any flag or argument takes.
var badValues = []string{
	"", "0", "-1", "7.5", "nonsense", "a=b", "--", "9223372036854775807", "-9223372036854775809", "100000000000000000000000",
	strings.Repeat("9", 1_000_000), "\xff\xfe", "a\xffb", "red\x1b[31m", "line\nbreak", "\u202eright", "/dev/null/x", ".",
}

// unknownFlags are no flags of any command.
var unknownFlags = []string{"--no-such-flag", "--no-such-flag=1", "-Z", "--=", "---x", "--\xff", "-\xff", "--" + strings.Repeat("x", 1_000_000)}

// goodValues has a value for each word in the usage lines. A new word needs one here.
var goodValues = map[string]string{
	"GAME": "teeko", "LADDER|GAME": "teeko", "LADDER": "tiny", "BOT": "@first", "BOT[@N]": "@first@1", "N": "1", "ID": "999999", "NAME": "ada",
	"NAME[:KEY=VALUE,...]": "greedy:noise=5", "LANGUAGE": "bash", "DIR": "new", "DIR|FILE": "mybot", "FILE": "game.json",
	"FILE|DIRECTORY": "game.json", "DIRECTORY|FILE": "game.json", "URL": "http://127.0.0.1:1", "STAGE": "build", "command": "match",
	"COMMAND": "true", "ARG": "x", "EXPERIMENT": "teeko-5",
}

// needed are the flags without which a command does nothing, and those that keep it short. $DATA
// is the data directory of the server.
var needed = map[string][]string{
	"timba admin backup":        {"--data", "$DATA"},
	"timba admin verify":        {"--data", "$DATA"},
	"timba admin token":         {"--data", "$DATA"},
	"timba serve":               {"--data", "arena", "--listen", "127.0.0.1:0"},
	"timba replay feed":         {"--seat", "0"},
	"timba match":               {"--deals", "1"},
	"timba check":               {"--quick"},
	"timba connect":             {"--bot", "ada"},
	"timba bench fleet":         {"--workers", "1", "--versions", "2", "--ladders", "none", "--time", "1s"},
	"timba bench ladder":        {"--bots", "5", "--matches", "5", "--runs", "1"},
	"timba bench openings":      {"--deals", "2"},
	"timba bench duplicates":    {"--deals", "2"},
	"timba bench":               {"--time", "1ms"},
	"timba bench sandbox":       {"--time", "1ms"},
	"timba bench remote":        {"--bots", "2"},
	"timba train data":          {"--each", "1"},
	"timba train rl":            {"--episodes", "64"},
	"timba train ga":            {"--generations", "1", "--population", "4", "--best", "2", "--games", "2", "--final", "0"},
	"timba train net":           {"--generations", "1", "--games", "2", "--layers", "4"},
	"timba train sl":            {"--data", "data", "--games", "16", "--epochs", "1"},
	"timba admin worker add":    {"--data", "$DATA"},
	"timba admin worker list":   {"--data", "$DATA"},
	"timba admin worker remove": {"--data", "$DATA"},
	"timba worker":              {"--nats", "nats://127.0.0.1:1", "--creds", "game.json", "--data", "worker"},
	"timba admin rerate":        {"--data", "$DATA"},
	"timba admin storage":       {"--data", "$DATA"},
}

// unstarted are the commands that only check their usage here, as their context has ended before
// they begin: they would serve or measure for longer than a test has. Other tests start them.
var unstarted = []string{
	"timba serve", "timba worker", "timba demo", "timba doctor",
	"timba bench", "timba bench duplicates", "timba bench env", "timba bench fair", "timba bench watchers", "timba bench site", "timba bench fleet", "timba bench ladder", "timba bench openings", "timba bench sandbox", "timba bench remote",
}

// forbidden are patterns that no message has: they are words of libraries, not of timba.
var forbidden = map[string]*regexp.Regexp{
	"Go's name of a type or function":     regexp.MustCompile(`\b[a-z]\w*\.[A-Z][a-z]\w*`),
	"Go's text of a value":                regexp.MustCompile(`%!|<nil>|&\{|map\[|\[\]string|\b0x[0-9a-f]{6,}|\bNaN\b`),
	"Go's text of a list":                 regexp.MustCompile(`\[[a-z-]+( [a-z-]+)+\]|\[\]`),
	"a stack":                             regexp.MustCompile(`goroutine \d|panic|runtime error|\.go:\d`),
	"the name of a package":               regexp.MustCompile(`(?m)(^|[:(] )(timba: )?(strconv|strings|json|toml|yaml|sqlite|SQL|pflag|cobra|flag|url|hex|gzip|zip|tar|exec|csv|http2?|tls|x509|os|io|fs|net|time|bufio|parse): `),
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

// walk runs command lines in this process.
type walk struct {
	t     *testing.T
	data  string // of the server
	bare  bool   // in an empty directory, without a server
	root  string // of the directories
	dir   string // the current directory
	seen  map[string]bool
	tried map[string]bool // the parsers that have had bad values
	next  int             // which bad value comes next
	count int
}

// TestWalk runs every command with missing, surplus, unknown, empty, wrong and huge flags and
// arguments, in an empty directory and in one with a bot, a replay and a server. Each bad value
// comes to every type of flag and every argument, and some come to every flag; in soak all come to
// every flag. No command panics or goes on after its context has ended, and every message is in timba's
// words.
func TestWalk(t *testing.T) {
	a := newArena(t, "[limits]\ntime = 10080\nrequests = 1000000\nanonymous = 1000000\n[[ladder]]\nname = \"tiny\"\ngame = \"teeko\"\ndeals = 1\nclock = {movetime = 60000}\nhouse = [\"@random\"]\n")
	s := a.serve(t, "--workers", "1")
	made := t.TempDir()
	world(t, made)
	commands := allCommands(newRoot())
	checkTables(t, commands)
	for _, bare := range []bool{true, false} {
		t.Run(map[bool]string{true: "empty", false: "world"}[bare], func(t *testing.T) {
			w := &walk{t: t, data: a.dir, bare: bare, root: t.TempDir(), seen: map[string]bool{}, tried: map[string]bool{}}
			if !bare {
				t.Setenv(client.EnvURL, s.url)
				t.Setenv(client.EnvToken, s.token)
			}
			for i, c := range commands {
				w.enter(fmt.Sprint(i), made)
				w.command(c)
			}
			t.Logf("%d command lines, %d messages", w.count, len(w.seen))
		})
	}
	if strings.Contains(s.log(), "msg=panic") {
		t.Errorf("the server panicked:\n%s", s.log())
	}
}

// world makes the files that commands are run with: a bot, a replay, a tournament.
func world(t *testing.T, dir string) {
	t.Helper()
	t.Chdir(dir)
	for _, line := range []string{"init bash mybot", "match teeko @first @random --deals 1 --seed 1 --out replays"} {
		var out bytes.Buffer
		if status := cli.Run(newRoot(), strings.Fields(line), strings.NewReader(""), &out, &out); status != cli.ExitGood {
			t.Fatalf("timba %s: status %d\n%s", line, status, out.String())
		}
	}
	data := kit.Get[[]byte](t)(os.ReadFile("replays/games/0000-00000-0.json"))
	kit.Must(t, os.WriteFile("game.json", data, 0o600))
}

// allCommands returns a command and those below it.
func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		all = append(all, allCommands(sub)...)
	}
	return all
}

// checkTables requires every word of a usage line to have a value, and every entry of the tables
// to be of use.
func checkTables(t *testing.T, commands []*cobra.Command) {
	t.Helper()
	words, paths := map[string]bool{}, map[string]bool{}
	for _, c := range commands {
		paths[c.CommandPath()] = true
		for _, a := range arguments(c.Use) {
			words[a] = true
			if goodValues[a] == "" {
				t.Errorf("%s: the table goodValues has no value for %s", c.CommandPath(), a)
			}
		}
	}
	for word := range goodValues {
		if !words[word] {
			t.Errorf("goodValues: no usage line has the word %s", word)
		}
	}
	for path := range needed {
		if !paths[path] {
			t.Errorf("needed: there is no command %s", path)
		}
	}
	for _, path := range unstarted {
		if !paths[path] {
			t.Errorf("unstarted: there is no command %s", path)
		}
	}
}

// enter makes a new directory, which is also the home of what runs in it.
func (w *walk) enter(name, made string) {
	w.dir = filepath.Join(w.root, name)
	err := os.Mkdir(w.dir, 0o755)
	if err == nil && !w.bare {
		err = os.CopyFS(w.dir, os.DirFS(made))
	}
	kit.Must(w.t, err)
	w.t.Chdir(w.dir)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		w.t.Setenv(name, w.dir)
	}
}

// command runs one command in all ways.
func (w *walk) command(c *cobra.Command) {
	path := strings.Fields(c.CommandPath())[1:]
	var good []string
	words := arguments(c.Use)
	for _, a := range words {
		good = append(good, goodValues[a])
	}
	var flags []string
	for _, f := range needed[c.CommandPath()] {
		flags = append(flags, strings.ReplaceAll(f, "$DATA", w.data))
	}
	line := func(args, more []string) []string {
		if strings.Contains(c.Use, "COMMAND") { // what follows it is not timba's
			return slices.Concat(path, flags, more, args)
		}
		return slices.Concat(path, args, flags, more)
	}
	start := !slices.Contains(unstarted, c.CommandPath())
	w.run(line(good, nil), start)
	w.run(line(nil, nil), false)
	w.run(line(append(slices.Clone(good), "surplus", "more"), nil), false)
	for i := range words {
		w.run(line(slices.Delete(slices.Clone(good), i, i+1), nil), false)
	}
	if w.bare {
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

// bad returns so many values for a parser that has had none, and so many for another, by turns; in
// soak it returns all.
func (w *walk) bad(parser string, values []string, first, later int) (some []string) {
	n := later
	if !w.tried[parser] {
		n = first
	}
	if kit.Soak {
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
func (w *walk) run(args []string, start bool) {
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
				w.t.Errorf("%s panics: %v\n%s", commandText(args), p, debug.Stack())
			}
			close(ended)
		}()
		status = cli.RunUntil(ctx, newRoot(), args, strings.NewReader(""), stdout, stderr)
	}()
	kit.Wait(w.t, commandText(args)+" ends with its context", ended)
	w.judge(args, status, stdout.String(), stderr.String())
}

// commandText returns a command line as people can read it.
func commandText(args []string) string {
	var words []string
	for _, a := range args {
		if len(a) > 60 {
			a = fmt.Sprintf("%s...(%d)", a[:20], len(a))
		}
		words = append(words, fmt.Sprintf("%q", a))
	}
	return "timba " + strings.Join(words, " ")
}

// judge looks at the outcome of a command.
func (w *walk) judge(args []string, status int, stdout, stderr string) {
	w.t.Helper()
	text := strings.NewReplacer(w.dir, "$HOME", filepath.Dir(w.data), "$DATA").Replace(stderr)
	w.seen[text] = true
	switch {
	case status < cli.ExitGood || status > cli.ExitNoVerdict:
		w.t.Errorf("%s: status %d\n%s", commandText(args), status, text)
	case status == cli.ExitError && !strings.Contains(text, "timba: "):
		w.t.Errorf("%s: status %d without a message:\n%s", commandText(args), status, text)
	case len(text) > 4000 || !utf8.ValidString(text):
		w.t.Errorf("%s: a message of %d bytes, UTF-8: %t", commandText(args), len(text), utf8.ValidString(text))
	}
	for what, pattern := range forbidden {
		if what == "an escape that nobody has explained" && (strings.Contains(text, "stand for what cannot be shown") || strings.Contains(text, "$'")) {
			continue
		}
		if found := pattern.FindString(text); found != "" {
			w.t.Errorf("%s: the message has %s, %q:\n%.600s", commandText(args), what, found, text)
		}
	}
	if found := forbidden["Go's text of a value"].FindString(stdout); found != "" {
		w.t.Errorf("%s: the output has %q", commandText(args), found)
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
