package submission

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/program"
)

const tebesOnly = "games = [\"tebes\"]\nrun = [\"sh\", \"bot.sh\"]\n"

// onSlow returns a script that runs do in a match on tebes-slow, which the bot plays in its trial after all checks.
func onSlow(do string) string { return `case $line in *" 60001 "*) ` + do + ` ;; esac` }

// A bot fails in the right stage, its owner is told why, and the version before it stays on the ladders.
func TestFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls, port := listen(t)
	outside := filepath.Join(t.TempDir(), "outside")
	kit.Must(t, os.Chmod(filepath.Dir(outside), 0o777))
	good := map[string]string{"timba.toml": "version = \"1.0\"\n" + tebesOnly, "bot.sh": shellBot("")}
	first, stages := w.runStages(w.add("fighter", fileTree(t, good)))
	if first.State != ladder.Live || first.Label != "1.0" {
		t.Fatalf("the first version is %+v\n%s", first, joinLogs(stages))
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		data  []byte   // instead of files
		stage string   // the one that fails
		words []string // in the reason
		log   []string // words of the stage's log
	}{
		{name: "path out of the archive", data: zipWith(t, "../evil"), stage: Unpack, words: []string{`"../evil"`, "leaves the directory"}, log: []string{"failed: the path"}},
		{name: "cut off", data: zipWith(t, "bot.sh")[:60], stage: Unpack, words: []string{"archive"}},

		{name: "no bot", files: map[string]string{"README.md": ""}, stage: Build, words: []string{"no timba.toml and no recognised main file"}},
		{name: "unknown key", files: map[string]string{"timba.toml": "rum = 1\n" + tebesOnly}, stage: Build, words: []string{`unknown key "rum"`}},
		{name: "no TOML", files: map[string]string{"timba.toml": "run = ["}, stage: Build, words: []string{"timba.toml", "line 1"}},
		{name: "endless manifest", files: map[string]string{"timba.toml": tebesOnly + "# " + strings.Repeat("x", program.MaxManifest)}, stage: Build, words: []string{"at most 65536"}},
		{name: "games of others", files: map[string]string{"timba.toml": "games = [\"chess\"]\nrun = [\"sh\"]"}, stage: Build, words: []string{"claims only unknown games", `"chess"`}},
		{name: "unknown option", files: map[string]string{"timba.toml": "games = [\"tebes\", \"brisca player=2\"]\nrun = [\"sh\"]"}, stage: Build, words: []string{`games: brisca has no option "player"`}},
		{name: "not installed", files: map[string]string{"timba.toml": `run = ["no-such-program"]`}, stage: Build, words: []string{"no-such-program", "install it, or change run"}},
		{name: "no compiler", files: map[string]string{"timba.toml": "build = [\"no-such-compiler\"]\n" + tebesOnly, "bot.sh": ""}, stage: Build, words: []string{"no-such-compiler"}},
		{name: "broken source", files: map[string]string{"bot.c": "int main(void) {\n  return x;\n}\n"}, stage: Build,
			words: []string{"cc", "exit status 1"}, log: []string{"bot.c:2", "error:", "x"}},
		{name: "build by network", files: map[string]string{"timba.toml": fmt.Sprintf("build = [\"bash\", \"-c\", \"echo hello > /dev/tcp/127.0.0.1/%d\"]\n", port) + tebesOnly, "bot.sh": ""}, stage: Build,
			words: []string{"bash", "exit status 1"}, log: []string{"/dev/tcp"}},
		{name: "build that downloads", files: map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"echo 'dial tcp: lookup proxy.example: no such host'; exit 1\"]\n" + tebesOnly, "bot.sh": ""}, stage: Build,
			words: []string{"exit status 1: it tried to use the network, which a build does not have", "go mod vendor"}, log: []string{"dial tcp"}},
		{name: "build of much", files: map[string]string{"timba.toml": "build = [\"truncate\", \"-s\", \"257M\", \"big\"]\n" + tebesOnly, "bot.sh": ""}, stage: Build, words: []string{"257 MiB", "at most 256 MiB"}},
		{name: "build of deep directories", files: map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"for i in $(seq 99); do mkdir d; cd d; done\"]\n" + tebesOnly, "bot.sh": ""}, stage: Build, words: []string{"cannot be kept: directories are nested more than 64 deep"}},
		{name: "build that prints much", files: map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"yes noise | head -c 3000000; echo the end; exit 1\"]\n" + tebesOnly, "bot.sh": ""}, stage: Build,
			words: []string{"exit status 1"}, log: []string{"noise", "are left out here"}},
		{name: "others' files", files: map[string]string{"timba.toml": `run = ["../../timba.db"]`}, stage: Build, words: []string{`"../../timba.db"`, "neither in the bot's directory"}},
		{name: "others' files by a script", files: map[string]string{"timba.toml": `run = ["./bot"]`, "bot+x": "#!" + w.Dir.Database() + "\n"}, stage: Build, words: []string{"neither in the bot's directory"}},
		{name: "others' files by a build", files: map[string]string{"timba.toml": "build = [\"./b\"]\n" + tebesOnly, "b+x": "#!/usr/bin/env -S " + w.Dir.Database() + "\n"}, stage: Build, words: []string{"neither in the bot's directory"}},
		{name: "others' files by a Python of its own", files: map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"echo home = " + string(w.Dir) + " > pyvenv.cfg\"]\nrun = [\"./bin/run\"]", "bin/run+x": "#!/bin/sh\n"}, stage: Build,
			words: []string{"neither in the bot's directory"}},

		{name: "built for Windows", files: map[string]string{"timba.toml": `run = ["./bot.exe"]`, "bot.exe+x": "MZ" + strings.Repeat("\x00", 100)}, stage: Check,
			words: []string{`could not be started: "./bot.exe" is a program for windows, and this machine is linux/`, "to change: build it for linux/"}},
		{name: "build script with CR LF", files: map[string]string{"timba.toml": "build = [\"./build\"]\n" + tebesOnly, "build+x": "#!/bin/sh\r\ntrue\r\n", "bot.sh": ""}, stage: Build,
			words: []string{`"./build" has the first line "#!/bin/sh\r"`, "with LF alone as the end of a line"}},
		{name: "crash at once", files: map[string]string{"bot.py": "import nothing_of_that_name\n"}, stage: Check,
			words: []string{"start"}, log: []string{"ModuleNotFoundError", "FAIL"}},
		{name: "escapes", files: map[string]string{"timba.toml": tebesOnly, "bot.sh": "echo x > " + outside + "; printf '\\033[31mred\\r\\377' >&2; exit 1"}, stage: Check, words: []string{"start"}, log: []string{"red"}},
		{name: "illegal in check", files: map[string]string{"timba.toml": tebesOnly, "bot.sh": strings.Replace(shellBot(""), "move $4", "move xyzzy", 1)}, stage: Check, words: []string{"xyzzy"}, log: []string{"timba check DIR --movetime 60000 --startup 60000 --memory 128m --quick"}},
		{name: "memory", files: map[string]string{"timba.toml": "games = [\"tebes\"]\nrun = [\"python3\", \"bot.py\"]\n", "bot.py": "x = []\nwhile True: x.append(b'x' * 10_000_000)\n"}, stage: Check, words: []string{"memory"}},

		{name: "illegal in trial", files: map[string]string{"timba.toml": tebesOnly, "bot.sh": shellBot(onSlow("echo about to cheat >&2; line='1 2 3 xyzzy'"))}, stage: Trial,
			words: []string{"tebes-slow, deal 0, rotation 0, seat 0, ply 0", "illegal", "xyzzy"}, log: []string{"tebes-4", "stderr", "about to cheat", "- answer with one of the words that the turn line lists after the milliseconds, as in \"move "}},
		{name: "crash in trial", files: map[string]string{"timba.toml": tebesOnly, "bot.sh": shellBot(onSlow("echo oh no >&2; exit 3"))}, stage: Trial, words: []string{"exit", "status 3"}, log: []string{"oh no", "what to change:\n- the end of its stderr should say why"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			var v ladder.Version
			if c.data != nil {
				v = w.addData("fighter", c.data)
			} else {
				v = w.add("fighter", fileTree(t, c.files))
			}
			v, stages := w.runStages(v)
			if v.State != ladder.Failed || len(stages) == 0 {
				t.Fatalf("it is %+v\n%s", v, joinLogs(stages))
			}
			last := stages[len(stages)-1]
			if last.Name != c.stage || last.OK || !strings.HasPrefix(v.Reason.String(), c.stage+": ") || !strings.HasSuffix(v.Reason.String(), last.Summary.String()) {
				t.Errorf("%s failed for %q:\n%s", last.Name, v.Reason, joinLogs(stages))
			}
			for _, word := range c.words {
				if !strings.Contains(v.Reason.String(), word) {
					t.Errorf("%q says nothing of %q:\n%s", v.Reason, word, last.Log)
				}
			}
			for _, word := range c.log {
				if !strings.Contains(last.Log, word) {
					t.Errorf("the log says nothing of %q:\n%s", word, last.Log)
				}
			}
			if strings.ContainsAny(last.Log, "\x1b\r") || !utf8.ValidString(last.Log) || strings.Contains(v.Reason.String()+last.Log, w.Dir.Temp()) {
				t.Errorf("the log is not for its owner:\n%q", last.Log)
			}
			w.checkMessage(v)
			w.checkClean()
			if now, _ := w.version(first.ID); now.State != ladder.Live {
				t.Errorf("the first version is %s", now.State)
			}
		})
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("a build has reached the network %d times", n)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a bot has written outside of its sandbox")
	}
	if found, err := w.builds.Entries(); err != nil || len(found) != 1 {
		t.Errorf("bots that failed are kept: %v, %v", found, err)
	}
}

// A build that takes too long fails, with its output.
func TestEndlessBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := fmt.Sprint(1<<30 + os.Getpid())
	usual := w.timeout
	w.timeout = func(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
		if most != BuildTime {
			return usual(ctx, most)
		}
		over := make(chan struct{})
		go func() { // end its time after its first output
			defer close(over)
			kit.Until(t, "the build sleeps", func() bool {
				lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
				return err == nil && slices.ContainsFunc(lines, func(path string) bool {
					line, _ := os.ReadFile(path)
					return string(line) == "sleep\x00"+mark+"\x00"
				})
			})
		}()
		return overdueContext{ctx, over}, func() {}
	}
	v, stages := w.runStages(w.add("endless", fileTree(t, map[string]string{"timba.toml": "build = [\"sh\", \"-c\", \"echo begun; exec sleep " + mark + "\"]\n" + tebesOnly, "bot.sh": ""})))
	if last := stages[len(stages)-1]; v.State != ladder.Failed || last.Name != Build || !strings.Contains(v.Reason.String(), "did not finish within "+shortTime(BuildTime)) || !strings.Contains(last.Log, "begun") {
		t.Errorf("it is %+v\n%s", v, joinLogs(stages))
	}
	w.checkMessage(v)
	w.checkClean()
}

// overdueContext is a context whose deadline passes when a channel closes.
type overdueContext struct {
	context.Context
	over <-chan struct{}
}

func (o overdueContext) Done() <-chan struct{} { return o.over }

func (o overdueContext) Err() error {
	select {
	case <-o.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A bot that is late only in its trial is told the ladder and its clock.
func TestLateInTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Config.Ladders[2].Clock.Move, w.checkClock.Move = 5001*time.Millisecond, 5000*time.Millisecond
	bot := shellBot(`case $line in *" 5001 "*) exec sleep 1d ;; esac`)
	v, stages := w.runStages(w.add("late", fileTree(t, map[string]string{"timba.toml": tebesOnly, "bot.sh": bot})))
	if v.State != ladder.Failed {
		t.Fatalf("it is %+v\n%s", v, joinLogs(stages))
	}
	last := stages[len(stages)-1]
	for _, word := range []string{Trial + ": ", "tebes-slow", "timeout", "5001 ms"} {
		if !strings.Contains(v.Reason.String(), word) {
			t.Errorf("%q says nothing of %q:\n%s", v.Reason, word, last.Log)
		}
	}
	w.checkMessage(v)
	w.checkClean()
}

// checkMessage checks that the owner has a message with the reason.
func (w *world) checkMessage(v ladder.Version) {
	w.t.Helper()
	for _, m := range kit.Get[[]ladder.Message](w.t)(w.Store.People.Messages(w.t.Context(), w.person.ID, 0, 1000)) {
		if m.Version == v.ID && strings.Contains(m.Text().String(), v.Reason.String()) {
			return
		}
	}
	w.t.Errorf("the owner is told nothing of %q", v.Reason)
}

func zipWith(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		kit.Get[io.Writer](t)(z.Create(name))
	}
	kit.Must(t, z.Close())
	return out.Bytes()
}

// listen counts the connections to a port of this machine.
func listen(t *testing.T) (calls *atomic.Int64, port int) {
	t.Helper()
	l := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	calls = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return calls, l.Addr().(*net.TCPAddr).Port
}
