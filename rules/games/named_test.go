package games_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/games"
)

const root = "../.."

// TestGamesAreNamed checks that docs/adding-a-game.md lists exactly the files of the program, the bots and
// the configuration that name a game.
func TestGamesAreNamed(t *testing.T) {
	doc := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(root, "docs", "adding-a-game.md")))
	_, section, ok := strings.Cut(string(doc), "\n## Where games are named\n")
	if !ok {
		t.Fatal(`docs/adding-a-game.md has no section "Where games are named"`)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	used := map[string]bool{}
	for _, path := range naming(t) {
		i := slices.IndexFunc(listed, func(pattern string) bool {
			ok, err := filepath.Match(pattern, path)
			return ok && err == nil
		})
		if i < 0 {
			t.Errorf("%s names a game, and docs/adding-a-game.md does not list it", path)
			continue
		}
		used[listed[i]] = true
	}
	for _, pattern := range listed {
		if !used[pattern] {
			t.Errorf("docs/adding-a-game.md lists %s, which names no game", pattern)
		}
	}
}

// naming lists the files that name a game in their code: in quotes, in an import, or as a class of a style
// sheet. Tests, texts and the directories of the games do not count.
func naming(t *testing.T) (paths []string) {
	t.Helper()
	var names []string
	own := map[string]bool{}
	for _, g := range games.All() {
		names = append(names, g.Name)
		own[filepath.Join("rules", g.Name)] = true
	}
	all := strings.Join(names, "|")
	word := regexp.MustCompile(`["'/](` + all + `)["']|(?m)^\s*\.(` + all + `)\b`) // the second alternative is for style sheets
	kit.Must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if own[rel] || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(rel, ".md") || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && word.Match(data) && !bytes.ContainsRune(data, 0) {
			paths = append(paths, filepath.ToSlash(rel))
		}
		return err
	}))
	return paths
}
