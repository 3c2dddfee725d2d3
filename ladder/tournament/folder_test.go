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
	"github.com/timba-arena/timba/referee/rules"
)

// times are what may differ in a replay that is played again.
var times = regexp.MustCompile(`"ms":[0-9.e-]+`)

// files are a folder's files by path, without times.
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

// results are a tournament's figures.
func results(t testing.TB, tour *Tournament) Results {
	t.Helper()
	r, err := tour.Results()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// resumable are small tournaments of real processes, among them bots that are
// out after three faults.
func resumable(t testing.TB) map[string]func() *Tournament {
	sprt, err := rating.ParseSPRT("elo0=0,elo1=200,alpha=0.2,beta=0.2")
	if err != nil {
		t.Fatal(err)
	}
	short := variant(t, "teeko", "limit=12")
	make := func(v rules.Variant, f Format, deals, lanes int, names ...string) func() *Tournament {
		return func() *Tournament {
			tour := &Tournament{Variant: v, Format: f, Deals: deals, Clock: patient, Seed: rules.Seed{7}, Bots: processes(t, names...)}
			for range lanes {
				tour.Lanes = append(tour.Lanes, referee.AnyCore)
			}
			return tour
		}
	}
	return map[string]func() *Tournament{
		"one match":     make(short, Single, 6, 1, "random", "moody"),
		"two lanes":     make(short, Single, 6, 2, "moody", "random"),
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
// folder ends like one that was never broken off, byte for byte but for times.
func TestResumeAfterEveryGame(t *testing.T) {
	for name, tour := range resumable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := tour()
			whole.Folder = &Folder{Path: t.TempDir()}
			begin(t, whole)
			play(t, whole)
			want, wantResults := files(t, whole.Folder.Path), results(t, whole)
			total := 0
			for _, m := range whole.Matches() {
				total += m.Tally.Games
			}
			for games := range total + 1 {
				folder := &Folder{Path: t.TempDir()}
				first := tour()
				first.Folder = folder
				begin(t, first)
				playUntil(t, first, games)
				again := tour()
				again.Folder = folder
				play(t, again)
				if diff := cmp.Diff(want, files(t, folder.Path)); diff != "" {
					t.Errorf("broken off after %d games, the folder differs (-whole +resumed):\n%s", games, diff)
				}
				if diff := cmp.Diff(wantResults, results(t, again), cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("broken off after %d games, the results differ (-whole +resumed):\n%s", games, diff)
				}
			}
		})
	}
}

// begin begins the folder of a tournament with a plan.
func begin(t testing.TB, tour *Tournament) {
	t.Helper()
	if err := tour.Folder.Begin(Plan{Game: tour.Variant.Game().Name(), Seed: referee.Hex(tour.Seed)}); err != nil {
		t.Fatal(err)
	}
}

// A file that was being written when the program ended does no harm and goes.
func TestResumeSweepsWhatWasBeingWritten(t *testing.T) {
	tour := resumable(t)["one match"]()
	tour.Folder = &Folder{Path: t.TempDir()}
	begin(t, tour)
	for _, name := range []string{".plan.json.tmp", "games/.0000-00000-0.json.tmp"} {
		if err := os.WriteFile(filepath.Join(tour.Folder.Path, name), []byte(`{"timba":`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	play(t, tour)
	for name := range files(t, tour.Folder.Path) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left over", name)
		}
	}
}

// What a folder's games are not is said with the file's name.
func TestResumeRefusesForeignFiles(t *testing.T) {
	make := resumable(t)["one match"]
	tour := make()
	tour.Folder = &Folder{Path: t.TempDir()}
	begin(t, tour)
	play(t, tour)
	path := func(deal, rotation int) string { return tour.Folder.Replay(0, deal, rotation) }
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
		"twice":         {good + good, "more after the end"},
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
		again.Folder = tour.Folder
		err := again.Play(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "resume: "+path(2, 1)+": ") || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "delete it to play the game again") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// As the error says, a game that is deleted is played again.
	want := files(t, tour.Folder.Path)
	want[filepath.Join("games", filepath.Base(path(2, 1)))] = times.ReplaceAllString(good, `"ms":0`)
	if err := os.Remove(path(2, 1)); err != nil {
		t.Fatal(err)
	}
	again := make()
	again.Folder = tour.Folder
	play(t, again)
	if diff := cmp.Diff(want, files(t, tour.Folder.Path)); diff != "" {
		t.Errorf("after the game was deleted and played again the folder differs:\n%s", diff)
	}
}

// A folder that holds a tournament is not begun again; one that holds none is not
// resumed.
func TestFolderErrors(t *testing.T) {
	folder := &Folder{Path: filepath.Join(t.TempDir(), "new", "folder")}
	if _, err := folder.ReadPlan(); err == nil || !strings.Contains(err.Error(), "holds no tournament") || !strings.Contains(err.Error(), "--out "+folder.Path) {
		t.Error(err)
	}
	plan := somePlan()
	if err := folder.Begin(plan); err != nil {
		t.Fatal(err)
	}
	if err := folder.Begin(plan); err == nil || !strings.Contains(err.Error(), "holds a tournament already") || !strings.Contains(err.Error(), "--resume "+folder.Path) {
		t.Error(err)
	}
	got, err := folder.ReadPlan()
	if diff := cmp.Diff(plan, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	path := filepath.Join(folder.Path, "plan.json")
	for _, text := range []string{"", "{", `{"game": 1}`, `{"unknown": 1}`, `{"seed": "77"}`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := folder.ReadPlan(); err == nil || !strings.HasPrefix(err.Error(), "resume: "+path+": ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&Folder{Path: file}).Begin(plan); err == nil || !strings.Contains(err.Error(), "name a folder that can be written to") {
		t.Error(err)
	}
}

func somePlan() Plan {
	return Plan{
		Game: "brisca", Options: map[string]string{"players": "2"}, Format: RoundRobin, Rounds: 3, Deals: 4,
		Seed: referee.Hex{1}, Clock: PlanClock{Movetime: 1000, Margin: 50, Startup: 10_000}, SPRT: "elo0=0,elo1=10",
		Bots: []PlanBot{{"@random", "@random", "11"}, {"/a/bot", "bot", "22"}},
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
		{func(p *Plan) { p.Options = map[string]string{"players": "3"} }, `options was {"players":"2"} and is now {"players":"3"}`},
		{func(p *Plan) { p.Format = Swiss }, `--format was "round-robin" and is now "swiss"`},
		{func(p *Plan) { p.Rounds = 5 }, "--rounds was 3 and is now 5"},
		{func(p *Plan) { p.Deals = 9 }, "--deals was 4 and is now 9"},
		{func(p *Plan) { p.Seed[0] = 2 }, `--seed was "01`},
		{func(p *Plan) { p.Clock.Margin = 60 }, `the clock was {"movetime":1000,"margin":50,`},
		{func(p *Plan) { p.SPRT = "" }, `--sprt was "elo0=0,elo1=10" and is now ""`},
		{func(p *Plan) { p.Bots = p.Bots[:1] }, "there were 2 bots and are now 1"},
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

// Without a folder that the user named only games with faults are kept, with
// their logs, and no folder is made where there are none.
func TestFaultsOnly(t *testing.T) {
	for _, c := range []struct {
		rival  string
		faults bool
	}{{"moody", true}, {"first", false}} {
		folder := &Folder{Path: filepath.Join(t.TempDir(), "faults"), FaultsOnly: true}
		tour := &Tournament{Variant: variant(t, "teeko", "limit=12"), Format: Single, Deals: 3, Clock: patient, Seed: rules.Seed{7}, Bots: processes(t, "random", c.rival), Folder: folder}
		play(t, tour)
		faults := tour.Matches()[0].Tally.Faults
		if c.faults != (len(faults) > 0) {
			t.Fatalf("%s: faults %v", c.rival, faults)
		}
		if !c.faults {
			if _, err := os.Stat(folder.Path); !os.IsNotExist(err) {
				t.Errorf("%s: there is a folder without faults: %v", c.rival, err)
			}
			continue
		}
		var names []string
		for name := range files(t, folder.Path) {
			names = append(names, name)
		}
		slices.Sort(names)
		var want []string
		for _, f := range faults {
			replay, log := folder.Replay(0, f.Deal, f.Rotation), folder.Log(0, f.Deal, f.Rotation, f.Seat)
			for _, path := range []string{replay, log} {
				rel, err := filepath.Rel(folder.Path, path)
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
			t.Errorf("the folder has %v, want %v", names, want)
		}
		if data, _ := os.ReadFile(folder.Replay(0, faults[0].Deal, faults[0].Rotation)); !json.Valid(data) {
			t.Errorf("the replay is %q", data)
		}
	}
}

// Two programs cannot play in one folder: the second is told, and nothing of it
// is kept.
func TestFolderOfAnother(t *testing.T) {
	folder := &Folder{Path: t.TempDir()}
	unlock, err := folder.lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.lock(); err == nil || !strings.Contains(err.Error(), "another timba is playing in "+folder.Path) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := folder.lock()
	if err != nil {
		t.Fatalf("after the first was given back: %v", err)
	}
	again()
}
