package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	linked  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the names that GitHub gives to the headings of a page.
func anchors(page string) map[string]bool {
	names, seen := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		n := seen[name]
		if seen[name]++; n > 0 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		names[name] = true
	}
	return names
}

// TestLinks: the links between pages and to files lead to what is there.
func TestLinks(t *testing.T) {
	read := func(file string) string {
		return fenced.ReplaceAllString(string(kit.Get[[]byte](t)(os.ReadFile(path.Join("..", file)))), "")
	}
	for _, page := range kit.Get[[]string](t)(kit.Pages("..")) {
		for _, m := range linked.FindAllStringSubmatch(read(page), -1) {
			file, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(path.Join("..", to)); err != nil {
				t.Errorf("%s: %s leads to nothing", page, m[1])
			} else if part != "" && !anchors(read(to))[part] {
				t.Errorf("%s: %s has no such part", page, m[1])
			}
		}
	}
}

// TestTranslations: a translation of a page has the parts of the page, with its blocks of code and the figures of its tables.
func TestTranslations(t *testing.T) {
	figures := regexp.MustCompile(`(?m)^\|.*$`)
	values := regexp.MustCompile("`[^`]*`|[0-9][0-9,.]*")
	thousands := regexp.MustCompile(`([0-9]),([0-9]{3})\b`)
	pages := kit.Get[[]string](t)(filepath.Glob("*/*.md"))
	for _, page := range pages {
		original := filepath.Base(page)
		if original == "SPEC.md" {
			original = "../SPEC.md"
		}
		english := string(kit.Get[[]byte](t)(os.ReadFile(original)))
		text := string(kit.Get[[]byte](t)(os.ReadFile(page)))
		shape := func(text string) (shape []string) {
			rest := fenced.ReplaceAllString(text, "")
			for _, m := range heading.FindAllString(rest, -1) {
				shape = append(shape, m[:strings.LastIndex(m, "#")+1])
			}
			for _, row := range figures.FindAllString(rest, -1) {
				row = thousands.ReplaceAllString(row, "$1$2") // which only English separates by a comma
				shape = append(shape, strings.Join(values.FindAllString(row, -1), " "))
			}
			return append(shape, fenced.FindAllString(text, -1)...)
		}
		if diff := cmp.Diff(shape(english), shape(text)); diff != "" {
			t.Errorf("%s differs from %s (-en +%s): %s", page, filepath.Base(page), page[:2], diff)
		}
		for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if file, _, _ := strings.Cut(m[1], "#"); file != "" && !strings.Contains(file, "://") {
				if _, err := os.Stat(path.Join(path.Dir(page), file)); err != nil {
					t.Errorf("%s: %s leads to nothing", page, m[1])
				}
			}
		}
	}
	for _, lang := range []string{"ca", "es"} { // the specification has the rules of the games as the site has them
		spec := string(kit.Get[[]byte](t)(os.ReadFile(lang + "/SPEC.md")))
		for _, file := range kit.Get[[]string](t)(filepath.Glob("../rules/*/rules." + lang + ".md")) {
			if text := string(kit.Get[[]byte](t)(os.ReadFile(file))); !strings.Contains(spec, strings.TrimSpace(text)) {
				t.Errorf("docs/%s/SPEC.md does not have the text of %s", lang, file[3:])
			}
		}
	}
	if len(pages) < 6 {
		t.Errorf("there are only %d translations", len(pages))
	}
}

// TestCitation: after a release, CITATION.cff has the version and the date of the newest one in CHANGELOG.md, and before
// the first one neither.
func TestCitation(t *testing.T) {
	read := func(file string) string { return string(kit.Get[[]byte](t)(os.ReadFile(path.Join("..", file)))) }
	want := ""
	if m := regexp.MustCompile(`(?m)^## \[(\d\S*)\] - (\S+)$`).FindStringSubmatch(read("CHANGELOG.md")); m != nil {
		want = "version: " + m[1] + "\ndate-released: " + m[2]
	}
	has := regexp.MustCompile(`(?m)^(version|date-released): .*$`).FindAllString(read("CITATION.cff"), -1)
	if got := strings.Join(has, "\n"); got != want {
		t.Errorf("CITATION.cff has %q, want %q", got, want)
	}
}
