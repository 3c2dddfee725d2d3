package games_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules/games"
)

func TestFind(t *testing.T) {
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
		if got, err := games.Find(g.Name); err != nil || got != g {
			t.Errorf("%s is found as %v, %v", g.Name, got, err)
		}
	}
	if want := []string{"brisca", "tute", "podrida", "tebes", "teeko"}; !slices.Equal(names[:len(want)], want) {
		t.Errorf("the games are %v, not %v first", names, want)
	}
	want := `game "mus" does not exist: try ` + strings.Join(names, ", ")
	if _, err := games.Find("mus"); err == nil || err.Error() != want {
		t.Errorf("says %v, want %s", err, want)
	}
}

// Every directory of a game is registered, and every game of SPEC.md is tested in all the ways
// that games are.
func TestGamesAreTested(t *testing.T) {
	specified := refereetest.Specified(t)
	for _, g := range specified {
		t.Run(g.Name, func(t *testing.T) {
			for _, fault := range lacks(t, filepath.Join("..", g.Name)) {
				t.Error(fault)
			}
		})
	}
	dirs, err := filepath.Glob("../*/game.go")
	if err != nil || len(dirs) != len(specified) {
		t.Errorf("%d games, and %v has game.go: %v", len(specified), dirs, err)
	}
}

// lacks lists what a game's directory lacks.
func lacks(t *testing.T, dir string) (faults []string) {
	for _, name := range []string{"game.go", "state.go", "text.go", "fromview.go", "game_test.go", "naive_test.go"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			faults = append(faults, err.Error())
		}
	}
	if replays(t, dir, "testdata")+replays(t, dir, "testdata", "golden") == 0 {
		faults = append(faults, "testdata holds no replay")
	}
	for _, row := range [][2]string{
		{"game_test.go", "rulestest.Run"}, {"game_test.go", "rulestest.Golden"}, {"game_test.go", "rulestest.Fuzz"},
		{"naive_test.go", "rulestest.FuzzNaive"},
	} {
		if !slices.Contains(calls(t, filepath.Join(dir, row[0])), row[1]) {
			faults = append(faults, row[0]+" does not call "+row[1])
		}
	}
	return faults
}

// replays counts the golden files in a directory.
func replays(t *testing.T, dir ...string) int {
	t.Helper()
	files := kit.Get[[]string](t)(filepath.Glob(filepath.Join(filepath.Join(dir...), "*.txt")))
	return len(files)
}

// parse reads a source file; one that is not there is empty.
func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if os.IsNotExist(err) {
		return &ast.File{Name: ast.NewIdent("none")}
	}
	kit.Must(t, err)
	return f
}

// calls lists what a file calls in other packages, as "package.Function".
func calls(t *testing.T, path string) (list []string) {
	ast.Inspect(parse(t, path), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := f.X.(*ast.Ident); ok {
					list = append(list, pkg.Name+"."+f.Sel.Name)
				}
			}
		}
		return true
	})
	return list
}

// A directory with nothing in it lacks everything; one whose tests do not call
// the kit is told so.
func TestLacks(t *testing.T) {
	dir := t.TempDir()
	if got := lacks(t, dir); len(got) != 11 {
		t.Errorf("an empty directory lacks %d things: %s", len(got), strings.Join(got, "; "))
	}
	kit.Must(t, os.WriteFile(filepath.Join(dir, "game_test.go"), []byte("package x\n// rulestest.Run(t)\n"), 0o644))
	if got := lacks(t, dir); len(got) != 10 || !slices.Contains(got, "game_test.go does not call rulestest.Run") {
		t.Errorf("a comment passes for a call: %s", strings.Join(got, "; "))
	}
}
