package experiment

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// pages returns the texts of the pages with measured figures by their paths.
func pages(t *testing.T) map[string]string {
	texts := map[string]string{}
	for _, file := range append(kit.Get[[]string](t)(filepath.Glob("../*.md")), "../../docs/house-bots.md") {
		texts[file] = string(kit.Get[[]byte](t)(os.ReadFile(file)))
	}
	return texts
}

// resultNames returns the names of the files of results, without their extension.
func resultNames(t *testing.T) (names []string) {
	for _, file := range kit.Get[[]string](t)(filepath.Glob("../results/*")) {
		names = append(names, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	return names
}

// TestResultHeads checks that each file of results begins with its command and its sample, that the command of an
// experiment names the experiment, and that a CSV file is well-formed.
func TestResultHeads(t *testing.T) {
	head := regexp.MustCompile(`(?m)\A(?:<\?xml.*\n)?(?:# |<!-- )command: (.+)\n(?:# )?sample: (.*[0-9]|by row).*\n`)
	experiment := regexp.MustCompile(`timba-lab experiment ([\w-]+)`)
	files := kit.Get[[]string](t)(filepath.Glob("../results/*"))
	for _, file := range files {
		text := string(kit.Get[[]byte](t)(os.ReadFile(file)))
		m := head.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s does not begin with lines command: and sample:", file)
			continue
		}
		if e := experiment.FindStringSubmatch(m[1]); e != nil && e[1] != "--study" {
			if _, err := Find(e[1]); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		if filepath.Ext(file) == ".csv" {
			table := csv.NewReader(strings.NewReader(text))
			table.Comment = '#'
			if rows, err := table.ReadAll(); err != nil || len(rows) < 2 {
				t.Errorf("%s: %d rows, %v", file, len(rows), err)
			}
		}
	}
	if len(files) < 50 {
		t.Errorf("there are only %d files", len(files))
	}
}

// TestFiguresHaveFiles checks that each part of a page that states measured figures names the file that has them, and
// that each file is named, or has the name of an experiment.
func TestFiguresHaveFiles(t *testing.T) {
	part := regexp.MustCompile(`(?m)^#+ `)
	figure := regexp.MustCompile(`± ?\d|\d %|\d+ of \d+ (shares|agree)|\d Elo\b|\d times as`)
	names := resultNames(t)
	var all strings.Builder
	for page, text := range pages(t) {
		all.WriteString(text)
		for _, p := range part.Split(text, -1) {
			title, _, _ := strings.Cut(p, "\n")
			if figure.MatchString(p) && !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(p, name) }) {
				t.Errorf("%s, %s: %q is of no file of lab/results", page, title, figure.FindString(p))
			}
		}
	}
	for _, name := range names {
		if _, err := Find(name); err != nil && !strings.Contains(all.String(), name) {
			t.Errorf("no page names %s", name)
		}
	}
}
