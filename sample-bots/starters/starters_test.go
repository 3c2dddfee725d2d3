package starters

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// TestMain lets the test binary run as a house bot in real processes.
func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

// TestStarterFiles checks that each starter has two text files besides its README, and no build output.
func TestStarterFiles(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(Languages) {
		t.Errorf("%d directories are embedded for %d languages", len(entries), len(Languages))
	}
	for _, l := range Languages {
		want := []string{l.Source, "timba.toml"}
		var got []string
		err := fs.WalkDir(files, l.Name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				got = append(got, strings.TrimPrefix(path, l.Name+"/"))
			}
			return err
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", l.Name, got, err, want)
		}
		for _, name := range got {
			data, err := files.ReadFile(l.Name + "/" + name)
			if err != nil || bytes.ContainsFunc(data, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' && r != '\t' }) {
				t.Errorf("%s/%s is not plain text: %v", l.Name, name, err)
			}
		}
	}
}

func write(t testing.TB, l Language, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if _, err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestStarterManifestAndReadme checks that the manifest is valid, needs the listed programs, and runs the bot
// as timba would without it. The README must have the other information in about ten lines.
func TestStarterManifestAndReadme(t *testing.T) {
	for _, l := range Languages {
		dir := write(t, l, "Nice-1")
		m, err := program.ReadManifest(dir)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		if m.Name != "Nice-1" || m.Version != "1.0" || len(m.Games) != len(refereetest.SpecGames(t)) {
			t.Errorf("%s: the manifest is %+v", l.Name, m)
		}
		for _, g := range refereetest.SpecGames(t) {
			if !slices.Contains(m.Games, g.Name) {
				t.Errorf("%s: the manifest does not claim %s", l.Name, g.Name)
			}
		}
		var needs []string
		for _, command := range [][]string{m.Build, m.Run} {
			if len(command) > 0 && !strings.Contains(command[0], "/") {
				needs = append(needs, command[0])
			}
		}
		if !slices.Equal(needs, l.Programs) {
			t.Errorf("%s: the manifest needs %q, the list says %q", l.Name, needs, l.Programs)
		}
		text := read(t, filepath.Join(dir, "README.md"))
		if n := strings.Count(text, "\n"); n < 8 || n > 12 {
			t.Errorf("%s: the README has %d lines", l.Name, n)
		}
		for _, want := range []string{
			"# Nice-1: a timba bot in " + l.Title + "\n", "timba match", "timba check", "`" + l.Source + "`", "ideas", "`" + l.Debug + "`", "`" + l.Comment + "`", l.Flush + ".\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the README says nothing of %q", l.Name, want)
			}
		}
		if !strings.Contains(text, "buffer") && !strings.Contains(text, "at once") && !strings.Contains(text, "flush") {
			t.Errorf("%s: the README does not say when output is sent", l.Name)
		}
		if code := read(t, filepath.Join(dir, l.Source)); !strings.Contains(code, "Nice-1") || strings.Contains(code, "my-") {
			t.Errorf("%s: the source does not have the bot's name", l.Name)
		}
		if err := os.Remove(filepath.Join(dir, program.ManifestFile)); err != nil {
			t.Fatal(err)
		}
		alone, err := program.ReadManifest(dir)
		if err != nil || !slices.Equal(alone.Run, m.Run) {
			t.Errorf("%s: without its manifest it runs by %q, not by %q: %v", l.Name, alone.Run, m.Run, err)
		}
	}
}

// TestFindLanguage checks that names, titles and aliases find a language in any case, and that the error for
// other words lists all of them.
func TestFindLanguage(t *testing.T) {
	for word, want := range map[string]string{"python": "python", "Py": "python", "JS": "javascript", "c++": "cpp", "golang": "go", "sh": "bash", "C": "c", "PHP": "php"} {
		if l, err := Find(word); err != nil || l.Name != want {
			t.Errorf("%s: %s, %v", word, l.Name, err)
		}
	}
	words := map[string]string{}
	for _, l := range Languages {
		for _, word := range append([]string{l.Name}, l.Aliases...) {
			if words[word] != "" {
				t.Errorf("%s is both %s and %s", word, words[word], l.Name)
			}
			words[word] = l.Name
		}
		if got, err := Find(l.Title); err != nil || got.Name != l.Name {
			t.Errorf("%s: %v", l.Title, err)
		}
	}
	_, err := Find("cobol")
	for word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v: says nothing of %s", err, word)
		}
	}
}

// TestWriteNeverOverwrites checks that a directory that is not empty is not changed.
func TestWriteNeverOverwrites(t *testing.T) {
	l := Languages[0]
	dir := write(t, l, "mine")
	if err := os.WriteFile(filepath.Join(dir, "bot.py"), []byte("my work"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(dir); err == nil || !strings.Contains(err.Error(), dir+" is not empty") {
		t.Errorf("%v", err)
	}
	if text := read(t, filepath.Join(dir, "bot.py")); text != "my work" {
		t.Errorf("the file is %q", text)
	}
	if _, err := l.Write(filepath.Join(dir, "bot.py")); err == nil || !strings.Contains(err.Error(), "name a new directory") {
		t.Errorf("onto a file: %v", err)
	}
	repository := t.TempDir()
	if err := os.Mkdir(filepath.Join(repository, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(repository); err != nil {
		t.Errorf("into a new repository: %v", err)
	}
}

// TestBotNames checks that every directory gives a name that needs no quoting.
func TestBotNames(t *testing.T) {
	for dir, want := range map[string]string{
		"mybot": "mybot", "My Bot 2": "My-Bot-2", `a"b'c`: "a-b-c", "señal": "se-al", "..x": "x", "日本": "my-bot", "v1.2_b": "v1.2_b", "-": "my-bot",
	} {
		if got := botName(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
	for _, l := range Languages {
		dir := write(t, l, `we "need" $quotes`)
		if m, err := program.ReadManifest(dir); err != nil || m.Name != "we--need---quotes" {
			t.Errorf("%s: %q, %v", l.Name, m.Name, err)
		}
	}
}

// settings has the games and options that the starters play: every game, few and many seats, teams, and all
// options.
var settings = []struct{ game, options string }{
	{"brisca", "players=2 exchange=yes last10=yes blackhand=yes hunt3=yes"},
	{"brisca", "players=3"},
	{"brisca", "players=4 teams=yes exchange=yes last10=yes blackhand=yes"},
	{"tute", "players=2 exchange=yes last10=yes blackhand=yes hunt3=yes"},
	{"tute", "players=3 followonly=yes"},
	{"tute", "players=4 teams=yes exchange=yes last10=yes blackhand=yes"},
	{"podrida", "players=3 deck=40 rounds=up"},
	{"podrida", "players=12 rounds=updown"},
	{"tebes", "size=6 limit=60"},
	{"tebes", "size=4 board=random cycles=allow limit=100"},
	{"teeko", "start=random limit=40"},
	{"teeko", "start=drop squares=advanced limit=40"},
}

// patient is a clock that does not run out even on a busy machine.
var patient = referee.Clock{Move: time.Hour, Margin: time.Second, Startup: time.Hour}

// game plays one game between a bot and @random, who alternate in the seats, or between a bot and itself. It
// returns the replay without the parts that differ from bot to bot.
func game(t testing.TB, setting struct{ game, options string }, bots ...match.Contestant) string {
	t.Helper()
	g, err := games.Find(setting.game)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Resolve(protocol.Pairs(setting.options).Map())
	if err != nil {
		t.Fatal(err)
	}
	m := &match.Match{Variant: v, Bots: bots, Seed: rules.Seed{11}, Clock: patient}
	one, err := m.PlayGame(t.Context()) // a single game is enough
	if err != nil {
		t.Errorf("%s %s: %v", setting.game, setting.options, err)
		return ""
	}
	for _, f := range one.Faults {
		t.Errorf("%s %s: fault of seat %d at ply %d: %s: %s", setting.game, setting.options, f.Seat, f.Ply, f.Code, f.Text)
		return ""
	}
	scores(t, v, &one.Replay)
	r := one.Replay
	for i := range r.Moves {
		r.Moves[i].MS, r.Moves[i].Credit = 0, 0
	}
	r.Seats = nil
	return string(kit.Get[[]byte](t)(json.MarshalIndent(r, "", " ")))
}

// scores checks that the score that a starter reports for each position is the result of standing.
func scores(t testing.TB, v *rules.Variant, r *referee.Replay) {
	t.Helper()
	for s, err := range r.Walk(v, nil) {
		kit.Must(t, err)
		if s.Next == nil || !strings.HasPrefix(r.Seats[s.Next.Seat].Name, "starter") || len(s.Next.Info) == 0 {
			continue
		}
		want := standing(v, s.State, s.Next.Seat)
		if got, ok := s.Next.Score(); !ok || got != want {
			t.Errorf("%s, ply %d of seat %d: the infos %q of a position that is worth %v", r.Game, s.State.Ply(), s.Next.Seat, s.Next.Info, want)
		}
	}
}

// standing returns how well a game stands for a seat: by points; in Tebes by pieces; in Teeko by the pairs of
// pieces that touch.
func standing(v *rules.Variant, s rules.State, seat int) (score float64) {
	view := protocol.Pairs(s.View(nil, seat)).Map()
	sign := func(piece byte) float64 {
		if piece == view["me"][0] {
			return 1
		}
		return -1
	}
	switch board := view["board"]; v.Game.Name {
	case "tebes":
		for _, piece := range []byte(strings.ReplaceAll(view["pieces"], ".", "")) {
			score += sign(piece)
		}
	case "teeko":
		for a := range 25 {
			for b := range a {
				rows, columns := a/5-b/5, a%5-b%5
				if board[a] != '.' && board[a] == board[b] && rows <= 1 && max(columns, -columns) <= 1 {
					score += sign(board[a])
				}
			}
		}
	default:
		var sum, seats [2]float64 // of the other sides, and of the own one
		for other, points := range s.Points() {
			own := 0
			if v.Side(other) == v.Side(seat) {
				own = 1
			}
			sum[own], seats[own] = sum[own]+points, seats[own]+1
		}
		score = sum[1]*seats[0] - sum[0]*seats[1]
	}
	return score
}

// conforms checks a starter by `timba check`.
func conforms(t testing.TB, p program.Program) {
	t.Helper()
	teeko, err := games.Find("teeko") // the others are played below
	if err != nil {
		t.Fatal(err)
	}
	o := check.Defaults()
	o.Games, o.Clock, o.Quick, o.Time, o.Waits.Grace = []*rules.Game{teeko}, patient, true, time.Hour, time.Hour
	report, err := check.Run(t.Context(), p, o)
	if err != nil {
		t.Errorf("%s: %v", p.Name, err)
		return
	}
	for _, c := range report.Checks {
		if c.Status != check.OK {
			t.Errorf("%s: %+v", p.Name, c)
		}
	}
}

// all plays a starter against @random and against itself, in one or in every setting of each game. It returns
// the replays.
func all(t testing.TB, l Language, every bool) (replays []string) {
	t.Helper()
	var log bytes.Buffer
	bots := []program.BotSpec{{Bot: write(t, l, "starter")}, {Bot: "@random"}}
	programs, err := program.Resolver{Log: &log, Cache: t.TempDir()}.ResolveAll(t.Context(), bots, true)
	if err != nil {
		t.Errorf("%s: %v", l.Name, err)
		return nil
	}
	if log.Len() > 0 {
		t.Log(log.String())
	}
	conforms(t, programs[0])
	for i, s := range settings {
		other := i == 0 || settings[i-1].game != s.game
		if !every && !other {
			continue
		}
		replays = append(replays, game(t, s, programs[0].Contestant, programs[1].Contestant))
		if other { // against itself, once for each game
			replays = append(replays, game(t, s, programs[0].Contestant))
		}
	}
	return replays
}

// TestStartersPlayAlike checks that every starter plays every game without a fault, and that with the same
// seeds and opponents all starters make the same moves and report the same scores.
func TestStartersPlayAlike(t *testing.T) { playAlike(t, false) }

func playAlike(t *testing.T, every bool) {
	kit.Slow(t)
	i := slices.IndexFunc(Languages, func(l Language) bool { return l.MissingPrograms() == nil })
	if i < 0 {
		kit.Lacks(t, "all languages of starters")
	}
	model := Languages[i]
	first := sync.OnceValue(func() []string { return all(t, model, every) })
	for _, l := range Languages {
		t.Run(l.Name, func(t *testing.T) {
			t.Parallel()
			if missing := l.MissingPrograms(); missing != nil {
				kit.Lacks(t, strings.Join(missing, " and ")+" for bots in "+l.Title)
			}
			want := first()
			if l.Name == model.Name {
				return
			}
			if diff := cmp.Diff(want, all(t, l, every)); diff != "" {
				t.Errorf("the games differ (-%s +%s):\n%s", model.Name, l.Name, diff)
			}
		})
	}
}
