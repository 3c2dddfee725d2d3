package submission

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/sandbox"
)

// Starter bots of each kind, interpreted and compiled, reach the ladders.
func TestStartersGoLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := []string{"python", "c"}
	if kit.Soak {
		names = append(names, "bash", "cpp")
	}
	for _, name := range names {
		l, err := starters.Find(name)
		kit.Must(t, err)
		if missing := l.MissingPrograms(); len(missing) > 0 {
			t.Fatalf("%s: this machine lacks %q", name, missing)
		}
		dir := filepath.Join(t.TempDir(), "mine")
		if _, err := l.Write(dir); err != nil {
			t.Fatal(err)
		}
		onlyTwoGames(t, filepath.Join(dir, "timba.toml"))
		v, stages := w.runStages(w.add("my-"+name, dir))
		if v.State != ladder.Live || v.Hash == "" || v.Language != l.Title || len(stages) != 4 {
			t.Errorf("%s: %+v\n%s", name, v, joinLogs(stages))
			continue
		}
		for i, want := range []string{Unpack, Build, Check, Trial} {
			if s := stages[i]; s.Name != want || !s.OK || s.Summary.IsZero() || s.Log == "" || s.EndedAt.IsZero() {
				t.Errorf("%s: stage %d is %+v", name, i, s)
			}
			if strings.Contains(stages[i].Log, string(w.Dir)) {
				t.Errorf("%s: the log of %s tells where the server's directory is:\n%s", name, want, stages[i].Log)
			}
		}
		bot, err := w.Resolve(t.Context(), v)
		if err != nil || bot.Hash != v.Hash || !strings.HasPrefix(bot.Dir, w.Dir.Bots()) || bot.Sandbox == nil || bot.Sandbox.Freeze != (w.Level == sandbox.LevelFull) {
			t.Errorf("%s: it resolves to %+v, %v", name, bot, err)
		}
		info, err := os.Stat(filepath.Join(bot.Dir, "timba.toml"))
		if err != nil || info.Mode().Perm() != 0o444 {
			t.Errorf("%s: the manifest is %v, %v", name, info.Mode(), err)
		}
	}
	w.checkClean()
}

// onlyTwoGames makes a manifest claim only the games that have ladders.
func onlyTwoGames(t *testing.T, manifest string) {
	t.Helper()
	data := kit.Get[[]byte](t)(os.ReadFile(manifest))
	text := regexp.MustCompile(`(?m)^games = .*$`).ReplaceAll(data, []byte(`games = ["brisca", "tebes"]`))
	kit.Must(t, os.WriteFile(manifest, text, 0o644))
}
