package kit

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit/source"
)

// logMethods are the methods of a slog.Logger, with the index of their first attribute.
var logMethods = map[string]int{
	"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "LogAttrs": 3, "Log": 3,
	"DebugContext": 2, "InfoContext": 2, "WarnContext": 2, "ErrorContext": 2,
}

var (
	logKey  = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	unitKey = regexp.MustCompile(`(^|_)(ms|bytes)(_|$)`)
	// attributeTypes are the functions of slog that make an attribute.
	attributeTypes = []string{"String", "Int", "Int64", "Uint64", "Float64", "Bool", "Any", "Duration", "Time"}
	// quantities are words for what has a unit, with which no key may end.
	quantities = wordSet("size time duration took elapsed grace delay age wait timeout memory seconds")
)

// durations returns the names of fields, parameters and results of type time.Duration in packages, without those that
// also have type time.Time somewhere.
func durations(packages []*source.Package) map[string]bool {
	names, times := map[string]bool{}, map[string]bool{}
	for _, p := range packages {
		for _, f := range p.Files {
			ast.Inspect(f.File, func(n ast.Node) bool {
				if field, ok := n.(*ast.Field); ok {
					t, _ := field.Type.(*ast.SelectorExpr)
					for _, id := range field.Names {
						names[id.Name] = names[id.Name] || t != nil && f.QualifiedName(t) == "time.Duration"
						times[id.Name] = times[id.Name] || t != nil && f.QualifiedName(t) == "time.Time"
					}
				}
				return true
			})
		}
	}
	maps.DeleteFunc(names, func(name string, isDuration bool) bool { return !isDuration || times[name] })
	return names
}

// checkLogs calls report for each attribute in the log calls of f that breaks the rule: a key has no spaces, and one of
// a quantity names the unit, ms or bytes.
func checkLogs(f *source.File, durations map[string]bool, report func(n ast.Node, text string)) {
	attribute := func(key, value ast.Expr) {
		literal, ok := key.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			report(key, "the key is no literal")
			return
		}
		name, _ := strconv.Unquote(literal.Value)
		words := strings.Split(name, "_")
		valued := ""
		switch v := value.(type) {
		case *ast.Ident:
			valued = v.Name
		case *ast.SelectorExpr:
			valued = v.Sel.Name
		case *ast.CallExpr:
			if _, valued = selected(v.Fun); valued == "Milliseconds" || valued == "Seconds" || valued == "Microseconds" {
				valued = ""
				if words[len(words)-1] != "ms" && !unitKey.MatchString(name) {
					report(key, fmt.Sprintf("%q has no unit: ms", name))
				}
			}
		}
		switch {
		case !logKey.MatchString(name):
			report(key, fmt.Sprintf("the key %q is not in lower case with _ between words", name))
		case quantities[words[len(words)-1]]:
			report(key, fmt.Sprintf("%q has no unit: ms or bytes", name))
		case durations[valued]:
			report(key, fmt.Sprintf("%q is a time.Duration, which JSON shows in nanoseconds: log milliseconds", name))
		case valued == "FormatSize" || strings.HasSuffix(valued, "Bytes") && !unitKey.MatchString(name):
			report(key, fmt.Sprintf("%q is a size: log the number of bytes", name))
		}
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of := ""
		switch x := fun.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		first, ok := logMethods[fun.Sel.Name]
		switch {
		case of == "slog" && len(call.Args) == 2 && slices.Contains(attributeTypes, fun.Sel.Name):
			attribute(call.Args[0], call.Args[1])
		case ok && (of == "slog" || strings.EqualFold(of, "log") || strings.EqualFold(of, "logger")):
			for i := first; i < len(call.Args) && !call.Ellipsis.IsValid(); i++ {
				if _, ok := call.Args[i].(*ast.CallExpr); ok {
					continue // an attribute, which is found itself
				}
				if i++; i < len(call.Args) {
					attribute(call.Args[i-1], call.Args[i])
				}
			}
		}
		return true
	})
}

// TestRulesOfLogs: the log can be searched by keys, and its figures have units.
func TestRulesOfLogs(t *testing.T) {
	all := Get[[]*source.Package](t)(packages())
	names := durations(all)
	for _, p := range all {
		for _, f := range p.Files {
			if !f.Test {
				checkLogs(f, names, func(n ast.Node, text string) { t.Errorf("%s:%d: %s", f.Path, f.Line(n), text) })
			}
		}
	}
}

func TestLogOffences(t *testing.T) {
	const begin = "package x\nimport (\"log/slog\"; \"time\")\nfunc f(took time.Duration, n int64) { "
	for call, want := range map[string]string{
		`s.Log.Info("it is busy", "others used", n)`:                   `the key "others used" is not in lower case`,
		`log.Warn("x", "err", err, "X-Y", n)`:                          `the key "X-Y" is not`,
		`slog.Error("x", name, n)`:                                     "the key is no literal",
		`s.Log.Info("x", "pause", took)`:                               `"pause" is a time.Duration`,
		`s.Log.Info("x", "pause", took.Seconds())`:                     `"pause" has no unit: ms`,
		`s.Log.Info("x", "files", bundle.FormatSize(n))`:               `"files" is a size`,
		`s.Log.Info("x", "moved", m.MovedBytes)`:                       `"moved" is a size`,
		`s.Log.With("size", n)`:                                        `"size" has no unit`,
		`log.LogAttrs(ctx, level, "x", slog.Int("two words", 2))`:      `the key "two words" is not`,
		`s.Log.Info("x", slog.Int("a", 1), "Big", n)`:                  `the key "Big" is not`,
		`s.Log.Info("x", "ms", took.Milliseconds(), "bytes", m.Bytes)`: "",
		`s.Log.Info("x", "sent_bytes", n, "others_ms_per_second", 1)`:  "",
		`t.Error("some words", "and more", n); pause("a b", took)`:     "",
	} {
		f := Get[*source.File](t)(source.Parse("x.go", begin+call+" }"))
		got := ""
		checkLogs(f, durations([]*source.Package{{Files: []*source.File{f}}}), func(_ ast.Node, text string) { got += text })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", call, got, want)
		}
	}
}
