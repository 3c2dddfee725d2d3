package submission

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sandbox"
)

var built = map[string]string{
	"timba.toml": "build = [\"sh\", \"-c\", \"mkdir lib; echo built > lib/out; cp bot.sh bot; chmod +x bot\"]\ngames = [\"tebes\"]\nrun = [\"./bot\"]\n",
	"bot.sh":     "#!/bin/sh\n" + shellBot(""),
}

// Two bots with the same files share a directory. It is named by the hash that the files have on the author's
// machine, and is made again after somebody has deleted it.
func TestSharedAndRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := fileTree(t, built)
	one := w.buildOnly(w.add("one", dir))
	two, stages := w.runStages(w.add("two", dir))
	if two.State != ladder.Live || two.Hash != one.Hash || stages[1].Summary.String() != "built before" {
		t.Errorf("the second is %+v\n%s", two, joinLogs(stages))
	}
	if hash, err := trees.HashSource(dir); err != nil || hash != one.Hash {
		t.Errorf("the hash is %s, at home it is %s, %v", one.Hash, hash, err)
	}
	first, err := w.Resolve(t.Context(), one)
	kit.Must(t, err)
	second, err := w.Resolve(t.Context(), two)
	if err != nil || first.Dir != second.Dir || first.Name == second.Name {
		t.Errorf("they are %+v and %+v, %v", first, second, err)
	}
	want := kit.Tree(t, first.Dir)
	if want["bot"] == "" || want["lib/out"] != "-r--r--r-- built\n" || want["bot"][:10] != "-r-xr-xr-x" {
		t.Errorf("there are %q", want)
	}
	for range 2 { // once deleted, once present
		kit.Must(t, os.RemoveAll(first.Dir))
		var wg sync.WaitGroup
		for _, v := range []ladder.Version{one, two, one, two} {
			wg.Go(func() {
				if bot, err := w.Resolve(t.Context(), v); err != nil || bot.Dir != first.Dir {
					t.Errorf("%+v, %v", bot, err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff(want, kit.Tree(t, first.Dir)); diff != "" {
			t.Errorf("restored it is another: %s", diff)
		}
	}
	w.checkClean()
	requireGame(t, w.Config.Ladders[1], first)
}

// The needs of a version are stored with it, and again when it is built on another machine, as after a
// restore from a backup.
func TestNeedsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.buildOnly(w.add("one", fileTree(t, map[string]string{
		"timba.toml": "run = [\"perl\", \"bot.pl\"]\n", "bot.pl": "", "README": "one",
	})))
	want := ladder.Needs{Interpreters: []string{"perl"}}
	for range 2 {
		if v, _ = w.version(v.ID); !v.Needs.Equal(want) {
			t.Errorf("it needs %+v, want %+v", v.Needs, want)
		}
		kit.Must(t, w.Store.Versions.SetNeeds(t.Context(), v.Hash, ladder.Needs{Arch: "s390x"}))
		v, _ = w.version(v.ID)
		kit.Must(t, os.RemoveAll(w.Dir.Bot(v.Hash)))
		kit.Must(t, w.Restore(t.Context(), v))
	}
}

// requireGame checks that a bot plays a game without a fault.
func requireGame(t *testing.T, c ladder.Ladder, bot match.Contestant) {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(c.Variant())
	random := kit.Get[program.Program](t)(program.Resolver{}.Resolve(t.Context(), "@random"))
	games := 0
	m := match.Match{Variant: v, Bots: []match.Contestant{bot, random.Contestant}, Deals: 1, Clock: c.Clock, Seed: rules.Seed{1}}
	err := m.Play(t.Context(), func(g *referee.GameResult) error {
		games++
		if len(g.Faults) > 0 {
			t.Errorf("%+v", g.Faults)
		}
		return nil
	})
	if err != nil || games != 2 {
		t.Errorf("%d games: %v", games, err)
	}
}

// A build that cannot be restored gives an error with the reason, and leaves no files.
func TestRestoreErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.buildOnly(w.add("one", fileTree(t, built)))
	path, err := w.Dir.Bundle(v.Bundle)
	kit.Must(t, err)
	packed, err := bundle.Pack(fileTree(t, map[string]string{"bot.sh": "another"}), bundle.Default)
	kit.Must(t, err)
	os.RemoveAll(w.Dir.Bot(v.Hash))
	for name, c := range map[string]struct {
		spoil func() error
		want  string
	}{
		"another upload": {func() error { return os.WriteFile(path, packed.Data, 0o600) }, "not " + v.Hash},
		"cut off":        {func() error { return os.WriteFile(path, packed.Data[:50], 0o600) }, "cut off"},
		"gone":           {func() error { return os.Remove(path) }, "no such file"},
	} {
		if err := c.spoil(); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		_, err := w.Resolve(t.Context(), v)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "version 1 of one") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(w.Dir.Bot(v.Hash)); err == nil {
			t.Errorf("%s: something is there", name)
		}
		w.checkClean()
	}
}

func TestResolveHouse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kit.Must(t, w.Store.Bots.SyncHouse(t.Context(), []store.HouseBot{{Name: "@random", Label: "1", Hash: strings.Repeat("0", 64)}}))
	b, err := w.Store.Bots.Find(t.Context(), "@random")
	kit.Must(t, err)
	versions, err := w.Store.Versions.List(t.Context(), b.ID, 0, -1)
	if err != nil || len(versions) != 1 {
		t.Fatalf("%+v, %v", versions, err)
	}
	bot, err := w.Resolve(t.Context(), versions[0])
	if err != nil || bot.Sandbox != nil || len(bot.Command) != 3 || bot.Command[2] != "random" {
		t.Errorf("%+v, %v", bot, err)
	}
	if _, err := w.Resolve(t.Context(), ladder.Version{Bot: "x", BotID: 7, Number: 1, Hash: "../../etc"}); err == nil {
		t.Error("a version without a hash is resolved")
	}
}

// A failure of the server is not blamed on the bot: the version stays on its way and succeeds when the
// failure is over.
func TestOwnFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.add("one", fileTree(t, built))
	path := kit.Get[string](t)(w.Dir.Bundle(v.Bundle))
	kit.Must(t, os.Rename(path, path+"x"))
	if err := w.Run(t.Context(), v.ID, cores.Any); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	now, stages := w.version(v.ID)
	if now.State != ladder.Queued || len(stages) != 1 || stages[0].OK || !strings.Contains(stages[0].Summary.String(), "will try again") || strings.Contains(stages[0].Log, string(w.Dir)) {
		t.Errorf("it is %+v\n%s", now, joinLogs(stages))
	}
	w.checkClean()
	kit.Must(t, os.Rename(path+"x", path))
	if now, stages := w.runStages(v); now.State != ladder.Live {
		t.Errorf("it is %+v\n%s", now, joinLogs(stages))
	}
	if err := w.Run(context.Background(), 999, cores.Any); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("no such version: %v", err)
	}
}

// A command can be a name, a path in the bot's directory, or a path of the system.
func TestAllowed(t *testing.T) {
	t.Parallel()
	p := &Pipeline{Dir: "/opt/timba/data"}
	dir := fileTree(t, map[string]string{
		"bot+x": "\x7fELF", "sh+x": "#!/bin/sh\n", "env+x": "#!/usr/bin/env python3\n", "own+x": "#! ./bot -x\n", "spaces+x": "#!  \t/bin/sh\t-e\n", "empty": "#!\n",
		"evil1+x": "#!/root/x\n", "evil2+x": "#!/usr/bin/env /root/x\n", "evil3+x": "#!/usr/bin/env -S A=b ../../x\n", "evil4+x": "#!./evil1\n", "evil5+x": "#!/usr/../root/x\n", "evil6+x": "#!/usr",
		"evil7+x": "#!/root/env sh\n", "evil8+x": "#!/usr/bin/env -S -u /root/x sh\n", "evil9+x": "#!/opt/timba/data/bots/x/bot\n",
		"evil10+x": "#!/usr/bin/env -S/root/x sh\n", "evil11+x": "#!/usr/bin/env --unset /root/x sh\n",
		"venv/bin/x+x": "", "venv/pyvenv.cfg": "home = /root/secret\n", "good/bin/x+x": "", "good/pyvenv.cfg": "home = /usr/bin\nversion = 3\n",
		"loop+x": "#!./loop\n", "sub/evil+x": "#!../x\n",
	})
	for word, want := range map[string]bool{
		"python3": true, "./bot": true, "sub/../bot": true, "./sh": true, "./env": true, "./own": true, "./spaces": true, "./empty": true, "./none": true,
		"/bin/sh": true, "/usr/bin/python3": true, dir + "/bot": true,
		"../x": false, "./../x": false, "sub/../../x": false, "/root/x": false, "/etc/passwd": false, "/usr/../etc/passwd": false, "/usr": false, "/usrx/y": false, dir: false, dir + "x/y": false, "/": false, "a\x00/b": false, "..": true,
		"./evil1": false, "./evil2": false, "./evil3": false, "./evil4": false, "./evil5": false, "./evil6": false, "./evil7": false, "./evil8": false, "./evil9": false, "./evil10": false, "./evil11": false, "venv/bin/x": false, "good/bin/x": true,
		"/opt/go/bin/go": true, "/opt/timba/data/timba.db": false, "/opt/timba/bin/x": false, "/opt/timba/x": false, "/opt/x": false, "/opt/other/x": true, "/usr/bin/../bin/sh": false, "/usr//bin/sh": false, "./loop": false, "sub/evil": false,
	} {
		err := p.checkCommand(dir, []string{word})
		var no *refusal
		if (err == nil) != want || err != nil && !errors.As(err, &no) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// Without the sandbox, for operators who trust all authors, a version goes through the same stages.
func TestWithoutSandbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Config.Sandbox = sandbox.LevelNone
	v, stages := w.runStages(w.add("one", fileTree(t, built)))
	if v.State != ladder.Live {
		t.Fatalf("%+v\n%s", v, joinLogs(stages))
	}
	if bot, err := w.Resolve(t.Context(), v); err != nil || bot.Sandbox != nil {
		t.Errorf("%+v, %v", bot, err)
	}
}
