package kit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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

// methods are what tests may not call of whatever value, and skips of a test or benchmark.
var (
	methods = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}
	skips   = []string{"Skip", "Skipf", "SkipNow"}
)

// bubbles are functions within whose arguments time is that of a bubble, as it is within those of
// functions of the same file that call them.
var bubbles = []string{"synctest.Test", "bubble.Run"}

// offences returns what a file names against the rules, by its position.
func offences(files *token.FileSet, file *ast.File) (all []string) {
	names := map[string]string{} // of the packages that are imported
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := path
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = path
	}
	add := func(n ast.Node, what string) {
		all = append(all, fmt.Sprintf("%s: %s", files.Position(n.Pos()), what))
	}
	local := map[string]bool{} // functions of the file that call one of the bubbles
	for _, d := range file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				of, name := selected(s)
				if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(bubbles, of+"."+name) {
					local[f.Name.Name] = true
				}
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			of, name := selected(call.Fun)
			if id, ok := call.Fun.(*ast.Ident); ok && local[id.Name] || slices.Contains(bubbles, of+"."+name) {
				return false
			}
			if name == "Setenv" && len(call.Args) > 0 {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Value == `"TMPDIR"` {
					add(n, "Setenv(TMPDIR)")
				}
			}
			if slices.Contains(methods, name) || slices.Contains(skips, name) && slices.Contains([]string{"t", "b", "f", "tb"}, of) {
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

// TestRules: no file of tests breaks the rules more often than testdata/offences.txt says, which
// only gets shorter.
func TestRules(t *testing.T) {
	known := map[string]int{}
	table := Get[[]byte](t)(os.ReadFile("testdata/offences.txt"))
	for line := range strings.Lines(string(table)) {
		path, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[path] = Get[int](t)(strconv.Atoi(n))
	}
	var now []string // the lines of the table
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
		all := offences(files, file)
		if tagged || len(all) == 0 {
			return nil
		}
		now = append(now, fmt.Sprintf("%s %d\n", name, len(all)))
		if n := known[name]; len(all) > n {
			t.Errorf("%s: %d offences, of which testdata/offences.txt knows %d:\n\t%s", name, len(all), n, strings.Join(all, "\n\t"))
		}
		return nil
	}))
	if text := strings.Join(now, ""); text != string(table) {
		t.Errorf("testdata/offences.txt may only become shorter. As of now:\n%s", text)
	}
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
		{`synctest.Test(t, func(t *testing.T) { time.Sleep(1) })`, ""},
		{`bubble.Run(t, func(t *testing.T) { time.Sleep(1) })`, ""},
		{`held(t, func() { time.Sleep(1) })`, ""},
		{`group.Run(t, func(t *testing.T) { time.Sleep(1) })`, "time.Sleep"},
	} {
		files := token.NewFileSet()
		code := "package p\nimport (\"os\"; \"time\"; clock \"time\"; \"testing\")\n" +
			"func held(t *testing.T, f func()) { synctest.Test(t, func(*testing.T) { f() }) }\nfunc f() {\n" + c.code + "\n}\n"
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
