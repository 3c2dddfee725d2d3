package kit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbidden are what tests may not name, by package: a test waits for an event, and judges lateness
// from what was recorded or in a bubble, whose clock is its own; it leaves out what it does by this
// package.
var forbidden = map[string][]string{
	"time":    {"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Since", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"runtime": {"Gosched"},
	"testing": {"Short"},
	"os":      {"Setenv"},
}

// methods are what tests may not call of whatever value.
var methods = []string{"Skip", "Skipf", "SkipNow"}

// bubbles are the packages whose tests run in a bubble: in a file that imports one of them, time is
// that of the bubble.
var bubbles = []string{"testing/synctest", "github.com/timba-arena/timba/internal/kit/bubble"}

// deadlines are methods that depend on time.
var deadlines = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}

// offences returns what a file names against the rules, by its position.
func offences(files *token.FileSet, file *ast.File) (all []string) {
	names := map[string]string{} // of the packages that are imported
	bubble := false
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := path
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = path
		bubble = bubble || slices.Contains(bubbles, path)
	}
	if bubble {
		maps.DeleteFunc(names, func(_, path string) bool { return path == "time" || path == "context" })
	}
	add := func(n ast.Node, what string) {
		all = append(all, fmt.Sprintf("%s: %s", files.Position(n.Pos()), what))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, name := selected(call.Fun)
			if name == "Setenv" && len(call.Args) > 0 {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Value == `"TMPDIR"` {
					add(n, "Setenv(TMPDIR)")
				}
			}
			if slices.Contains(methods, name) || !bubble && slices.Contains(deadlines, name) {
				add(n, name)
			}
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, name := selected(s); slices.Contains(forbidden[names[of]], name) {
				add(n, of+"."+name)
			}
		}
		return true
	})
	return all
}

// selected returns the parts of a selector: "time" and "Sleep" of time.Sleep. The first is empty
// unless it is a single name.
func selected(e ast.Expr) (of, name string) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := s.X.(*ast.Ident); ok {
		of = id.Name
	}
	return of, s.Sel.Name
}

// soak reports whether a file belongs to the long tests alone, by its constraint.
func soak(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Pos() < file.Package && strings.HasPrefix(c.Text, "//go:build soak") {
				return true
			}
		}
	}
	return false
}

// TestRules: no file of tests breaks the rules.
func TestRules(t *testing.T) {
	Must(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if err == nil && d.IsDir() && (name == "internal/kit" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		tagged := strings.HasSuffix(path, "_soak_test.go")
		if soak(file) != tagged {
			t.Errorf("%s: the tag soak and a name that ends in _soak_test.go go together", name)
		}
		for _, o := range offences(files, file) {
			if !tagged {
				t.Error(o)
			}
		}
		return nil
	}))
}

// TestOffences: what breaks the rules, and what does not.
func TestOffences(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`time.Sleep(1)`, "time.Sleep"},
		{`f := time.After`, "time.After"},
		{`conn.SetReadDeadline(time.Time{})`, "SetReadDeadline"},
		{`t.Skip("no")`, "Skip"},
		{`testing.Short()`, "testing.Short"},
		{`t.Setenv("TMPDIR", "x")`, "Setenv(TMPDIR)"},
		{`t.Setenv("HOME", "x")`, ""},
		{`os.Setenv("HOME", "x")`, "os.Setenv"},
		{`later.Sleep(1)`, ""},
		{`clock.Sleep(1)`, "clock.Sleep"},
		{`group.Run(t, func(t *testing.T) { time.Sleep(1) })`, "time.Sleep"},
		{`synctest.Test(t, func(t *testing.T) { time.Sleep(1); t.Skip() })`, "Skip"},
	} {
		files := token.NewFileSet()
		imports := `"os"; "time"; clock "time"; "testing"`
		if strings.Contains(c.code, "synctest.") {
			imports += `; "testing/synctest"`
		}
		code := "package p\nimport (" + imports + ")\nfunc f() {\n" + c.code + "\n}\n"
		file := Get[*ast.File](t)(parser.ParseFile(files, "", code, 0))
		var got []string
		for _, o := range offences(files, file) {
			got = append(got, o[strings.LastIndex(o, " ")+1:])
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}
