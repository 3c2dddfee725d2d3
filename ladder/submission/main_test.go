package submission

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// TestMain lets the test binary be a house bot, a sandbox's first process, and a
// server with one submission that a test can kill.
func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else @random sleeps a second at its end
	switch {
	case len(os.Args) == 3 && os.Args[1] == "bot":
		if err := house.Run(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case len(os.Args) == 4 && os.Args[1] == "server":
		if err := serve(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve is what a server does with a version after a start.
func serve(dir, version string) error {
	id, err := strconv.ParseInt(version, 10, 64)
	if err != nil {
		return err
	}
	s, err := store.Open(dir, store.Options{Server: true})
	if err != nil {
		return err
	}
	defer s.Close()
	p := New(s, dir, config())
	p.Check.Quick = true
	return p.Run(context.Background(), id, referee.AnyCore)
}

// config has ladders on which games are short. Bots can tell the last one by its
// clock, by which no check is made.
func config() *ladder.Config {
	c, err := ladder.ParseConfig("test", []byte(`
[limits]
memory = 128
versions = 100
[[ladder]]
name = "brisca-2"
game = "brisca"
clock = {movetime = 1000, margin = 1000}
deals = 1
[[ladder]]
name = "tebes-4"
game = "tebes"
options = {size = "4"}
clock = {movetime = 1000, margin = 1000}
deals = 1
[[ladder]]
name = "tebes-slow"
game = "tebes"
options = {size = "4"}
clock = {movetime = 1001, margin = 200}
deals = 1
`))
	if err != nil {
		panic(err)
	}
	return c
}

// world is a competition with one person.
type world struct {
	*Pipeline
	t      testing.TB
	person ladder.Person
}

func newWorld(t testing.TB) *world {
	t.Helper()
	if sandbox.Probe().Level < sandbox.Reduced {
		t.Fatalf("this machine has a sandbox of level %s, and submissions need REDUCED", sandbox.Probe().Level)
	}
	dir := t.TempDir()
	s, err := store.Open(dir, store.Options{Server: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := os.Chmod(dir, 0o700); err != nil { // the server's alone, as an operator would have it
		t.Fatal(err)
	}
	w := &world{Pipeline: New(s, dir, config()), t: t}
	w.Check.Quick, w.Check.Pause = true, 10*time.Millisecond
	if err := s.SyncLadders(t.Context(), w.Config.Ladders); err != nil {
		t.Fatal(err)
	}
	if w.person, err = s.AddPerson(t.Context(), "ana", false); err != nil {
		t.Fatal(err)
	}
	return w
}

// add packs a folder and adds it as a version of a bot.
func (w *world) add(bot, folder string) ladder.Version {
	w.t.Helper()
	packed, err := bundle.Pack(folder, bundle.Default)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.addData(bot, packed.Data)
}

func (w *world) addData(bot string, data []byte) ladder.Version {
	w.t.Helper()
	saved, err := bundle.Save(bytes.NewReader(data), w.Dir, bundle.Default)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := w.Store.AddVersion(w.t.Context(), w.person.ID, store.NewVersion{Bot: bot, Bundle: saved.SHA256}, w.Config.Limits)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// run takes a version through and gives what became of it.
func (w *world) run(v ladder.Version) (ladder.Version, []ladder.Stage) {
	w.t.Helper()
	if err := w.Run(w.t.Context(), v.ID, referee.AnyCore); err != nil {
		w.t.Fatalf("version %d of %s: %v", v.Number, v.Bot, err)
	}
	return w.version(v.ID)
}

func (w *world) version(id int64) (ladder.Version, []ladder.Stage) {
	w.t.Helper()
	v, err := w.Store.Version(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	stages, err := w.Store.Stages(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return v, stages
}

// clean wants nothing left where stages work.
func (w *world) clean() {
	w.t.Helper()
	found, err := os.ReadDir(filepath.Join(w.Dir, "tmp"))
	if err != nil || len(found) > 0 {
		w.t.Errorf("in tmp there is %v, %v", found, err)
	}
}

// folder makes a folder of files by name; names that end in "+x" can be run.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name, run := strings.CutSuffix(name, "+x")
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		if run {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell is a bot that plays the first move of the list; more is run before each
// move, and sees the turn's line in $line.
func shell(more string) string {
	return `while read -r line; do
case $line in
"timba "*) echo ready ;;
"turn "*) ` + more + `
set -- $line; echo "move $4" ;;
bye) exit 0 ;;
esac
done
`
}

// logs are all logs of a version's stages.
func logs(stages []ladder.Stage) string {
	var b strings.Builder
	for _, s := range stages {
		fmt.Fprintf(&b, "--- %s %v %q %s\n%s\n", s.Name, s.OK, s.Summary, s.Ended.Sub(s.Began).Round(time.Millisecond), s.Log)
	}
	return b.String()
}
