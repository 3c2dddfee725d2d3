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

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
)

// times are what may differ in a replay that is played again.
var times = regexp.MustCompile(`"ms":[0-9.e-]+(,"credit":[0-9.e-]+)?`)

// files returns a directory's files by path, without times.
func files(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
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
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// results returns a tournament's figures.
func results(t testing.TB, tour *Tournament) Results {
	t.Helper()
	r, err := tour.Results()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// resumable returns small tournaments of real processes, among them bots that are
// out after three faults.
func resumable(t testing.TB) map[string]func() *Tournament {
	sprt, err := rating.ParseSPRT("elo0=0,elo1=200,alpha=0.2,beta=0.2")
	if err != nil {
		t.Fatal(err)
	}
	short := variant(t, "teeko", "limit=12")
	make := func(v rules.Variant, f Format, deals, workers int, names ...string) func() *Tournament {
		return func() *Tournament {
			tour := &Tournament{Variant: v, Format: f, Deals: deals, Clock: patient, Seed: rules.Seed{7}, Bots: processes(t, names...)}
			for range workers {
				tour.Workers = append(tour.Workers, referee.AnyCore)
			}
			return tour
		}
	}
	return map[string]func() *Tournament{
		"one match":     make(short, Single, 6, 1, "random", "moody"),
		"two workers":   make(short, Single, 6, 2, "moody", "random"),
		"round-robin":   make(short, RoundRobin, 1, 2, "random", "first", "moody"),
		"swiss":         make(short, Swiss, 1, 1, "random", "first", "moody"),
		"knockout of 3": make(variant(t, "brisca", "players=3"), Knockout, 1, 1, "random", "moody", "first", "random"),
		"sprt": func() *Tournament {
			tour := make(short, Single, 30, 2, "greedy", "random")()
			tour.SPRT = &sprt
			return tour
		},
	}
}

// A tournament that was called off after any number of games and goes on from its
// directory ends like one that was never interrupted, byte for byte but for times.
func TestResumeAfterEveryGame(t *testing.T) {
	for name, tour := range resumable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := tour()
			whole.Dir = &Dir{Path: t.TempDir()}
			begin(t, whole)
			play(t, whole)
			want, wantResults := files(t, whole.Dir.Path), results(t, whole)
			total := 0
			for _, m := range whole.Matches() {
				total += m.Tally.Games
			}
			for games := range total + 1 {
				dir := &Dir{Path: t.TempDir()}
				first := tour()
				first.Dir = dir
				begin(t, first)
				playUntil(t, first, games)
				again := tour()
				again.Dir = dir
				play(t, again)
				if diff := cmp.Diff(want, files(t, dir.Path)); diff != "" {
					t.Errorf("broken off after %d games, the directory differs (-whole +resumed):\n%s", games, diff)
				}
				if diff := cmp.Diff(wantResults, results(t, again), cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("broken off after %d games, the results differ (-whole +resumed):\n%s", games, diff)
				}
			}
		})
	}
}

// begin begins the directory of a tournament with a plan.
func begin(t testing.TB, tour *Tournament) {
	t.Helper()
	if err := tour.Dir.Begin(Plan{Game: tour.Variant.Game().Name(), Seed: referee.Hex(tour.Seed)}); err != nil {
		t.Fatal(err)
	}
}

// A file that was being written when the program ended does no harm and goes.
func TestResumeSweepsWhatWasBeingWritten(t *testing.T) {
	tour := resumable(t)["one match"]()
	tour.Dir = &Dir{Path: t.TempDir()}
	begin(t, tour)
	for _, name := range []string{".plan.json.tmp", "games/.0000-00000-0.json.tmp"} {
		if err := os.WriteFile(filepath.Join(tour.Dir.Path, name), []byte(`{"timba":`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	play(t, tour)
	for name := range files(t, tour.Dir.Path) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
}

// What a directory's games are not is said with the file's name.
func TestResumeRefusesForeignFiles(t *testing.T) {
	make := resumable(t)["one match"]
	tour := make()
	tour.Dir = &Dir{Path: t.TempDir()}
	begin(t, tour)
	play(t, tour)
	path := func(deal, rotation int) string { return tour.Dir.Replay(0, deal, rotation) }
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	good := read(path(2, 1))
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "not a replay document"},
		"truncated":     {good[:len(good)/2], "not a replay document"},
		"twice":         {good + good, "followed by more data"},
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
		if err := os.WriteFile(path(2, 1), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		again := make()
		again.Dir = tour.Dir
		err := again.Play(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "resume: "+path(2, 1)+": ") || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "delete it to play the game again") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// As the error says, a game that is deleted is played again.
	want := files(t, tour.Dir.Path)
	want[filepath.Join("games", filepath.Base(path(2, 1)))] = times.ReplaceAllString(good, `"ms":0`)
	if err := os.Remove(path(2, 1)); err != nil {
		t.Fatal(err)
	}
	again := make()
	again.Dir = tour.Dir
	play(t, again)
	if diff := cmp.Diff(want, files(t, tour.Dir.Path)); diff != "" {
		t.Errorf("after the game was deleted and played again the directory differs:\n%s", diff)
	}
}

// A directory that holds a tournament is not begun again; one that holds none is not
// resumed.
func TestDirErrors(t *testing.T) {
	dir := &Dir{Path: filepath.Join(t.TempDir(), "new", "directory")}
	if _, err := dir.ReadPlan(); err == nil || !strings.Contains(err.Error(), "has no tournament") || !strings.Contains(err.Error(), "--out "+dir.Path) {
		t.Error(err)
	}
	plan := somePlan()
	if err := dir.Begin(plan); err != nil {
		t.Fatal(err)
	}
	if err := dir.Begin(plan); err == nil || !strings.Contains(err.Error(), "already has a tournament") || !strings.Contains(err.Error(), "--resume "+dir.Path) {
		t.Error(err)
	}
	got, err := dir.ReadPlan()
	if diff := cmp.Diff(plan, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	path := filepath.Join(dir.Path, "plan.json")
	for _, text := range []string{"", "{", `{"game": 1}`, `{"unknown": 1}`, `{"seed": "77"}`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := dir.ReadPlan(); err == nil || !strings.HasPrefix(err.Error(), "resume: "+path+": ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&Dir{Path: file}).Begin(plan); err == nil || !strings.Contains(err.Error(), "name a directory that can be written to") {
		t.Error(err)
	}
}

func somePlan() Plan {
	return Plan{
		Game: "brisca", Options: map[string]string{"players": "2"}, Format: RoundRobin, Rounds: 3, Deals: 4,
		Seed: referee.Hex{1}, Clock: referee.ClockMS{Movetime: 1000, Margin: 50, Startup: 10_000}, SPRT: "elo0=0,elo1=10",
		Sandbox: &PlanSandbox{"auto", "FULL", "512m", 64, "on"},
		Bots:    []PlanBot{{"@random", "@random", "11", program.Own{}}, {"/a/bot", "bot", "22", program.Own{Args: []string{"-c", "a b"}, Bank: 9000, Inc: 5, Memory: "300m"}}},
	}
}

// Every difference between two plans is told by its name, with both values.
func TestPlanDiffers(t *testing.T) {
	if err := somePlan().Differs(somePlan()); err != nil {
		t.Errorf("the same plan: %v", err)
	}
	for _, c := range []struct {
		change func(*Plan)
		want   string
	}{
		{func(p *Plan) { p.Game = "tute" }, `game was "brisca" and is now "tute"`},
		{func(p *Plan) { p.Options = map[string]string{"players": "3"} }, `--set players was "2" and is now "3"`},
		{func(p *Plan) { p.Options = map[string]string{"players": "2", "teams": "yes"} }, `--set teams was not set and is now "yes"`},
		{func(p *Plan) { p.Options = nil }, `--set players was "2" and is now not set`},
		{func(p *Plan) { p.Format = Swiss }, `--format was "round-robin" and is now "swiss"`},
		{func(p *Plan) { p.Rounds = 5 }, "--rounds was 3 and is now 5"},
		{func(p *Plan) { p.Deals = 3 }, "--deals was 4 and is now 3: a tournament can be extended, not shortened"},
		{func(p *Plan) { p.Seed[0] = 2 }, `--seed was "01`},
		{func(p *Plan) { p.Clock.Margin = 60 }, "--margin was 50 and is now 60"},
		{func(p *Plan) { p.Clock.Movetime, p.Clock.Bank = 0, 5 }, "--movetime was 1000 and is now 0, --bank was 0 and is now 5: "},
		{func(p *Plan) { p.Sandbox.Mode = "off" }, `--sandbox was "auto" and is now "off"`},
		{func(p *Plan) { p.Sandbox.Memory = "1g" }, `--memory was "512m" and is now "1g"`},
		{func(p *Plan) { p.Sandbox.Processes = 9 }, "--processes was 64 and is now 9"},
		{func(p *Plan) { p.Sandbox.Ponder = "off" }, `--ponder was "on" and is now "off"`},
		{func(p *Plan) { p.Sandbox.Level = "WEAK" }, "the sandbox had level FULL and has now WEAK"},
		{func(p *Plan) { p.SPRT = "" }, `--sprt was "elo0=0,elo1=10" and is now ""`},
		{func(p *Plan) { p.Bots = p.Bots[:1] }, "there were 2 bots and are now 1"},
		{func(p *Plan) { p.Bots[1].Name = "other" }, `the name of bot 1 was "bot" and is now "other"`},
		{func(p *Plan) { p.Bots[0].Movetime = 50 }, `bot 0, "@random": movetime was not set and is now "50": give the same as at the start`},
		{func(p *Plan) { p.Bots[1].Bank, p.Bots[1].Inc = 0, 0 }, `bot 1, "bot": bank was "9000" and is now not set, inc was "5" and is now not set: `},
		{func(p *Plan) { p.Bots[1].Memory, p.Bots[1].Processes = "301m", 7 }, `memory was "300m" and is now "301m", processes was not set and is now "7": `},
		{func(p *Plan) { p.Bots[1].Args = []string{"-c", "a", "b"} }, `args was "-c 'a b'" and is now "-c a b": `},
		{func(p *Plan) { p.Bots = append(p.Bots, PlanBot{}) }, "there were 2 bots and are now 3"},
		{func(p *Plan) { p.Bots[1].Bot = "@first" }, `bot 1 was "/a/bot" and is now "@first"`},
		{func(p *Plan) { p.Bots[1].SHA256 = "33" }, `bot 1, "/a/bot", is not the program that it was: its hash was 22 and is now 33`},
	} {
		p := somePlan()
		c.change(&p)
		if err := somePlan().Differs(p); err == nil || !strings.HasPrefix(err.Error(), "resume: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A plan is resumed with more deals where they change nothing that was played, and without
// what an earlier version did not keep.
func TestPlanResumes(t *testing.T) {
	for name, change := range map[string]func(old, now *Plan){
		"deals": func(old, now *Plan) { now.Deals = 5000 },
		"older": func(old, now *Plan) { old.Sandbox = nil },
	} {
		old, now := somePlan(), somePlan()
		change(&old, &now)
		if err := old.Differs(now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range []Format{Swiss, Knockout} {
		old, now := somePlan(), somePlan()
		old.Format, now.Format, now.Deals = f, f, 5
		if err := old.Differs(now); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("--deals was 4 and is now 5: a %s cannot be extended", f)) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// A tournament that is extended ends like one that had all deals from the start, also if it
// was called off before.
func TestExtend(t *testing.T) {
	for _, name := range []string{"one match", "two workers", "round-robin", "sprt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			make := resumable(t)[name]
			whole := make()
			whole.Deals += 3
			whole.Dir = &Dir{Path: t.TempDir()}
			begin(t, whole)
			play(t, whole)
			dir := &Dir{Path: t.TempDir()}
			for i, deals := range []int{1, 1 + make().Deals/2, whole.Deals} {
				tour := make()
				tour.Dir, tour.Deals = dir, deals
				if i == 0 {
					begin(t, tour)
				}
				play(t, tour)
				if i == 2 {
					if diff := cmp.Diff(results(t, whole), results(t, tour), cmpopts.EquateNaNs()); diff != "" {
						t.Errorf("the results differ (-whole +extended):\n%s", diff)
					}
				}
			}
			if diff := cmp.Diff(files(t, whole.Dir.Path), files(t, dir.Path)); diff != "" {
				t.Errorf("the directory differs (-whole +extended):\n%s", diff)
			}
		})
	}
}

// Another plan takes the place of the first, and the result goes; not while another program
// plays.
func TestReplacePlan(t *testing.T) {
	dir := &Dir{Path: t.TempDir()}
	plan := somePlan()
	if err := dir.Begin(plan); err != nil {
		t.Fatal(err)
	}
	if err := dir.Result([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	unlock, err := dir.lock()
	if err != nil {
		t.Fatal(err)
	}
	plan.Deals = 40
	if err := dir.Replace(plan); err == nil || !strings.Contains(err.Error(), "another timba is playing") {
		t.Errorf("while another plays: %v", err)
	}
	unlock()
	if err := dir.Replace(plan); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadPlan()
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
		dir := &Dir{Path: filepath.Join(t.TempDir(), "faults"), FaultsOnly: true}
		tour := &Tournament{Variant: variant(t, "teeko", "limit=12"), Format: Single, Deals: 3, Clock: patient, Seed: rules.Seed{7}, Bots: processes(t, "random", c.rival), Dir: dir}
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
			replay, log := dir.Replay(0, f.Deal, f.Rotation), dir.Log(0, f.Deal, f.Rotation, f.Seat)
			for _, path := range []string{replay, log} {
				rel, err := filepath.Rel(dir.Path, path)
				if err != nil {
					t.Fatal(err)
				}
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
		if data, _ := os.ReadFile(dir.Replay(0, faults[0].Deal, faults[0].Rotation)); !json.Valid(data) {
			t.Errorf("the replay is %q", data)
		}
	}
}

// Two programs cannot play in one directory: the second is told, and nothing of it
// is kept.
func TestDirOfAnother(t *testing.T) {
	dir := &Dir{Path: t.TempDir()}
	unlock, err := dir.lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.lock(); err == nil || !strings.Contains(err.Error(), "another timba is playing in "+dir.Path) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := dir.lock()
	if err != nil {
		t.Fatalf("after the first was given back: %v", err)
	}
	again()
}
