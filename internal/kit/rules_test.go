package kit

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit/source"
)

// The packages of this module that the rules mention.
const (
	module = "github.com/timba-arena/timba/"
	kit    = module + "internal/kit"
	bubble = kit + "/bubble"
)

// timed lists the names that depend on time. They are allowed in a test that runs in a bubble, because they
// use the time of the bubble.
var timed = []string{
	"time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Since", "time.Until", "time.Tick",
	"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause", "net.DialTimeout",
}

// forbidden lists the names that tests may never use: a test waits for an event, and skips by the functions
// of this package.
var forbidden = []string{"runtime.Gosched", "testing.Short", "os.Setenv"}

// skips lists the methods that skip a test, for every receiver.
var skips = []string{"Skip", "Skipf", "SkipNow"}

// deadlines lists methods that depend on time.
var deadlines = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}

// allowed lists the declarations that may break the rules, with the reasons.
var allowed = map[string]string{
	"internal/kit/kit.go Until":                                 "is the wait of all tests, which only their deadline ends",
	"internal/kit/kit.go Wait":                                  "likewise",
	"internal/kit/kit.go Slow":                                  "is the way to leave out a test",
	"internal/kit/kit.go Lacks":                                 "likewise",
	"internal/kit/rules_test.go TestOffences":                   "has an example of each",
	"internal/kit/bubble/bubble.go Run":                         "has the time of a bubble",
	"internal/kit/bubble/bubble.go Until":                       "likewise",
	"internal/kit/binaries/binaries.go Program":                 "leaves out tests as kit.Slow, and imports nothing of this module",
	"internal/kit/binaries/binaries.go statSources":             "is the way to the go command",
	"internal/kit/binaries/binaries.go findOrBuild":             "likewise",
	"internal/kit/binaries/binaries.go Dependencies":            "likewise",
	"internal/kit/binaries/binaries_test.go TestProgramIsInput": "likewise",
	"referee/refereetest/refereetest.go Main":                   "tells the race detector in all processes of a package not to sleep",
	"referee/refereetest/refereetest.go run":                    "gives all tests of a package their temporary directory",
	"referee/match/ownclock_test.go TestOwnClocksCheck":         "plays nothing",
	"referee/program/spec_test.go TestOverrides":                "plays nothing",
	"referee/program/manifest_test.go TestManifestErrors":       "plays nothing",
	"referee/match/replay_test.go TestReplaysTampered":          "plays nothing",
	"referee/check/report_test.go TestRefusals":                 "plays nothing",
	"cmd/timba/commands/play_linux_test.go TestPlayClock":       "has a person who never answers, first",
	"cmd/timba/commands/play_linux_test.go TestPlayFaults":      "has a bot that never answers, and a person without a clock",
	"ladder/submission/failures_test.go TestLateInTrial":        "has a bot that never answers, before its opponent has a turn",
	"sandbox/attack/attack_linux_test.go buildPrograms":         "builds itself, without the race detector",
}

// known lists declarations that break a rule and should be changed.
var known = map[string]bool{
	"ladder/runner/bounds_linux_test.go shuffler":                      true,
	"referee/match/late_test.go .Line":                                 true,
	"referee/match/life_linux_test.go TestLimitsAndFaultsByeOfProcess": true,
	"web/webtest/browser.go Start":                                     true,
	"web/webtest/browser.go Open":                                      true,
	"web/remote/world_test.go .Write":                                  true,
	"web/remote/bounds_test.go ended":                                  true,
}

// sleeping matches a command that sleeps, in a shell script or as arguments.
var sleeping = regexp.MustCompile(`\bsleep (\d+(?:\.\d+)?)([smhd]?)\b`)

// clockTimes matches the times of bots in TOML and in command lines.
var clockTimes = regexp.MustCompile(`\b(?:movetime|bank|startup) = (\d+)|--(?:movetime|bank|startup)[ =](\d+)`)

// brief returns the times of bots below a minute in a text.
func brief(text string) (all []string) {
	for _, m := range clockTimes.FindAllStringSubmatch(text, -1) {
		if ms, _ := strconv.Atoi(m[1] + m[2]); ms > 0 && ms < 60_000 {
			all = append(all, m[0])
		}
	}
	return all
}

// ofClock lists the fields of a clock that are times of bots.
var ofClock = []string{"Move", "Bank", "Startup"}

// packages returns all packages of the module, which the tests only read. It loads them once.
var packages = sync.OnceValues(func() ([]*source.Package, error) { return source.Load("../..") })

// checker finds the violations of the rules in the files of one package.
type checker struct {
	*source.Package
	inBubble map[*source.Decl]bool
	bots     bool // tests of the package start bots in processes
}

func newChecker(p *source.Package) *checker {
	c := &checker{Package: p, inBubble: bubbles(p)}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			c.bots = c.bots || f.Test && (d.Mentions[module+"referee/refereetest.Main"] || d.Mentions[kit+"/binaries.Clean"])
		}
	}
	return c
}

// bubbles returns the declarations whose code runs in a bubble: the functions that start one, directly or by
// another function of the package, everything that only these mention, and the methods of their types.
func bubbles(p *source.Package) map[*source.Decl]bool {
	in := p.Reaching("testing/synctest.Test", bubble+".Run")
	for more := len(in) > 0; more; {
		more = false
		users, outside := map[string]bool{}, map[string]bool{}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				for name := range d.Mentions {
					other := name != d.Name && name != d.Receiver
					users[name] = users[name] || other
					outside[name] = outside[name] || other && !in[d]
				}
			}
		}
		for _, f := range p.Files {
			for _, d := range f.Decls {
				only := func(name string) bool { return users[name] && !outside[name] }
				if !in[d] && (only(d.Name) || d.Receiver != "" && only(d.Receiver)) {
					in[d], more = true, true
				}
			}
		}
	}
	return in
}

// offences returns the violations in a declaration.
func (c *checker) offences(d *source.Decl) (all []string) {
	f, real := d.File, !c.inBubble[d]
	add := func(n ast.Node, format string, args ...any) {
		all = append(all, fmt.Sprintf("%s:%d: %s", f.Path, f.Line(n), fmt.Sprintf(format, args...)))
	}
	nows := readings(d)
	if checks := d.Mentions[module+"referee/check.Defaults"] || c.Dir == "referee/check" && d.Mentions["Defaults"]; checks && !(d.Mentions[".Time"] && d.Mentions[".Grace"]) {
		add(d.Node, "a check that sets not both Time and Waits.Grace")
	}
	ast.Inspect(d.Node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			name := f.QualifiedName(n)
			if slices.Contains(forbidden, name) || real && slices.Contains(timed, name) {
				add(n, "%s", name)
			}
			if name == kit+".Soak" && !f.Test {
				add(n, "kit.Soak outside a test: script/soak does not see it")
			}
		case *ast.CallExpr:
			c.call(d, n, nows, add)
		case *ast.CompositeLit:
			_, name := selected(n.Type)
			if c.bots && real {
				words(n.Elts, add)
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && name == "Clock" && real && c.bots {
					if key, ok := kv.Key.(*ast.Ident); ok && slices.Contains(ofClock, key.Name) && short(f, kv.Value) {
						add(kv, "a clock below a minute")
					}
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				of, name := selected(left)
				if s, ok := left.(*ast.SelectorExpr); ok && of == "" {
					_, of = selected(s.X)
				}
				if slices.Contains(ofClock, name) && strings.EqualFold(of, "clock") && real && c.bots && i < len(n.Rhs) && short(f, n.Rhs[i]) {
					add(n, "a clock below a minute")
				}
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(n.Value)
			if sleeps(text) {
				add(n, "a sleep in a command")
			}
			if times := brief(text); c.bots && real && len(times) > 0 {
				add(n, "%s", strings.Join(times, ", "))
			}
		}
		return true
	})
	return all
}

// call checks a call of a function or a method.
func (c *checker) call(d *source.Decl, n *ast.CallExpr, nows map[string]bool, add func(ast.Node, string, ...any)) {
	f, real := d.File, !c.inBubble[d]
	_, name := selected(n.Fun)
	literals := words(n.Args, func(n ast.Node, format string, args ...any) {
		if c.bots && real {
			add(n, format, args...)
		}
	})
	switch q := f.QualifiedName(n.Fun); {
	case q == "os/exec.Command" || q == "os/exec.CommandContext":
		if len(literals) > 0 && literals[0] == "go" {
			add(n, "a go command")
		}
		if len(literals) > 1 && sleeps(strings.Join(literals, " ")) {
			add(n, "a sleep in a command")
		}
	case q == "golang.org/x/sys/unix.Poll" && len(n.Args) == 2:
		if text := fmt.Sprint(value(f, n.Args[1])); text != "-1" && text != "0" {
			add(n, "unix.Poll with a time")
		}
	case name == "Setenv" && len(literals) > 0 && literals[0] == "TMPDIR":
		add(n, "Setenv(TMPDIR)")
	case slices.Contains(skips, name) || real && slices.Contains(deadlines, name):
		add(n, "%s", name)
	case name == "Sub" && real && len(n.Args) == 1 && now(f, nows, n.Fun.(*ast.SelectorExpr).X) && now(f, nows, n.Args[0]) &&
		!strings.HasPrefix(d.Name, "Benchmark"):
		add(n, "a duration by the clock")
	}
}

// words returns the strings among expressions. It reports the times of bots if these are flags.
func words(list []ast.Expr, add func(ast.Node, string, ...any)) (words []string) {
	for _, e := range list {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "--") && !strings.Contains(words[n-1], "=") {
				for _, b := range brief(words[n-1] + " " + text) {
					add(lit, "%s", b)
				}
			}
			words = append(words, text)
		}
	}
	return words
}

// readings returns the variables of a declaration that are set to the current time.
func readings(d *source.Decl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(d.Node, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i := range a.Lhs {
				if id, ok := a.Lhs[i].(*ast.Ident); ok && now(d.File, nil, a.Rhs[i]) {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// now reports whether an expression is the current time, or a variable that was set to it.
func now(f *source.File, names map[string]bool, e ast.Expr) bool {
	if id, ok := e.(*ast.Ident); ok {
		return names[id.Name]
	}
	call, ok := e.(*ast.CallExpr)
	return ok && f.QualifiedName(call.Fun) == "time.Now"
}

// sleeps reports whether a command sleeps for less than half a minute. A command that never answers sleeps
// longer, and nobody waits for it.
func sleeps(text string) bool {
	return slices.ContainsFunc(sleeping.FindAllStringSubmatch(text, -1), func(m []string) bool {
		n, _ := strconv.ParseFloat(m[1], 64)
		return n*map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[m[2]] < 30
	})
}

// units has the constants of package time in nanoseconds.
var units = map[string]float64{"Nanosecond": 1, "Microsecond": 1e3, "Millisecond": 1e6, "Second": 1e9, "Minute": 60e9, "Hour": 3600e9}

// value returns the value of a constant expression, or nil.
func value(f *source.File, e ast.Expr) any {
	switch e := e.(type) {
	case *ast.BasicLit:
		if x, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64); err == nil {
			return x
		}
	case *ast.SelectorExpr:
		if unit, ok := strings.CutPrefix(f.QualifiedName(e), "time."); ok && units[unit] > 0 {
			return units[unit]
		}
	case *ast.UnaryExpr:
		if x, ok := value(f, e.X).(float64); ok && e.Op == token.SUB {
			return -x
		}
	case *ast.BinaryExpr:
		x, ok1 := value(f, e.X).(float64)
		y, ok2 := value(f, e.Y).(float64)
		switch {
		case !ok1 || !ok2:
		case e.Op == token.MUL:
			return x * y
		case e.Op == token.ADD:
			return x + y
		}
	}
	return nil
}

// short reports whether an expression is a positive constant below a minute.
func short(f *source.File, e ast.Expr) bool {
	x, ok := value(f, e).(float64)
	return ok && x > 0 && x < units["Minute"]
}

// selected returns the parts of a selector, such as "time" and "Sleep" for time.Sleep. of is empty unless the
// left part is a single name; for a name without a selector it is empty too.
func selected(e ast.Expr) (of, name string) {
	switch e := e.(type) {
	case *ast.Ident:
		return "", e.Name
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			of = id.Name
		}
		return of, e.Sel.Name
	}
	return "", ""
}

// helpers returns the directories of packages that only tests, and other such packages, import.
func helpers(all []*source.Package) map[string]bool {
	programs, users := map[string]bool{}, map[string]map[string]bool{} // the packages that import one, by its directory
	for _, p := range all {
		for _, f := range p.Files {
			programs[p.Dir] = programs[p.Dir] || f.Name.Name == "main"
			for _, imported := range f.Imports {
				if dir, ok := strings.CutPrefix(imported, module); ok {
					if users[dir] == nil {
						users[dir] = map[string]bool{}
					}
					users[dir][map[bool]string{false: p.Dir}[f.Test]] = true // "" is a test
				}
			}
		}
	}
	found := map[string]bool{}
	for more := true; more; {
		more = false
		for dir, by := range users {
			if !found[dir] && !programs[dir] && !slices.ContainsFunc(slices.Collect(maps.Keys(by)), func(u string) bool { return u != "" && !found[u] }) {
				found[dir], more = true, true
			}
		}
	}
	return found
}

// TestRules checks that no test, and no package for tests, breaks the rules.
func TestRules(t *testing.T) {
	all := Get[[]*source.Package](t)(packages())
	helpers, used := helpers(all), map[string]bool{}
	if !helpers["internal/kit/binaries"] {
		t.Errorf("the packages for tests are %v", helpers)
	}
	for _, p := range all {
		c := newChecker(p)
		for _, f := range p.Files {
			soak := strings.HasSuffix(f.Path, "_soak_test.go")
			if f.Soak != soak && p.Dir != "internal/kit" {
				t.Errorf("%s: the tag soak and a name that ends in _soak_test.go go together", f.Path)
			}
			if f.Quick && p.Dir != "internal/kit" {
				t.Errorf("%s: a test that does more with the tag soak asks kit.Soak, so that script/soak sees it", f.Path)
			}
			if soak || !f.Test && !helpers[p.Dir] {
				continue
			}
			for _, d := range f.Decls {
				name := f.Path + " " + d.Name
				offences := c.offences(d)
				if len(offences) > 0 && (allowed[name] != "" || known[name]) {
					used[name] = true
					continue
				}
				for _, o := range offences {
					t.Errorf("%s (%s)", o, d.Name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if !used[name] {
			t.Errorf("allowed: %s breaks no rule", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !used[name] {
			t.Errorf("known: %s breaks no rule", name)
		}
	}
}

// step matches a file, and functions in it, in a walk through the code.
var step = regexp.MustCompile("`([a-z0-9_/-]+\\.go)`:((?:,?\\s+`\\w+`)+)")

var word = regexp.MustCompile(`\w+`)

// named matches a function or a type that is mentioned without its file: `resolveFile`, `Hub.take`.
var named = regexp.MustCompile("`(?:(?:\\w+\\.)*\\w+\\.)?([a-z]+[A-Z]\\w*)`|`(?:\\w+\\.)*[A-Z]\\w*\\.(\\w+)`")

// section returns a section of a page without its heading.
func section(page, title string) string {
	_, text, _ := strings.Cut(page, "\n## "+title+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// TestWalks checks docs/architecture.md: the functions of its walks through the code are in the files that it
// names, and those that it names without a file exist. It answers thirty questions, each in at least two
// steps and at most three lines.
func TestWalks(t *testing.T) {
	page := string(Get[[]byte](t)(os.ReadFile("../../docs/architecture.md")))
	walks, questions := section(page, "Walks"), section(page, "Questions")
	declared, anywhere := map[string]bool{}, map[string]bool{}
	for _, p := range Get[[]*source.Package](t)(packages()) {
		for _, f := range p.Files {
			for _, d := range f.Decls {
				name := strings.TrimPrefix(d.Name, ".")
				declared[f.Path+" "+name] = true
				anywhere[name], anywhere[path.Base(p.Dir)+"."+name] = true, true
			}
		}
	}
	rows := 0
	for line := range strings.Lines(questions) {
		question, answer, found := strings.Cut(strings.TrimPrefix(line, "| "), "? | ")
		if !found {
			continue
		}
		rows++
		if len(step.FindAllString(answer, -1)) < 2 || strings.Count(answer, "<br>") > 2 {
			t.Errorf("docs/architecture.md: %q has fewer than two steps or more than three lines", question)
		}
	}
	steps := step.FindAllStringSubmatch(walks, -1)
	if len(steps) < 30 || rows < 30 {
		t.Fatalf("docs/architecture.md has %d steps and %d questions", len(steps), rows)
	}
	for _, s := range append(steps, step.FindAllStringSubmatch(questions, -1)...) {
		for _, name := range word.FindAllString(s[2], -1) {
			if !declared[s[1]+" "+name] {
				t.Errorf("docs/architecture.md: %s has no %s", s[1], name)
			}
		}
	}
	words := regexp.MustCompile("`([a-z]+\\.\\w+)`").FindAllStringSubmatch(section(page, "Words"), -1)
	if rows := strings.Count(section(page, "Words"), "\n| ") - 2; rows > 30 || len(words) < 20 {
		t.Errorf("docs/architecture.md: the glossary has %d words with %d types; it has at most 30, most with a type", rows, len(words))
	}
	for _, m := range words {
		if !anywhere[m[1]] {
			t.Errorf("docs/architecture.md: the glossary names %s, which does not exist", m[1])
		}
	}
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if name := m[1] + m[2]; !anywhere[name] {
			t.Errorf("docs/architecture.md: there is no %s, as in %s", name, m[0])
		}
	}
}

// TestRulesOfScripts checks that bots in scripts have a minute for each move.
func TestRulesOfScripts(t *testing.T) {
	used := map[string]bool{}
	for _, path := range append(Get[[]string](t)(filepath.Glob("../../cmd/timba/commands/testdata/*/*.txt")),
		Get[[]string](t)(filepath.Glob("../../cmd/timba-lab/testdata/*/*.txt"))...) {
		for n, line := range strings.Split(string(Get[[]byte](t)(os.ReadFile(path))), "\n") {
			if !playing.MatchString(line) || strings.Contains(line, " --resume ") {
				continue
			}
			times := brief(line)
			if !strings.Contains(line, " --movetime ") && !strings.Contains(line, " --bank ") {
				times = append(times, "no --movetime")
			}
			if reason := lateInScript[filepath.Base(path)]; len(times) > 0 && reason != "" {
				used[filepath.Base(path)] = true
			} else if len(times) > 0 {
				t.Errorf("%s:%d: %s", path, n+1, strings.Join(times, ", "))
			}
		}
	}
	for name := range lateInScript {
		if !used[name] {
			t.Errorf("lateInScript: %s breaks no rule", name)
		}
	}
}

// playing matches a line of a script in which bots play.
var playing = regexp.MustCompile(`^(\[\w+\] )?(! )?(exec|exits [013]) .*\btimba (match|check) `)

// lateInScript lists the scripts with bots that are late, with the reasons.
var lateInScript = map[string]string{
	"advice.txt": "has a bot that needs longer than it has",
	"check.txt":  "has a bot that does not flush before its input ends",
}

// TestOffences checks which code breaks the rules and which does not.
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
		{`clock.Sleep(1)`, "time.Sleep"},
		{`group.Run(t, func(t *testing.T) { time.Sleep(1) })`, "time.Sleep"},
		{`synctest.Test(t, func(t *testing.T) { time.Sleep(1); t.Skip() })`, "Skip"},
		{`called(); synctest.Test(t, f)`, ""},
		{`called()`, "time.Sleep"},
		{`exec.Command("go", "build")`, "a go command"},
		{`exec.CommandContext(ctx, "go", "build")`, "a go command"},
		{`exec.Command("sleep", "2")`, "a sleep in a command"},
		{`exec.Command("sleep", "1d")`, ""},
		{`bot("read x; sleep 0.5; echo")`, "a sleep in a command"},
		{`bot("exec sleep 1d")`, ""},
		{`net.DialTimeout("tcp", "", 1)`, "net.DialTimeout"},
		{`unix.Poll(fds, 100)`, "unix.Poll with a time"},
		{`unix.Poll(fds, -1)`, ""},
		{`x := referee.Clock{Move: 300 * time.Millisecond}`, "a clock below a minute"},
		{`x := Clock{Move: time.Second}`, "a clock below a minute"},
		{`x := Clock{Move: time.Minute}`, ""},
		{`m.Clock.Move = time.Second`, "a clock below a minute"},
		{`x := "clock = {movetime = 1000}"`, "movetime = 1000"},
		{`x := "clock = {movetime = 60000, startup = 500}"`, "startup = 500"},
		{`x := "movetime=1000"`, ""},
		{`x := "timba match --bank 1000"`, "--bank 1000"},
		{`run("match", "--movetime", "200")`, "--movetime 200"},
		{`x := []string{"--movetime=200", "--startup", "60000"}`, "--movetime=200"},
		{`o := check.Defaults(); o.Time = time.Hour`, "a check that sets not both Time and Waits.Grace"},
		{`o := check.Defaults(); o.Time, o.Waits.Grace = time.Hour, time.Hour`, ""},
		{`x := Clock{Bank: time.Second}`, "a clock below a minute"},
		{`began := time.Now(); f(); if time.Now().Sub(began) > 5 { t.Error() }`, "a duration by the clock"},
		{`began := now(); if later.Sub(began) > 5 { t.Error() }`, ""},
	} {
		code := "package p\nimport (\"os\"; \"os/exec\"; \"net\"; \"time\"; clock \"time\"; \"testing\"; \"testing/synctest\"; \"golang.org/x/sys/unix\"; \"" + module + "referee/check\"; \"" + kit + "/binaries\")\n" +
			"func TestMain(m *testing.M) { binaries.Clean(m) }\nfunc f() {\n" + c.code + "\n}\n"
		if strings.HasPrefix(c.code, "called") {
			code += "func called() { time.Sleep(1) }\n"
		}
		p := &source.Package{Files: []*source.File{Get[*source.File](t)(source.Parse("p_test.go", code))}}
		var got []string
		for _, d := range p.Files[0].Decls {
			for _, o := range newChecker(p).offences(d) {
				got = append(got, strings.SplitN(o, ": ", 2)[1])
			}
		}
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}
