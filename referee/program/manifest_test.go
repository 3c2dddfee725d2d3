package program

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/trees"
)

func TestManifest(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"timba.toml": `
name = "nice"
version = "2.1"
games = ["tute", "teeko"]
build = ["make", "-s"]
run = ["./bot", "--fast"]
`})
	m, err := ReadManifest(dir)
	kit.Must(t, err)
	if m.Name != "nice" || m.Version != "2.1" || !slices.Equal(m.Games, []string{"tute", "teeko"}) ||
		!slices.Equal(m.Build, []string{"make", "-s"}) || !slices.Equal(m.Run, []string{"./bot", "--fast"}) {
		t.Errorf("the manifest is %+v", m)
	}
	m, err = ReadManifest(newDir(t, "mine", map[string]string{"timba.toml": `run = ["python3", "bot.py"]`}))
	if err != nil || m.Name != "mine" || m.Games != nil || m.Build != nil || m.language != "Python" {
		t.Errorf("the least manifest is %+v, %v", m, err)
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
	}{
		{`run = ["x"]` + "\n" + `rum = ["y"]`, []string{`unknown key "rum"`, "try name, version, games, build, run or match"}},
		{`run = ["x"]` + "\n[limits]\nmemory = 3", []string{`unknown key "limits`}},
		{`name = "x"`, []string{"run is missing", `run = ["python3", "bot.py"]`}},
		{`run = []`, []string{"run is missing"}},
		{`run = "python3 bot.py"`, []string{`run must be a list of words, as in ["python3", "bot.py"], not "python3 bot.py"`}},
		{`Run = "x"`, []string{`Run must be a list of words`}},
		{`run = "` + strings.Repeat("é", 70) + `"`, []string{`not "` + strings.Repeat("é", 60) + `..."`}},
		{`run = ["python3", 7]`, []string{`run must be a list of words in quotes, as in ["python3", "bot.py"]: 7 is not in quotes`}},
		{`run = [["python3"]]`, []string{"a list is not in quotes"}},
		{`run.x = "python3"`, []string{"run must be a list of words", "not a table"}},
		{`[[run]]`, []string{"run must be a list of words", "not a list of tables"}},
		{`run = [""]`, []string{"run: the first word is empty"}},
		{`run = ["x", "\u0000"]`, []string{"run has a word with a zero byte"}},
		{`build = [""]` + "\n" + `run = ["x"]`, []string{"build: the first word is empty"}},
		{`run = ["x"]` + "\n" + `run = ["y"]`, []string{"line 2", "already been defined"}},
		{`run = [x]`, []string{"line 1", `"x"`}},
		{`name = 99999999999999999999`, []string{"line 1: name: 99999999999999999999 is out of range"}},
		{`name = 1e999`, []string{"line 1", "is out of range"}},
		{"name = \"\xff\"", []string{"line 1", "UTF-8"}},
		{`run = ["x"`, []string{"line 1"}},
		{`run = ["x"] #` + strings.Repeat("x", MaxManifest), []string{"65549 bytes", "at most 65536"}},
		{"run = [\"x\"]\n[match]\nspeed = 3", []string{`unknown key "speed" in match: try movetime, bank, inc, memory or processes`}},
		{"run = [\"x\"]\n[match]\nmovetime = \"50\"", []string{`match: movetime must be a whole number without quotes, not "50"`}},
		{"run = [\"x\"]\n[match]\nmovetime = 0.5", []string{`match: movetime must be a whole number without quotes, not 0.5`}},
		{"run = [\"x\"]\n[match]\nmovetime = 0", []string{`match: movetime cannot be "0": give a whole number of milliseconds, 1 to 86400000`}},
		{"run = [\"x\"]\n[match]\nmovetime = -5", []string{`match: movetime cannot be "-5"`}},
		{"run = [\"x\"]\n[match]\nprocesses = 9999999999", []string{`match: processes cannot be "9999999999": give a whole number of processes, 1 to `}},
		{"run = [\"x\"]\n[match]\nmemory = 300", []string{`match: memory must be text in quotes, as in "300m", not 300`}},
		{"run = [\"x\"]\n[match]\nmemory = \"much\"", []string{`match: memory cannot be "much": try a number and k, m or g`}},
		{"run = [\"x\"]\n[match]\nmemory = \"1k\"", []string{`match: memory cannot be "1k": `, "too small"}},
		{"run = [\"x\"]\n[match]\nmovetime = 5\nbank = 5", []string{"match: movetime and bank exclude each other: choose one"}},
		{"run = [\"x\"]\n[match]\ninc = 5", []string{"match: inc goes with bank: set bank as well"}},
		{`run = ["x"]` + "\n" + `match = "fast"`, []string{`match must be one table, as in [match] with movetime = 50 in the next line, not "fast"`}},
		{"run = [\"x\"]\n[[match]]", []string{"match must be one table", "not a list of tables"}},
		{`name = 7` + "\n" + `run = ["x"]`, []string{"name"}},
	} {
		dir := newDir(t, "mine", map[string]string{"timba.toml": c.text})
		_, err := ReadManifest(dir)
		refused(t, err, append(c.words, filepath.Join(dir, "timba.toml"))...)
		inOwnWords(t, err)
	}
}

// Every main file is recognized by itself, and its language is known.
func TestRecognisedMainFiles(t *testing.T) {
	model := kit.Get[[]byte](t)(os.ReadFile("../../sample-bots/house/models/sl/tute4.timba"))
	for _, f := range mainFiles {
		dir := newDir(t, "mine", map[string]string{f.name: string(model)}) // only a model is read
		m, err := ReadManifest(dir)
		if err != nil || m.Name != "mine" || m.language != f.language || !slices.Equal(m.Run, f.run) || !slices.Equal(m.Build, f.build) {
			t.Errorf("%s: %+v, %v", f.name, m, err)
		}
		if f.build == nil && m.Run[len(m.Run)-1] != f.name || f.build != nil && !slices.Contains(m.Build, f.name) {
			t.Errorf("%s: the commands do not name it: %+v", f.name, m)
		}
	}
	_, err := ReadManifest(newDir(t, "mine", map[string]string{"other.py": ""}))
	refused(t, err, "mine", "timba.toml", "bot.py", "bot.php", "run = [")
	_, err = ReadManifest(newDir(t, "mine", map[string]string{"bot.py/x": ""}))
	refused(t, err, "no timba.toml and no recognised main file")
}

// Every key has a value of every type, and each wrong one is refused in the words of a manifest.
func TestManifestTypes(t *testing.T) {
	values := []struct{ written, told string }{
		{`"one two"`, `"one two"`}, {`'one'`, `"one"`}, {`"""a\nb"""`, `"a\nb"`}, {`""`, `""`},
		{"7", "7"}, {"-0x7", ""}, {"0x10", "16"}, {"0.5", "0.5"}, {"inf", "+Inf"}, {"true", "true"}, {"2026-01-31", "a date or a time"},
		{"2026-01-31T10:00:00Z", "a date or a time"}, {"10:00:00", "a date or a time"}, {"{}", "a table"}, {"{x = 1}", "a table"},
		{"[]", "a list"}, {`["x"]`, "a list"}, {"[7]", "a list"}, {`["x", true]`, "a list"}, {"[{x = 1}]", "a list"}, {`[["x"]]`, "a list"},
	}
	fields := reflect.TypeFor[Manifest]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if !field.IsExported() {
			continue
		}
		key := strings.ToLower(field.Name)
		isList := field.Type.Kind() == reflect.Slice
		for _, v := range values {
			_, err := parseManifest("run = [\"x\"]\n" + key + " = " + v.written)
			if key == "run" {
				_, err = parseManifest(key + " = " + v.written)
			}
			if v.told == "" {
				refused(t, err, "line ")
				continue
			}
			inOwnWords(t, err)
			isText := strings.HasPrefix(v.told, `"`)
			switch {
			case field.Type.Kind() == reflect.Struct && v.written == "{}":
				if err != nil {
					t.Errorf("%s = {}: %v", key, err)
				}
			case field.Type.Kind() == reflect.Struct && v.told == "a table":
				refused(t, err, `unknown key "x" in `+key)
			case field.Type.Kind() == reflect.Struct:
				refused(t, err, key+" must be one table, as in [", ", not "+v.told)
			case !isList && isText, isList && v.written == `["x"]`, isList && v.written == "[]" && key != "run":
				if err != nil {
					t.Errorf("%s = %s: %v", key, v.written, err)
				}
			case isList && v.written == "[]":
				refused(t, err, "run is missing")
			case isList && v.told == "a list":
				refused(t, err, key+" must be a list of words in quotes, as in [", "is not in quotes")
			case isList:
				refused(t, err, key+" must be a list of words, as in [", "], not "+v.told)
			default:
				refused(t, err, key+" must be text in quotes, as in \"", ", not "+v.told)
			}
		}
	}
}

// ofGo matches words that only those who know Go or its libraries understand.
var ofGo = regexp.MustCompile(`(?i)toml:|incompatible|destination|slice|\bint64|float64|interface|map\[|<nil>|%!|strconv|\bopen |\bread |\bstat |\blstat `)

func inOwnWords(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := strings.ReplaceAll(err.Error(), ManifestFile+":", "")
	if found := ofGo.FindString(text); found != "" {
		t.Errorf("%q has %q", err, found)
	}
}

// What is not a file, or cannot be read, is told with its path, once.
func TestManifestUnreadable(t *testing.T) {
	dir := newDir(t, "mine", map[string]string{"timba.toml/x": "", "bot.py": ""})
	_, err := ReadManifest(dir)
	refused(t, err, filepath.Join(dir, "timba.toml")+" is not a file")
	dir = newDir(t, "mine", map[string]string{"bot.py": ""})
	if err := os.Symlink("timba.toml", filepath.Join(dir, "timba.toml")); err != nil {
		kit.Lacks(t, err.Error())
	}
	_, err = ReadManifest(dir)
	refused(t, err, filepath.Join(dir, "timba.toml")+": ")
	inOwnWords(t, err)
}

// An empty list of games claims all games.
func TestNoGames(t *testing.T) {
	m, err := parseManifest("games = []\nrun = [\"x\"]")
	if err != nil || m.Games != nil {
		t.Errorf("%q, %v", m.Games, err)
	}
}

// manifestSection returns the section "The manifest" of docs/writing-a-bot.md and its tables: that of the
// keys, and that of the main files. Each row has its cells.
func manifestSection(t *testing.T) (text string, keys, mains [][]string) {
	data := kit.Get[[]byte](t)(os.ReadFile("../../docs/writing-a-bot.md"))
	_, text, ok := strings.Cut(string(data), "\n## The manifest\n")
	if !ok {
		t.Fatal("there is no such section")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var tables [][][]string
	inside := false
	for line := range strings.Lines(text) {
		row, isRow := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if isRow && !inside {
			tables = append(tables, nil)
		}
		if inside = isRow || inside && strings.HasPrefix(line, "|"); isRow {
			last := &tables[len(tables)-1]
			*last = append(*last, strings.Split(strings.TrimSuffix(row, " |"), " | "))
		}
	}
	if len(tables) != 2 {
		t.Fatalf("it has %d tables", len(tables))
	}
	return text, tables[0][1:], tables[1][1:]
}

// docs/writing-a-bot.md, "The manifest": every key with its type, the size, every main file with its commands.
func TestManifestIsDocumented(t *testing.T) {
	text, keys, mains := manifestSection(t)
	var want, got []string
	fields := reflect.TypeFor[Manifest]()
	for i := range fields.NumField() {
		if f := fields.Field(i); f.IsExported() {
			kind := map[reflect.Kind]string{reflect.String: "text", reflect.Slice: "list of words", reflect.Struct: "table"}[f.Type.Kind()]
			want = append(want, fmt.Sprintf("`%s` %s", strings.ToLower(f.Name), kind))
		}
	}
	for _, row := range keys {
		got = append(got, row[0]+" "+row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the keys are %q, the page has %q", want, got)
	}
	want, got = nil, nil
	for _, f := range mainFiles {
		want = append(want, fmt.Sprintf("%s %s %s %s", code(f.name), f.language, code(strings.Join(f.build, " ")), code(strings.Join(f.run, " "))))
	}
	for _, row := range mains {
		got = append(got, strings.Join(row, " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the main files are\n%s\nthe page has\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	if size := fmt.Sprintf("%d KiB", MaxManifest>>10); !strings.Contains(text, size) {
		t.Errorf("the page does not have the size of %s", size)
	}
	for dir := range slices.Values(trees.Ignored) {
		if !strings.Contains(text, code(dir)) {
			t.Errorf("the page does not say that %s is ignored", dir)
		}
	}
}

func code(s string) string {
	if s == "" {
		return "-"
	}
	return "`" + s + "`"
}

// docs/writing-a-bot.md, "The manifest": its example is a manifest, and the mistakes are told as it says.
func TestManifestExamples(t *testing.T) {
	text, _, _ := manifestSection(t)
	blocks := strings.Split(text, "```")
	if len(blocks) != 5 {
		t.Fatalf("there are %d blocks", len(blocks)/2)
	}
	example, ok := strings.CutPrefix(blocks[1], "toml\n")
	m, err := parseManifest(example)
	if !ok || err != nil || m.Name == "" || m.Version == "" || m.Games == nil || m.Build == nil || m.Run == nil {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = parseManifest(`run = "python3 bot.py"`)
	if got := "\ntimba.toml: " + err.Error() + "\n"; got != blocks[3] {
		t.Errorf("the message is %q, the page has %q", got, blocks[3])
	}
}
