package submission

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sandbox"
)

// modes are the programs that the test binary can be when a test starts it again.
var modes = refereetest.Modes{"bot": refereetest.RunHouseBot}

// TestMain lets the test binary be one of modes.
func TestMain(m *testing.M) { refereetest.Main(m, modes, nil) }

// testConfig has ladders with short games. Bots recognize the last ladder by its clock, which is never that
// of the check.
const testConfig = `
[limits]
memory = "128m"
versions = 100
[[ladder]]
name = "brisca-2"
game = "brisca"
clock = {movetime = 60000, startup = 60000}
deals = 1
[[ladder]]
name = "tebes-4"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60000, startup = 60000}
deals = 1
[[ladder]]
name = "tebes-slow"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60001, startup = 60000}
deals = 1
`

// world is a competition with one person.
type world struct {
	*Pipeline
	t      testing.TB
	person ladder.Person
}

func newWorld(t testing.TB) *world {
	t.Helper()
	kit.Slow(t)
	level := sandbox.Probe().Level
	if level < sandbox.LevelReduced {
		t.Fatalf("this machine has a sandbox of level %s, and submissions need REDUCED", level)
	}
	shared := laddertest.New(t, testConfig, store.Options{})
	w := &world{Pipeline: New(shared.Store, shared.Config), t: t, person: shared.AddPerson("ana", false)}
	w.Level, w.Check.Quick, w.Check.Waits.Pause = level, true, 10*time.Millisecond
	w.Check.Waits.Patience, w.Check.Waits.Grace, w.Check.Time = time.Hour, time.Hour, time.Hour
	w.timeout = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		return context.WithCancel(ctx)
	}
	w.checkClock.Move, w.checkClock.Startup = 70*time.Second, time.Minute
	return w
}

// buildOnly takes a version through its build and makes it live without check and trial.
func (w *world) buildOnly(v ladder.Version) ladder.Version {
	w.t.Helper()
	s := &submission{Pipeline: w.Pipeline, version: v, core: cores.Any}
	defer func() { s.release() }()
	var err error
	s.work, err = w.Dir.MkdirTemp("version-")
	kit.Must(w.t, err)
	defer os.RemoveAll(s.work)
	for _, stage := range w.stages()[:2] {
		if on, err := s.processStage(w.t.Context(), stage); err != nil || !on {
			v, stages := w.version(v.ID)
			w.t.Fatalf("%s: %v, it is %+v\n%s", stage.name, err, v, joinLogs(stages))
		}
	}
	kit.Must(w.t, s.install(w.t.Context()))
	kit.Must(w.t, w.Store.Versions.Promote(w.t.Context(), v.ID))
	v, _ = w.version(v.ID)
	return v
}

// add packs a directory and adds it as a version of a bot.
func (w *world) add(bot, dir string) ladder.Version {
	w.t.Helper()
	return w.addData(bot, kit.Get[*bundle.Archive](w.t)(bundle.Pack(dir, bundle.Default)).Data)
}

func (w *world) addData(bot string, data []byte) ladder.Version {
	w.t.Helper()
	upload := kit.Get[*bundle.ReceivedArchive](w.t)(bundle.Receive(bytes.NewReader(data), w.Dir, bundle.Default))
	defer upload.Discard()
	fresh := store.NewVersion{Bot: bot, Bundle: upload.SHA256, StoreUpload: upload.Store}
	return kit.Get[ladder.Version](w.t)(w.Store.Versions.Add(w.t.Context(), w.person.ID, fresh, w.Config.Limits))
}

// runStages takes a version through its stages and returns the outcome.
func (w *world) runStages(v ladder.Version) (ladder.Version, []ladder.Stage) {
	w.t.Helper()
	if err := w.Run(w.t.Context(), v.ID, cores.Any); err != nil {
		w.t.Fatalf("version %d of %s: %v", v.Number, v.Bot, err)
	}
	return w.version(v.ID)
}

func (w *world) version(id int64) (ladder.Version, []ladder.Stage) {
	w.t.Helper()
	v := kit.Get[ladder.Version](w.t)(w.Store.Versions.Find(w.t.Context(), id))
	return v, kit.Get[[]ladder.Stage](w.t)(w.Store.Versions.Stages(w.t.Context(), id))
}

// checkClean checks that the stages have left no temporary files.
func (w *world) checkClean() {
	w.t.Helper()
	found, err := os.ReadDir(w.Dir.Temp())
	if err != nil || len(found) > 0 {
		w.t.Errorf("in tmp there is %v, %v", found, err)
	}
}

// fileTree makes a directory of files, and returns its path.
func fileTree(t testing.TB, files map[string]string) string {
	t.Helper()
	return kit.Files(t, t.TempDir(), files)
}

// shellBot returns a bot that plays the first legal move. It runs more before each move, with the turn line
// in $line.
func shellBot(more string) string {
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

// joinLogs returns all logs of a version's stages as one text.
func joinLogs(stages []ladder.Stage) string {
	var b strings.Builder
	for _, s := range stages {
		fmt.Fprintf(&b, "--- %s %v %q %s\n%s\n", s.Name, s.OK, s.Summary, s.EndedAt.Sub(s.StartedAt).Round(time.Millisecond), s.Log)
	}
	return b.String()
}
