package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
)

// notRun are the command lines of the documentation that this test does not run, by their beginning, with the
// reason.
var notRun = map[string]string{
	"curl ":               "web/api: TestDocumentation runs them",
	"timba connect ":      "web/remote plays with real remote bots",
	"mkdir arena ":        "TestYourOwnGame runs this and the next lines of docs/your-own-game.md",
	"go mod ":             "likewise",
	"go work ":            "likewise",
	"cp -r ../timba/":     "likewise",
	"arena ":              "likewise",
	"go test ":            "they are tests",
	"script/soak ":        "they are tests",
	"script/build":        "the test binary is timba",
	"timba admin rerate ": "a server runs on the directory; testdata/script/demo.txt runs it",
	"timba demo":          "testdata/script/demo.txt runs the demo",
	"script/test":         "it runs this test",
	"make ":               "it runs this test",
	"git clone ":          "it needs the network",
	"go build ":           "the test binary is timba",
	"gdb ":                "a debugger waits for a person",
	"(gdb) ":              "a debugger waits for a person",
	"timba worker ":       "TestWorker runs a worker of a server",
	"timba serve --data /var/lib/timba --domain ":           "web/server: TestCertificate obtains certificates",
	"timba serve --data /var/lib/timba --nats ":             "ladder/cluster TestGuests and TestServeNats run a NATS cluster",
	"timba admin worker add lab-2 --creds ":                 "TestServeNats makes such credentials",
	"timba login $URL":                                      "TestCompetition runs these commands of docs/writing-a-bot.md",
	"timba replay feed game.json --seat 0 > game.in && gdb": "a debugger waits for a person",
}

// rewritten are rules that change command lines for the world of the test: shorter runs, or other addresses.
var rewritten = append(clitest.Shorter, []clitest.Rule{
	{Pattern: regexp.MustCompile(`(match .*)--deals \d+`), Replacement: "$1--deals 3"},
	{Pattern: regexp.MustCompile(`(match .*)--deals 3 --sprt`), Replacement: "$1--deals 30 --sprt"},
	{Pattern: regexp.MustCompile(`(match podrida .*)--deals 3`), Replacement: "$1--deals 1"},
	{Pattern: regexp.MustCompile(`(match tute .* --out replays)$`), Replacement: "$1 --seed 1"}, // a deal can win at once, and an opening needs moves
	{Pattern: regexp.MustCompile(`(match teeko .* ./old)$`), Replacement: "$1 --deals 3"},
	{Pattern: regexp.MustCompile(`(--resume \S+ --deals) 3`), Replacement: "$1 12"},
	{Pattern: regexp.MustCompile(`((?:check|match) .*--movetime) 100\b`), Replacement: "$1 60000"}, // the machine is busy with other tests
	{Pattern: regexp.MustCompile(` movetime=50\b`), Replacement: " movetime=60000"},
	{Pattern: regexp.MustCompile(`/var/lib/timba`), Replacement: "$$DATA"},
	{Pattern: regexp.MustCompile(`/etc/timba\.toml`), Replacement: "$$DATA/timba.toml"},
	{Pattern: regexp.MustCompile(`0\.0\.0\.0:4222`), Replacement: "127.0.0.1:0"},
	{Pattern: regexp.MustCompile(`/backup/`), Replacement: "backup-"},
	{Pattern: regexp.MustCompile(`https?://(127\.0\.0\.1:8080|localhost:8080|timba\.example\.org)`), Replacement: "$$TIMBA_ADDRESS"},
	{Pattern: regexp.MustCompile(`--invite CODE --name ada`), Replacement: "--invite $$CODE --name eva"},
	{Pattern: regexp.MustCompile(`--game 1234`), Replacement: "--game $$GAME"},
	{Pattern: regexp.MustCompile(`--match 77`), Replacement: "--match $$MATCH"},
	{Pattern: regexp.MustCompile(`matches 1234`), Replacement: "matches $$MATCH"},
}...)

// otherwise are the lines with an exit status other than 0, and what they print.
var otherwise = map[string]struct {
	status int
	text   string
}{
	"timba match tebes ./new ./old --deals 10000 --sprt elo0=0,elo1=10":                           {cli.ExitNoVerdict, "no verdict"},
	"timba match tebes ./new ./old @greedy --format gauntlet --deals 10000 --sprt elo0=0,elo1=10": {cli.ExitNoVerdict, "no verdict"},
	"timba replay scores replays":                                                       {cli.ExitError, "no game has scores"},
	"timba replay scores replays --plies 5 --scores 0.9,0.95,0.99":                      {cli.ExitError, "no game has scores"},
	"timba match brisca mybot mybot-old --deals 10000 --sprt elo0=0,elo1=10 --out test": {cli.ExitNoVerdict, "no verdict"},
	"timba bots cancel mybot":                                                           {cli.ExitError, "already"},
}

// library is the environment in which the documented commands run: a server with an account, and directories
// with bots and replays.
type library struct {
	a        *arena
	env      []string
	admin    string
	template string
	shared   sync.Mutex // the server, and the account on it
	models   sync.Mutex // the directory of models, which one experiment uses
}

// TestDocumentedCommands runs every command line in the pages and in --help. Pages run at the same time,
// except for the lines that use the server.
func TestDocumentedCommands(t *testing.T) { // not parallel: its server plays until the last page is done
	kit.Slow(t)
	lines := linesToRun(t)
	kit.Needs(t, "python3")
	l := newLibrary(t)
	pages, ran := map[string][]clitest.Example{}, map[string]bool{}
	for _, d := range lines {
		if line := rewrite(d.Line, nil); long.MatchString(line) {
			if ran[line] {
				continue
			}
			ran[line] = true
		}
		pages[d.Source] = append(pages[d.Source], d)
	}
	t.Run("pages", func(t *testing.T) { // they end before the server
		for where, lines := range pages {
			t.Run(where, func(t *testing.T) {
				t.Parallel()
				dir := l.room(t)
				for _, d := range lines {
					l.run(t, d, dir)
				}
			})
		}
	})
}

// long matches lines that take long and do the same on every page. They run once.
var long = regexp.MustCompile(`^timba(-lab experiment| check mybot$| submit mybot$| doctor)`)

// ofServer are the commands that use a server. The pages share one server and an account.
var ofServer = []string{"login", "logout", "submit", "connect", "bots", "standings", "matches", "logs", "messages", "replays", "tokens", "admin"}

// TestDocumentedUsage requires every command in the pages and in --help to exist, with its flags.
func TestDocumentedUsage(t *testing.T) {
	t.Parallel()
	linesToRun(t)
	clitest.CheckUsage(t, newRoot, 100)
	clitest.CheckText(t, newRoot, 50)
}

// TestExitStatuses checks that docs/matches.md and --help describe the exit statuses in the same words.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	rows := ""
	for status, meaning := range cli.Statuses {
		rows += fmt.Sprintf("| %d | %s |\n", status, meaning)
	}
	if text := string(kit.Get[[]byte](t)(os.ReadFile("../../../docs/matches.md"))); !strings.Contains(text, rows) {
		t.Errorf("docs/matches.md does not have the exit statuses:\n%s", rows)
	}
	root := newRoot()
	for _, cmd := range []*cobra.Command{root, kit.Get[*cobra.Command](t)(find(root, "match"))} {
		if !strings.HasSuffix(cmd.Long, cli.StatusHelp()) {
			t.Errorf("%s --help does not have the exit statuses", cmd.CommandPath())
		}
	}
}

func find(root *cobra.Command, name string) (*cobra.Command, error) {
	cmd, _, err := root.Find([]string{name})
	return cmd, err
}

// linesToRun returns the command lines to run, and checks that each entry of the tables above is used.
func linesToRun(t *testing.T) (run []clitest.Example) {
	t.Helper()
	lines := clitest.Lines(t, newRoot)
	if len(lines) < 100 {
		t.Fatalf("%d command lines", len(lines))
	}
	used := map[string]bool{}
	for _, d := range lines {
		skip := ""
		for start := range notRun {
			if strings.HasPrefix(d.Line, start) && len(start) > len(skip) {
				skip = start
			}
		}
		used[skip] = true
		if skip == "" {
			run = append(run, d)
		}
	}
	for start := range notRun {
		if !used[start] {
			t.Errorf("notRun: no command line begins with %q", start)
		}
	}
	for line := range otherwise {
		if !slices.ContainsFunc(run, func(d clitest.Example) bool { return d.Line == line }) {
			t.Errorf("otherwise: there is no command line %q", line)
		}
	}
	for _, r := range rewritten {
		if !slices.ContainsFunc(run, func(d clitest.Example) bool { return r.Pattern.MatchString(rewrite(d.Line, r.Pattern)) }) {
			t.Errorf("rewritten: no command line has %s", r.Pattern)
		}
	}
	return run
}

// rewrite returns a command line as it is run. It omits the rules starting with the one whose pattern is
// before; if before is nil, it applies all rules.
func rewrite(line string, before *regexp.Regexp) string {
	for _, r := range rewritten {
		if r.Pattern == before {
			break
		}
		line = r.Pattern.ReplaceAllString(line, r.Replacement)
	}
	return line
}

// newLibrary starts a server and makes the directories.
func newLibrary(t *testing.T) *library {
	t.Helper()
	var config strings.Builder
	config.WriteString("[limits]\nrequests = 200000\nversions = 100\ntime = \"168h\"\n")
	for _, l := range []string{"name = \"brisca-2\"\ngame = \"brisca\"", "name = \"tebes-4\"\ngame = \"tebes\"\noptions = {size = \"4\"}", "name = \"teeko\"\ngame = \"teeko\""} {
		fmt.Fprintf(&config, "[[ladder]]\n%s\ndeals = 1\nclock = {movetime = 60000, startup = 60000}\nhouse = [\"@random\", \"@greedy\"]\n", l)
	}
	l := &library{a: newArena(t, config.String()), template: t.TempDir()}
	l.a.program = undetected(t)
	binaries.Program(t, "timba-lab") // in the same directory
	s := l.a.serve(t, "--workers", "1")
	l.admin = s.token
	var codes []string
	for range 4 { // of which an example revokes the third
		said := strings.Fields(l.a.timba(t, "", "admin", "invite", "--data", l.a.dir)) // how to join, and the code
		codes = append(codes, said[len(said)-1])
	}
	l.a.timba(t, "", "login", s.url, "--invite", codes[0], "--name", "ada")
	l.env = append(os.Environ(), "PATH="+strings.Join([]string{filepath.Dir(l.a.program), filepath.Dir(binaries.Program(t, "timba-lab")), os.Getenv("PATH")}, ":"), "CODE="+codes[1], "HOME="+l.a.home, "XDG_CONFIG_HOME="+l.a.home, "XDG_CACHE_HOME="+filepath.Join(l.template, ".cache"),
		"DATA="+l.a.dir, "TIMBA_ADDRESS="+s.url)
	l.sh(t, l.template, strings.Join([]string{
		"timba init python mybot", "timba init python new", "timba init bash old", "timba init bash mybot-old",
		"cp mybot/bot.py bot.py", "(echo '#!/usr/bin/env python3'; cat bot.py) > bot", "chmod +x bot",
		"timba match brisca --movetime 60000 'python3 " + faulty + "' @random --deals 3 --seed 1 --out replays || test $? = 1",
		"cp -r replays games", "cp replays/games/0000-00000-0.json game.json",
		"timba tokens add --scope all > token.txt",
		"python3 -m zipfile -c mybot.zip mybot/*",
		"timba submit mybot", "for n in 2 3; do echo \"# $n\" >> mybot/bot.py; timba submit mybot; done", "timba matches ask brisca-2 mybot @greedy --watch --json > match.json || timba matches ask brisca-2 mybot @greedy --json > match.json",
	}, "\n"))
	var match struct{ ID int64 }
	data, err := os.ReadFile(filepath.Join(l.template, "match.json"))
	if err == nil {
		err = json.Unmarshal(data, &match)
	}
	if err != nil {
		t.Fatal(err, string(data))
	}
	var games struct {
		Games []struct{ ID int64 }
	}
	out := l.a.timba(t, "", "matches", fmt.Sprint(match.ID), "--games", "--json")
	if err := json.Unmarshal([]byte(out), &games); err != nil || len(games.Games) == 0 {
		t.Fatal(err, out)
	}
	l.env = append(l.env, fmt.Sprintf("MATCH=%d", match.ID), fmt.Sprintf("GAME=%d", games.Games[0].ID))
	return l
}

// faulty is a bot that ends in the middle of each game.
const faulty = `-c "
import sys
n = 0
for line in sys.stdin:
    words = line.split()
    if words[0] == \"timba\": print(\"ready\", flush=True)
    if words[0] == \"turn\":
        n += 1
        if n == 9: sys.exit(1)
        print(\"move\", words[3], flush=True)
"`

// sh runs commands that must succeed.
func (l *library) sh(t *testing.T, dir, script string) {
	t.Helper()
	if out, status := l.shell(t, dir, "set -ex\n"+script, ""); status != 0 {
		t.Fatalf("status %d:\n%s", status, out)
	}
}

func (l *library) shell(t *testing.T, dir, script, stdin string, env ...string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(slices.Clone(l.env), env...)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

// room makes the directory in which the lines of one page or command run.
func (l *library) room(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(l.template)); err != nil {
		t.Fatal(err)
	}
	l.sh(t, dir, "chmod +x bot")
	return dir
}

// clocked matches the commands whose bots have a second for each move.
var clocked = regexp.MustCompile(`^timba (match|check)\b`)

var makes = regexp.MustCompile(`init \w+ (\S+)|match .*--out (\S+)`)

// run runs one command line.
func (l *library) run(t *testing.T, d clitest.Example, dir string) {
	t.Helper()
	line := rewrite(d.Line, nil)
	if slices.ContainsFunc(clitest.Words("timba", d.Line), func(words []string) bool { return slices.Contains(ofServer, words[0]) }) {
		l.shared.Lock()
		defer l.shared.Unlock()
	}
	if strings.Contains(line, "experiment thesis") {
		l.models.Lock()
		defer l.models.Unlock()
	}
	if m := makes.FindStringSubmatch(line); m != nil {
		l.sh(t, dir, "rm -rf "+m[1]+m[2])
	}
	var env []string
	stdin := "quit\n"
	switch {
	case strings.HasPrefix(line, "timba admin worker remove "):
		line = strings.Replace(line, "remove", "add", 1) + " && " + line
	case strings.HasPrefix(line, "timba admin ban mybot "):
		env = []string{"TIMBA_URL=" + l.value("TIMBA_ADDRESS"), "TIMBA_TOKEN=" + l.admin}
		line += " && timba admin unban mybot && timba bots restore mybot" // other lines need it
	case strings.HasPrefix(line, "timba admin "):
		env = []string{"TIMBA_URL=" + l.value("TIMBA_ADDRESS"), "TIMBA_TOKEN=" + l.admin}
	case strings.HasPrefix(line, "timba login "):
		env = []string{"XDG_CONFIG_HOME=" + filepath.Join(dir, ".config")}
		l.sh(t, dir, "timba tokens add --scope all > token.txt") // an example revokes another
		token, err := os.ReadFile(filepath.Join(dir, "token.txt"))
		if err != nil {
			t.Fatal(err)
		}
		stdin = string(token)
	case strings.HasPrefix(line, "timba submit "):
		l.sh(t, dir, fmt.Sprintf("if test -d mybot; then echo '# %s' >> mybot/bot.py; python3 -m zipfile -c mybot.zip mybot/*; fi", d.Source+line))
	case line == "timba bots cancel mybot":
		l.sh(t, dir, "echo '# to be cancelled' >> mybot/bot.py && timba submit mybot")
	case line == "timba bots restore mybot":
		line = "timba bots withdraw mybot && " + line
	case line == "timba bots use mybot 3":
		line = "timba bots use mybot 1 && " + line
	case line == "timba bots withdraw mybot":
		line += " && timba bots restore mybot"
	case strings.HasPrefix(line, "timba-lab env --listen "):
		line = "timeout -s INT 2 " + line + "; s=$?; test $s = 124"
	case strings.HasPrefix(line, "timba serve ") && strings.HasSuffix(line, " --check"):
	case strings.HasPrefix(line, "timba serve "):
		l.serves(t, dir, regexp.MustCompile(` --listen \S+`).ReplaceAllString(strings.ReplaceAll(line, "$DATA", "served"), "")+" --listen 127.0.0.1:0")
		return
	}
	if !strings.Contains(line, "--movetime") && !strings.Contains(line, "--resume") {
		line = clocked.ReplaceAllString(line, "$0 --movetime 60000") // as above
	}
	want := otherwise[d.Line]
	if strings.HasSuffix(d.Line, "sha256sum") {
		want.text = d.Output
	}
	out, status := l.shell(t, dir, line, stdin, env...)
	if strings.Contains(line, "--watch=false") { // other lines need the bot
		until(t, "the version is through", func() bool {
			list, _ := l.shell(t, dir, "timba bots mybot --json", "")
			return !regexp.MustCompile(`"state": ?"(queued|building|checking|trial)"`).MatchString(list)
		})
	}
	if status != want.status || !strings.Contains(out, want.text) {
		t.Errorf("%s: %s\n(run as %s): status %d, want %d and %q\n%s", d.Source, d.Line, line, status, want.status, want.text, out)
	}
}

// serves runs a command line that starts a server, and ends it with Ctrl-C once it serves.
func (l *library) serves(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command(l.a.program, clitest.Words("timba", line)[0]...)
	cmd.Dir, cmd.Env = dir, l.env
	var said kit.Output
	cmd.Stdout, cmd.Stderr = &said, &said
	kit.Must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	until(t, line+" serves", func() bool {
		select {
		case <-ended:
			t.Fatalf("%s: %v\n%s", line, cmd.ProcessState, said.String())
		default:
		}
		return strings.Contains(said.String(), " on http://")
	})
	kit.Must(t, cmd.Process.Signal(os.Interrupt))
	kit.Wait(t, line+" ends", ended)
	if !cmd.ProcessState.Success() {
		t.Errorf("%s: %v\n%s", line, cmd.ProcessState, said.String())
	}
}

// value returns the value of an environment variable.
func (l *library) value(name string) string {
	for _, v := range l.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
