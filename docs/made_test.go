// Package docs has the pages for people, and makes the parts of them that the program knows.
package docs

//go:generate go test . -run Made -update

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/source"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/middleware"
)

// made has the blocks of the pages by their names.
func made(t *testing.T) map[string]string {
	blocks := map[string]string{
		"faults": faults(), "limits of an upload": limits(), "house bots": houseBots(), "standing": standing(t), "levels": levels(),
		"packages": packages(t),
	}
	for _, file := range kit.Get[[]string](t)(filepath.Glob("../lab/results/claims-*.csv")) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "claims-"), ".csv")
		blocks["claims of "+name] = claims(t, file)
		if name != "brisca-levels" { // it published no tables
			blocks["tables of "+name] = publishedTables(t, name)
		}
	}
	for _, g := range refereetest.SpecGames(t) {
		b := newTable("option", "default", "allowed", "meaning")
		for _, o := range g.Options {
			row := line(code(o.Name), o.DefaultText(), o.AllowedText(), o.Help)
			if g.Name != "tute" || !strings.Contains(blocks["options of brisca"], row) { // SPEC.md says that it has them
				b.WriteString(row)
			}
		}
		blocks["options of "+g.Name], blocks["rules of "+g.Name] = b.String(), g.Text("en")
	}
	return blocks
}

// TestMade: the blocks of the pages between "<!-- made: NAME -->" and "<!-- end -->" are fresh.
func TestMade(t *testing.T) {
	block := regexp.MustCompile(`(?s)(<!-- made: ([^\n]*) -->\n)(.*?)(<!-- end -->\n)`)
	blocks, used := made(t), map[string]bool{}
	pages := kit.Get[[]string](t)(kit.Pages(".."))
	for _, page := range pages {
		page = path.Join("..", page)
		old := string(kit.Get[[]byte](t)(os.ReadFile(page)))
		text := block.ReplaceAllStringFunc(old, func(part string) string {
			m := block.FindStringSubmatch(part)
			fresh, ok := blocks[m[2]]
			if !ok {
				t.Errorf("%s: nothing makes %q", page, m[2])
				return part
			}
			used[m[2]] = true
			return m[1] + fresh + m[4]
		})
		switch {
		case text == old:
		case kit.Updating():
			kit.Must(t, os.WriteFile(page, []byte(text), 0o644))
		default:
			t.Errorf("%s is not fresh: go generate ./docs writes it anew", page)
		}
	}
	for name := range blocks {
		if !used[name] {
			t.Errorf("no page has the block %q", name)
		}
	}
}

// table is a table in Markdown.
type table struct{ strings.Builder }

func newTable(head ...string) *table {
	t := new(table)
	t.row(head...)
	t.row(slices.Repeat([]string{"---"}, len(head))...)
	return t
}

func (t *table) row(cells ...string) { t.WriteString(line(cells...)) }

// line is a row of a table.
func line(cells ...string) string {
	return strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |\n", "|  |", "| |")
}

func code(text string) string { return "`" + text + "`" }

func codes(list []string) string {
	var all []string
	for _, text := range list {
		all = append(all, code(text))
	}
	return strings.Join(all, ", ")
}

func faults() string {
	b := newTable("kind", "code", "parameters", "text")
	short := strings.NewReplacer("{unfinished}", "", "; "+fault.WhereDebugBelongs, "")
	for _, k := range fault.Kinds() {
		b.row(code(string(k)), code(string(k.Code())), codes(k.Parameters()), short.Replace(k.Form()))
	}
	return b.String()
}

// limits are those of an upload. Those with a star are of the configuration.
func limits() string {
	c := config.Default()
	archive, build := bundle.LimitsOf(c.Limits), sandbox.BuildLimit
	b := newTable("limit", "value", "beyond it")
	for _, row := range [][3]string{
		{`archive \*`, bundle.FormatSize(archive.UploadSize), "rejected during the upload"},
		{`all files, unpacked \*`, bundle.FormatSize(archive.UnpackedSize), "unpack fails"},
		{"files and directories", strconv.Itoa(archive.Files), "unpack fails"},
		{"names in a path; its bytes", fmt.Sprintf("%d; %d", archive.Depth, archive.PathSize), "unpack fails"},
		{"bytes unpacked for each byte of the archive, above " + bundle.FormatSize(bundle.RatioFree), fmt.Sprint(archive.Ratio), "unpack fails"},
		{code(program.ManifestFile), bundle.FormatSize(program.MaxManifest), "build fails"},
		{"build: time; CPU time", fmt.Sprintf("%v; %v", submission.BuildTime, build.CPU), "build fails"},
		{"build: memory", bundle.FormatSize(build.Memory), "build fails"},
		{"build: processes and threads", strconv.Itoa(build.Processes), "no more can be started"},
		{"build: files that it writes", bundle.FormatSize(build.Disk), `"no space left on device"`},
		{"files, built; files and directories", fmt.Sprintf("%s; %d", bundle.FormatSize(bundle.MaxBuilt), bundle.MaxBuiltFiles), "build fails"},
		{"check: time, without credit", fmt.Sprint(submission.CheckTime), "check fails"},
		{"trial: time of moves, without credit", fmt.Sprint(submission.TrialTime), "trial fails"},
		{"a stage's log", bundle.FormatSize(submission.MaxLog), "the middle is cut out"},
		{`bot: memory, of all processes \*`, bundle.FormatSize(int64(c.Limits.Memory)), "fault `memory`"},
		{"bot: processes and threads", strconv.Itoa(sandbox.DefaultLimit.Processes), "no more can be started"},
		{`bots of a person, withdrawn ones too \*`, strconv.Itoa(c.Limits.Bots), "rejected"},
		{`versions of a person in 24 hours \*`, strconv.Itoa(c.Limits.Versions), "rejected"},
		{"versions of a bot in the queue or its stages", "1", "rejected"},
		{"rate of an upload", bundle.FormatSize(middleware.DefaultPace.Rate) + "/s", "the upload is ended"},
	} {
		b.row(row[0], strings.NewReplacer("m0s", " min").Replace(row[1]), row[2])
	}
	return b.String()
}

func houseBots() string {
	b := newTable("bot", "games", "what it does", "options")
	for _, bot := range house.Bots() {
		var options []string
		for _, o := range bot.Options() {
			options = append(options, code(o.Name+"="+o.DefaultText()))
		}
		plays := "all"
		if bot.Games != nil {
			plays = strings.Join(bot.Games, ", ")
		}
		b.row(code("@"+bot.Name), plays, bot.Help, strings.Join(options, " "))
	}
	return b.String()
}

func standing(t *testing.T) string {
	b := newTable("game", "house bots of its default ladders, the weakest first")
	for _, g := range refereetest.SpecGames(t) {
		var list []string
		for _, spec := range house.LadderBots(g.Name) {
			list = append(list, code("@"+spec))
		}
		b.row(g.Display.Title, strings.Join(list, " "))
	}
	return b.String()
}

// results returns the rows of a file of results, without its head.
func results(t *testing.T, file string) [][]string {
	f, err := os.Open(file)
	kit.Must(t, err)
	defer f.Close()
	table := csv.NewReader(f)
	table.Comment = '#'
	return kit.Get[[][]string](t)(table.ReadAll())[1:]
}

// publishedTables lists the published tables of a study with their power to tell our figures from those of equal bots.
func publishedTables(t *testing.T, study string) string {
	b := newTable("experiment", "table", "games", "log likelihood ratio", "from equal", "from ours", "power")
	for _, r := range results(t, "../lab/results/tables.csv") {
		if strings.HasPrefix(r[0], study+"-") {
			b.row(code(r[0]), strings.TrimSuffix(r[1]+", "+r[2], ", "), r[3], r[4], r[5], r[6], r[7])
		}
	}
	return b.String()
}

// claims lists the claims of a study with the verdicts on them. file has the results of the experiments.
func claims(t *testing.T, file string) string {
	b := newTable("claim", "units", "effect in the study", "least that matters", "measured effect", "power", "verdict")
	for _, r := range results(t, file) {
		effect := "-"
		if r[7] != "" {
			effect = fmt.Sprintf("%s (%s to %s)", r[7], r[8], r[9])
		}
		b.row(r[1], r[4], r[5], r[6], effect, r[11], r[12])
	}
	return b.String()
}

func levels() string {
	var list []string
	for _, l := range house.Levels() {
		list = append(list, fmt.Sprintf("%d %s", l.Number, l.Name))
	}
	return "The levels are " + strings.Join(list, ", ") + ".\n"
}

// packages lists those that programs are made of, with the beginning of their comments.
func packages(t *testing.T) string {
	all := kit.Get[[]*source.Package](t)(source.Load(".."))
	comment := regexp.MustCompile(`^Package \w+ (?:is |has |contains )?(.*?)[.:;](?: |$)`)
	b := newTable("directory", "what it is for")
	slices.SortFunc(all, func(a, b *source.Package) int { return cmp.Compare(a.Dir, b.Dir) })
	for _, p := range all {
		if strings.HasSuffix(p.Dir, "test") || strings.Count(p.Dir, "/") > 1 || strings.HasPrefix(p.Dir, "lab/") || strings.HasPrefix(p.Dir, "internal/") {
			continue
		}
		for _, f := range p.Files {
			if m := comment.FindStringSubmatch(strings.ReplaceAll(f.Doc.Text(), "\n", " ")); m != nil && !f.Test {
				b.row(code(p.Dir), m[1])
			}
		}
	}
	return b.String()
}
