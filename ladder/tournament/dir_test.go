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

// results returns a tournament's figures.
func results(t testing.TB, tour *Tournament) Results {
	t.Helper()
	r := tour.Results()
	return r
}

// resumable returns small tournaments of real processes, among them bots that are
// out after three faults.
func resumable(t testing.TB) map[string]func() *Tournament {
	kit.Slow(t)
	sprt := kit.Get[rating.SPRT](t)(rating.ParseSPRT("elo0=0,elo1=200,alpha=0.2,beta=0.2"))
	short := variant(t, "teeko", "limit=12")
	make := func(v *rules.Variant, f Format, deals, workers int, names ...string) func() *Tournament {
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
	kit.Must(t, tour.Dir.Begin(Plan{Game: tour.Variant.Game.Name, Seed: referee.Hex(tour.Seed)}))
}

// A file that was being written when the program ended does no harm and goes.
func TestResumeSweepsWhatWasBeingWritten(t *testing.T) {
	tour := resumable(t)["one match"]()
	tour.Dir = &Dir{Path: t.TempDir()}
	begin(t, tour)
	for _, name := range []string{".plan.json.tmp", "games/.0000-00000-0.json.tmp"} {
		kit.Must(t, os.WriteFile(filepath.Join(tour.Dir.Path, name), []byte(`{"timba":`), 0o644))
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
		return string(kit.Get[[]byte](t)(os.ReadFile(path)))
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
		kit.Must(t, os.WriteFile(path(2, 1), []byte(c.text), 0o644))
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
	kit.Must(t, os.Remove(path(2, 1)))
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
	kit.Must(t, dir.Begin(plan))
	if err := dir.Begin(plan); err == nil || !strings.Contains(err.Error(), "already has a tournament") || !strings.Contains(err.Error(), "--resume "+dir.Path) {
		t.Error(err)
	}
	got, err := dir.ReadPlan()
	if diff := cmp.Diff(plan, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	path := filepath.Join(dir.Path, "plan.json")
	for _, text := range []string{"", "{", `{"game": 1}`, `{"unknown": 1}`, `{"seed": "77"}`} {
		kit.Must(t, os.WriteFile(path, []byte(text), 0o644))
		if _, err := dir.ReadPlan(); err == nil || !strings.HasPrefix(err.Error(), "resume: "+path+": ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	kit.Must(t, os.WriteFile(file, nil, 0o644))
	if err := (&Dir{Path: file}).Begin(plan); err == nil || !strings.Contains(err.Error(), "name a directory that can be written to") {
		t.Error(err)
	}
}

func somePlan() Plan {
	return Plan{
		Game: "brisca", Options: map[string]string{"players": "2"}, Format: RoundRobin, Rounds: 3, Deals: 4,
		Seed: referee.Hex{1}, Clock: referee.ClockMS{Movetime: 1000, Margin: 50, Startup: 10_000}, SPRT: "elo0=0,elo1=10",
		Sandbox: Sandbox{"auto", "FULL", "512m", 64, "on"},
		Bots:    []PlanBot{{"@random", "@random", "11", program.Own{}}, {"/a/bot", "bot", "22", program.Own{Args: []string{"-c", "a b"}, Bank: 9000, Inc: 5, Memory: "300m"}}},
	}
}

// A plan is made into the tournament that it says, with the names and hashes of its bots. What
// cannot be played is refused, and so is a bot that is another program than it was.
func TestPlanTournament(t *testing.T) {
	begun := func() Plan {
		p := somePlan()
		p.Format, p.Rounds, p.Draw = Single, 0, "plies=8,score=10,from=40"
		return p
	}
	programs := func(p Plan) (all []program.Program) {
		for i, b := range p.Bots {
			all = append(all, program.Program{Bot: referee.Bot{Name: fmt.Sprintf("bot%d", i), Hash: b.SHA256}, Own: b.Own})
		}
		return all
	}
	p := begun()
	p.Bots[0].SHA256 = ""
	all := programs(p)
	all[0].Hash = "44"
	tour := kit.Get[*Tournament](t)(p.Tournament(all))
	if p.Bots[0].Name != "bot0" || p.Bots[0].SHA256 != "44" || p.Bots[1].Name != "bot1" || p.Bots[1].SHA256 != "22" {
		t.Errorf("it notes %+v", p.Bots)
	}
	own := referee.Clock{Bank: 9 * time.Second, Inc: 5 * time.Millisecond, Margin: 50 * time.Millisecond, Startup: 10 * time.Second}
	want := Tournament{
		Format: Single, Deals: 4, Seed: rules.Seed{1}, Clock: referee.Clock{Move: time.Second, Margin: own.Margin, Startup: own.Startup},
		Bots:         []referee.Bot{{Name: "bot0", Hash: "44"}, {Name: "bot1", Hash: "22", Clock: &own}},
		SPRT:         kit.Get[*rating.SPRT](t)(sprtOf("elo0=0,elo1=10")),
		Adjudication: referee.Adjudication{Draw: &referee.ScoreRule{Plies: 8, Score: 10, From: 40}},
	}
	if diff := cmp.Diff(&want, tour, cmpopts.IgnoreFields(Tournament{}, "Variant"), cmpopts.IgnoreUnexported(Tournament{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for want, change := range map[string]func(*Plan, []program.Program){
		`resume: bot 1, "/a/bot", is not the program that it was: its hash was 22 and is now 33`: func(_ *Plan, all []program.Program) { all[1].Hash = "33" },
		"bot bot0 does not play brisca: its manifest claims tute, teeko":                         func(_ *Plan, all []program.Program) { all[0].Games = []string{"tute", "teeko"} },
		`game "chess" does not exist`:   func(p *Plan, _ []program.Program) { p.Game = "chess" },
		"players":                       func(p *Plan, _ []program.Program) { p.Options["players"] = "9" },
		"tournament: deals cannot be 0": func(p *Plan, _ []program.Program) { p.Deals = 0 },
		"sprt: ":                        func(p *Plan, _ []program.Program) { p.SPRT = "elo0" },
		"--draw":                        func(p *Plan, _ []program.Program) { p.Draw = "plies" },
		"--resign":                      func(p *Plan, _ []program.Program) { p.Resign = "plies" },
		`tournament: format "ladder" does not exist`: func(p *Plan, _ []program.Program) { p.Format = "ladder" },
	} {
		p := begun()
		all := programs(p)
		change(&p, all)
		if _, err := p.Tournament(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func sprtOf(text string) (*rating.SPRT, error) {
	s, err := rating.ParseSPRT(text)
	return &s, err
}

// A plan can have more deals, where they change nothing that was played.
func TestPlanExtend(t *testing.T) {
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
	kit.Must(t, dir.Begin(plan))
	kit.Must(t, dir.Result([]byte("{}")))
	unlock, err := dir.lock()
	kit.Must(t, err)
	plan.Deals = 40
	if err := dir.Replace(plan); err == nil || !strings.Contains(err.Error(), "another timba is playing") {
		t.Errorf("while another plays: %v", err)
	}
	unlock()
	kit.Must(t, dir.Replace(plan))
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
	kit.Must(t, err)
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
