package tournament

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/stats"
)

// times matches what may differ in a replay of the same game.
var times = regexp.MustCompile(`"ms":[0-9.e-]+(,"credit":[0-9.e-]+)?`)

// files returns the content of the files of a directory by path, without times.
func files(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	kit.Must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		all[rel] = times.ReplaceAllString(string(data), `"ms":0`)
		return err
	}))
	return all
}

// resumable returns small tournaments of real processes, some with bots that are disqualified. more is added
// to the number of deals.
func resumable(t testing.TB) map[string]func(more int) *local {
	kit.Slow(t)
	make := func(game, options string, c Config, workers int, names ...string) func(int) *local {
		return func(more int) *local {
			c := c
			c.Seed, c.Deals = referee.Hex{7}, c.Deals+more
			l := between(t, game, options, c, processes(t, names...)...)
			l.workers = workers
			return l
		}
	}
	return map[string]func(int) *local{
		"one match":     make("teeko", "limit=12", Config{Format: Single, Deals: 6}, 1, "random", "moody"),
		"two workers":   make("teeko", "limit=12", Config{Format: Single, Deals: 6}, 2, "moody", "random"),
		"round-robin":   make("teeko", "limit=12", Config{Format: RoundRobin, Deals: 1}, 2, "random", "first", "moody"),
		"swiss":         make("teeko", "limit=12", Config{Format: Swiss, Deals: 1}, 1, "random", "first", "moody"),
		"knockout of 3": make("brisca", "players=3", Config{Format: Knockout, Deals: 1}, 1, "random", "moody", "first", "random"),
		"sprt":          make("teeko", "limit=12", Config{Format: Single, Deals: 30, SPRT: sprt(t, "elo0=0,elo1=200,alpha=0.2,beta=0.2")}, 2, "greedy", "random"),
	}
}

// A file that was being written when the program ended does no harm and goes.
func TestOpenSweepsWhatWasBeingWritten(t *testing.T) {
	path := t.TempDir()
	kit.Must(t, kit.Get[*Dir](t)(CreateDir(path, somePlan())).Close())
	for _, name := range []string{".plan.json.tmp", "games/.0000-00000-0.json.tmp"} {
		kit.Must(t, os.WriteFile(filepath.Join(path, name), []byte(`{"timba":`), 0o644))
	}
	dir, _, err := OpenDir(path)
	kit.Must(t, err)
	defer dir.Close()
	for name := range files(t, path) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
}

// The log of a game that has no replay goes when the game is played again and its bot writes nothing.
func TestKeepRemovesAnOlderLog(t *testing.T) {
	tour := between(t, "teeko", "limit=12", Config{Format: Single, Deals: 1}, deterministic()...).in(t, t.TempDir())
	kit.Must(t, os.WriteFile(tour.dir.logPath(0, 0, 0, 1), []byte("of the first try"), 0o644))
	play(t, tour)
	if log := tour.dir.ExistingLog(0, 0, 0, 1); log != "" {
		t.Errorf("%s is left over", log)
	}
}

// What a directory's games are not is said with the file's name.
func TestResumeRefusesForeignFiles(t *testing.T) {
	make := resumable(t)["one match"]
	tour := make(0).in(t, t.TempDir())
	play(t, tour)
	path := func(deal, rotation int) string { return tour.dir.ReplayPath(0, deal, rotation) }
	read := func(path string) string {
		return string(kit.Get[[]byte](t)(os.ReadFile(path)))
	}
	good := read(path(2, 1))
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "not a replay document"},
		"truncated":     {good[:len(good)/2], "not a replay document"},
		"twice":         {good + good, "another document follows in the same file"},
		"no replay":     {`{"a": 1}`, "not a replay document"},
		"other deal":    {read(path(1, 1)), "it is of deal 1, rotation 1"},
		"rotation":      {read(path(2, 0)), "it is of deal 2, rotation 0"},
		"other seed":    {strings.ReplaceAll(good, `"seed":"07`, `"seed":"08`), "it is of another match"},
		"no seed":       {strings.Replace(good, `"seed":"0700000000000000000000000000000000000000000000000000000000000000",`, "", 1), "it is of another match"},
		"other options": {strings.Replace(good, `"limit":"12"`, `"limit":"13"`, 1), ""},
		"other bot":     {strings.Replace(good, `"0-random"`, `"2-random"`, 1), `by "2-random", not by the "0-random"`},
		"other program": {strings.Replace(good, fmt.Sprintf("%064d", 1), fmt.Sprintf("%064d", 2), 1), "was played by"},
		"no ranks":      {regexp.MustCompile(`"ranks": .*`).ReplaceAllString(good, `"ranks": [],`), "ranks are []"},
		"other result":  {regexp.MustCompile(`"points": .*`).ReplaceAllString(good, `"points": [7,7]`), "points are [7 7]"},
		"no moves":      {regexp.MustCompile(`(?s)"moves": \[.*?\n \]`).ReplaceAllString(good, `"moves": []`), "the game is not over"},
	} {
		if c.text == good {
			t.Errorf("%s: the text is the good one", name)
		}
		kit.Must(t, os.WriteFile(path(2, 1), []byte(c.text), 0o644))
		err := make(0).again(tour.dir).run(t.Context(), func() {})
		if err == nil || !strings.HasPrefix(err.Error(), "resume: "+path(2, 1)+": ") || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "delete it to play the game again") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// As the error says, a game that is deleted is played again.
	want := files(t, tour.dir.Path)
	want[filepath.Join("games", filepath.Base(path(2, 1)))] = times.ReplaceAllString(good, `"ms":0`)
	kit.Must(t, os.Remove(path(2, 1)))
	play(t, make(0).again(tour.dir))
	if diff := cmp.Diff(want, files(t, tour.dir.Path)); diff != "" {
		t.Errorf("after the game was deleted and played again the directory differs:\n%s", diff)
	}
}

// A directory that holds a tournament is not begun again; one that holds none is not resumed.
func TestDirErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "directory")
	if _, _, err := OpenDir(path); err == nil || !strings.Contains(err.Error(), "has no tournament") || !strings.Contains(err.Error(), "--out "+path) {
		t.Error(err)
	}
	plan := somePlan()
	kit.Must(t, kit.Get[*Dir](t)(CreateDir(path, plan)).Close())
	for range 2 { // the lock is given back
		if _, err := CreateDir(path, plan); err == nil || !strings.Contains(err.Error(), "already has a tournament") || !strings.Contains(err.Error(), "--resume "+path) {
			t.Error(err)
		}
	}
	dir, got, err := OpenDir(path)
	if diff := cmp.Diff(plan, got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	kit.Must(t, dir.Close())
	file := filepath.Join(path, "plan.json")
	for _, text := range []string{"", "{", `{"game": 1}`, `{"unknown": 1}`, `{"seed": "77"}`} {
		kit.Must(t, os.WriteFile(file, []byte(text), 0o644))
		if _, _, err := OpenDir(path); err == nil || !strings.HasPrefix(err.Error(), "resume: "+file+": ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file = filepath.Join(t.TempDir(), "file")
	kit.Must(t, os.WriteFile(file, nil, 0o644))
	if _, err := CreateDir(file, plan); err == nil || !strings.Contains(err.Error(), "name a directory that can be written to") {
		t.Error(err)
	}
}

func somePlan() Config {
	sprt := stats.SPRT{Elo1: 10, Alpha: 0.05, Beta: 0.05, Model: stats.Logistic}
	return Config{
		Game: "brisca", Options: map[string]string{"players": "2"}, Format: RoundRobin, Rounds: 3, Deals: 4,
		Seed: referee.Hex{1}, Clock: patient, SPRT: &sprt,
		Adjudication: referee.Adjudication{Draw: &referee.ScoreRule{Plies: 8, Score: 10, From: 40}},
		Sandbox:      SandboxFlags{"auto", "FULL", 512 << 20, 64, "on"},
		Bots: []Entrant{
			{program.BotSpec{Bot: "@random", Name: "@random"}, "11"},
			{program.BotSpec{Bot: "/a/bot", Name: "bot", Overrides: program.Overrides{Args: []string{"-c", "a b"}, Bank: 90_000, Inc: 5, Memory: 300 << 20}}, "22"},
		},
	}
}

// A tournament is entered by the programs of its bots, with their names and hashes. What cannot be
// played is refused, and so is a bot that is another program than it was.
func TestEnter(t *testing.T) {
	programs := func(c Config) (all []program.Program) {
		for i, b := range c.Bots {
			all = append(all, program.Program{Contestant: match.Contestant{Name: fmt.Sprintf("bot%d", i), Hash: b.SHA256}, Overrides: b.Overrides})
		}
		return all
	}
	c := somePlan()
	c.Bots[0].SHA256 = ""
	all := programs(c)
	all[0].Hash = "44"
	s := kit.Get[*State](t)(New(c))
	bots := kit.Get[[]match.Contestant](t)(s.Enter(all))
	if s.Bots[0].Name != "bot0" || s.Bots[0].SHA256 != "44" || s.Bots[1].Name != "bot1" || s.Bots[1].SHA256 != "22" {
		t.Errorf("it notes %+v", s.Bots)
	}
	own := referee.Clock{Bank: 90 * time.Second, Inc: 5 * time.Millisecond, Margin: patient.Margin, Startup: patient.Startup}
	want := []match.Contestant{{Name: "bot0", Hash: "44"}, {Name: "bot1", Hash: "22", Clock: &own}}
	if diff := cmp.Diff(want, bots); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for want, change := range map[string]func(*Config, []program.Program){
		`resume: bot 1, "/a/bot", is not the program that it was: its hash was 22 and is now 33`: func(_ *Config, all []program.Program) { all[1].Hash = "33" },
		`resume: bot 1, "/a/bot", is part of timba, and this timba is another one than that with which the match began: resume the match with the program that began it`: func(_ *Config, all []program.Program) {
			all[1].Hash, all[1].House, all[1].Command = "33", true, []string{"timba", "bot", "greedy"}
		},
		"bot bot0 does not play brisca: its manifest claims tute, teeko": func(_ *Config, all []program.Program) { all[0].Games = []string{"tute", "teeko"} },
		`game "chess" does not exist`:                                    func(c *Config, _ []program.Program) { c.Game = "chess" },
		"players":                                                        func(c *Config, _ []program.Program) { c.Options["players"] = "9" },
		"tournament: deals cannot be 0":                                  func(c *Config, _ []program.Program) { c.Deals = 0 },
		"clock":                                                          func(c *Config, _ []program.Program) { c.Clock.Move = 0 },
		"sprt: ":                                                         func(c *Config, _ []program.Program) { c.SPRT.Alpha = 2 },
		"draw":                                                           func(c *Config, _ []program.Program) { c.Adjudication.Draw.Plies = 0 },
		`tournament: format "ladder" does not exist`: func(c *Config, _ []program.Program) { c.Format = "ladder" },
	} {
		c := somePlan()
		all := programs(c)
		change(&c, all)
		s, err := New(c)
		if err == nil {
			_, err = s.Enter(all)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A plan can have more deals, where they change nothing that was played.
func TestConfigExtend(t *testing.T) {
	p := somePlan()
	if err := p.Extend(5000); err != nil || p.Deals != 5000 {
		t.Errorf("%d deals: %v", p.Deals, err)
	}
	if err := p.Extend(4); err == nil || !strings.Contains(err.Error(), "--deals was 5000 and is now 4: a tournament can be extended, not shortened") || p.Deals != 5000 {
		t.Errorf("%d deals: %v", p.Deals, err)
	}
	for _, f := range []Format{Swiss, Knockout} {
		p := somePlan()
		p.Format = f
		if err := p.Extend(5); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("--deals was 4 and is now 5: a %s cannot be extended", f)) {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, alone := range []Config{{FirstDeal: 3, Deals: 1}, {Rotation: new(0), Deals: 1}} {
		if err := alone.Extend(5); err == nil || !strings.Contains(err.Error(), "--deals was 1 and is now 5: one deal that is played alone cannot be extended") {
			t.Errorf("%+v: %v", alone, err)
		}
	}
}

// A tournament that is extended ends like one that had all deals from the start, also if it was called off before.
func TestExtend(t *testing.T) {
	for _, name := range []string{"one match", "two workers", "round-robin", "sprt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := resumable(t)[name]
			whole := make(3).in(t, t.TempDir())
			play(t, whole)
			first := make(1-make(0).Deals).in(t, t.TempDir())
			play(t, first)
			half := make(1 - make(0).Deals/2).again(first.dir)
			play(t, half)
			all := make(3).again(first.dir)
			play(t, all)
			if diff := cmp.Diff(whole.Results(), all.Results(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("the results differ (-whole +extended):\n%s", diff)
			}
			kit.Must(t, first.dir.ReplacePlan(whole.Config))
			if diff := cmp.Diff(files(t, whole.dir.Path), files(t, first.dir.Path)); diff != "" {
				t.Errorf("the directory differs (-whole +extended):\n%s", diff)
			}
		})
	}
}

// Another plan takes the place of the first, and the result goes.
func TestReplacePlan(t *testing.T) {
	plan := somePlan()
	dir := kit.Get[*Dir](t)(CreateDir(t.TempDir(), plan))
	defer dir.Close()
	kit.Must(t, dir.StoreResult([]byte("{}")))
	plan.Deals = 40
	kit.Must(t, dir.ReplacePlan(plan))
	got, err := readPlan(dir.Path)
	if diff := cmp.Diff(plan, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := os.Stat(filepath.Join(dir.Path, resultFile)); !os.IsNotExist(err) {
		t.Errorf("the result is still there: %v", err)
	}
}

// Without a directory that the user named only games with faults are kept, with
// their logs, and no directory is made where there are none.
func TestFaultsOnly(t *testing.T) {
	for _, c := range []struct {
		rival  string
		faults bool
	}{{"moody", true}, {"first", false}} {
		tour := between(t, "teeko", "limit=12", Config{Format: Single, Deals: 3, Seed: referee.Hex{7}}, processes(t, "random", c.rival)...)
		dir := tour.dir
		dir.Path = filepath.Join(dir.Path, "faults")
		play(t, tour)
		faults := tour.Matches()[0].Tally.Faults
		if c.faults != (len(faults) > 0) {
			t.Fatalf("%s: faults %v", c.rival, faults)
		}
		if !c.faults {
			if _, err := os.Stat(dir.Path); !os.IsNotExist(err) {
				t.Errorf("%s: there is a directory without faults: %v", c.rival, err)
			}
			continue
		}
		var names []string
		for name := range files(t, dir.Path) {
			names = append(names, name)
		}
		slices.Sort(names)
		var want []string
		for _, f := range faults {
			replay, log := dir.ReplayPath(0, f.Deal, f.Rotation), dir.ExistingLog(0, f.Deal, f.Rotation, f.Seat)
			for _, path := range []string{replay, log} {
				rel := kit.Get[string](t)(filepath.Rel(dir.Path, path))
				want = append(want, rel)
			}
			if data, _ := os.ReadFile(log); string(data) != "moody: not in the mood\n" && f.Code == "illegal" {
				t.Errorf("the log of %v is %q", f, data)
			}
		}
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("the directory has %v, want %v", names, want)
		}
		if data, _ := os.ReadFile(dir.ReplayPath(0, faults[0].Deal, faults[0].Rotation)); !json.Valid(data) {
			t.Errorf("the replay is %q", data)
		}
	}
}

// Two programs cannot play in one directory: the second is told, whether it begins a tournament or
// resumes one, and nothing of it is kept.
func TestDirOfAnother(t *testing.T) {
	path := t.TempDir()
	first := kit.Get[*Dir](t)(lockDir(path)) // it has written no plan yet
	if _, err := CreateDir(path, somePlan()); err == nil || !strings.Contains(err.Error(), "another timba is playing in "+path) {
		t.Errorf("beside another it begins with %v", err)
	}
	if _, err := os.Stat(filepath.Join(path, planFile)); err == nil {
		t.Error("beside another it writes a plan")
	}
	kit.Must(t, first.Close())
	first = kit.Get[*Dir](t)(CreateDir(path, somePlan()))
	if _, _, err := OpenDir(path); err == nil || !strings.Contains(err.Error(), "another timba is playing in "+path) {
		t.Errorf("beside another it resumes with %v", err)
	}
	kit.Must(t, first.Close())
	again, _, err := OpenDir(path)
	kit.Must(t, err)
	kit.Must(t, again.Close())
}
