package messages_test

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/source"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/messages"
)

var verbs = regexp.MustCompile(`%(?:\[([0-9]+)\])?([-+# 0]*[0-9]*(?:\.[0-9]+)?[a-zA-Z%])`)

// All languages but English have the same phrases. A translation uses the values of its format with the same
// verbs, and typographic apostrophes.
func TestPhrases(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	if diff := cmp.Diff(slices.Sorted(maps.Keys(all[1].Phrases)), slices.Sorted(maps.Keys(all[2].Phrases))); diff != "" {
		t.Errorf("other phrases in es than in ca: %s", diff)
	}
	for _, l := range all {
		for format, translated := range l.Phrases {
			var values []string
			for _, m := range verbs.FindAllStringSubmatch(format, -1) {
				values = append(values, strings.Replace(m[2], "w", "v", 1))
			}
			for i, m := range verbs.FindAllStringSubmatch(translated, -1) {
				if m[1] != "" {
					i = kit.Get[int](t)(strconv.Atoi(m[1])) - 1
				}
				if i >= len(values) || values[i] != m[2] {
					t.Errorf("%s: %s is no value of %q: %s", l.Tag, m[0], format, translated)
				}
			}
			if word := formal.FindString(translated); word != "" && l.Tag != "en" || strings.Contains(translated, "'") {
				t.Errorf("%s: this has ' for ’, or says %q to a reader who is tu: %s", l.Tag, word, translated)
			}
			if _, ok := all[1].Phrases[format]; !ok {
				t.Errorf("%s: only it has %q", l.Tag, format)
			}
		}
	}
}

// formats has the functions that take formats of phrases, with the indexes of the formats among their
// arguments; -1 means all arguments.
var formats = map[string][]int{
	"phrase.New": {0}, "phrase.Errorf": {0}, "ladder.Errorf": {1, 2}, ".Try": {0}, ".Fail": {2}, "texts": {-1}, "refuse": {0},
	"unavailable": {0, 1}, "invalid": {0, 1}, "conflict": {0, 1}, "notFound": {0, 1}, "tooLarge": {0, 1}, "Errorf": {1, 2},
}

// untranslated matches files whose texts are only for programs or for the operator, not for pages.
var untranslated = regexp.MustCompile(`^(web/(api|remote|socket)/|ladder/config/|ladder/(bundle|cluster)/pack.go|ladder/runner/health.go|ladder/submission/builds.go|` +
	`ladder/store/(backup|bots|errors|ladders|matches|move|rebuild|remote|rerate|schema|store|tx|uploads|usage|versions).go|referee/program/spec.go)`)

// prefixed matches formats that begin as the errors of a package do. Those that begin with "data" and "backup" are
// failures of the machine, which middleware.ProblemOf keeps from pages and the API.
var prefixed = regexp.MustCompile(`^([a-z]+): `)

// collectFormats collects the formats in a package: in called, those in the calls of functions, with the file
// of the first call; in constants, all constant strings.
func collectFormats(p *source.Package, called map[string]string, constants map[string]bool) {
	values := map[string]ast.Expr{}
	each := func(visit func(f *source.File, n ast.Node)) {
		for _, f := range p.Files {
			if !f.Test {
				ast.Inspect(f.File, func(n ast.Node) bool { visit(f, n); return true })
			}
		}
	}
	each(func(_ *source.File, n ast.Node) {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
			for i, name := range v.Names {
				values[name.Name] = v.Values[i]
			}
		}
	})
	var fold func(e ast.Expr) string
	fold = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			if e.Kind == token.STRING {
				text, _ := strconv.Unquote(e.Value)
				return text
			}
		case *ast.BinaryExpr:
			if x, y := fold(e.X), fold(e.Y); x != "" && y != "" {
				return x + y
			}
		case *ast.Ident:
			if v := values[e.Name]; v != nil {
				return fold(v)
			}
		}
		return ""
	}
	each(func(f *source.File, n ast.Node) {
		if e, ok := n.(ast.Expr); ok {
			constants[fold(e)] = true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		name := ""
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = "." + fun.Sel.Name
			if x, ok := fun.X.(*ast.Ident); ok && formats[x.Name+name] != nil {
				name = x.Name + name
			}
		}
		places := formats[name]
		for i, arg := range call.Args {
			text := fold(arg)
			if slices.Contains(places, i) || slices.Contains(places, -1) {
				if worded := strings.ContainsFunc(verbs.ReplaceAllString(text, ""), unicode.IsLetter); worded && called[text] == "" {
					called[text] = f.Path
				}
			}
		}
	})
}

// Every format that a page may show is translated, and every translated format is in the code.
func TestPhrasesOfCode(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	called, used := map[string]string{}, map[string]bool{}
	for _, dir := range []string{"internal/tomltext", "rules", "referee", "ladder", "web", "sample-bots/house"} {
		for _, p := range kit.Get[[]*source.Package](t)(source.Load("../../" + dir)) {
			for _, f := range p.Files {
				f.Path = dir + "/" + f.Path
			}
			collectFormats(p, called, used)
		}
	}
	if len(called) < 700 {
		t.Errorf("only %d formats are found", len(called))
	}
	for format, path := range called {
		if word := prefixed.FindStringSubmatch(format); word != nil && !slices.Contains([]string{"cancelled", "data", "backup"}, word[1]) {
			t.Errorf("%s: %q begins with a word of the code: pages and the API show it", path, format)
		}
		if _, ok := all[1].Phrases[format]; !ok && !untranslated.MatchString(path) {
			t.Errorf("%s: %q is not translated", path, format)
		}
	}
	eachFault(func(text phrase.Text) { collectTextFormats(text, used) })
	for _, l := range config.Default().Ladders {
		_, rules, _ := strings.Cut(l.Title, ", ")
		used[l.Title], used[rules] = true, true
	}
	for _, b := range house.Bots() {
		for _, o := range b.ServerOptions() {
			if used[o.Help] = true; all[1].Phrases[o.Help] == "" && (o.Values == nil || len(o.Values) > 1) {
				t.Errorf("@%s: the help of the option %s is not translated: %q", b.Name, o.Name, o.Help)
			}
		}
	}
	for format := range all[1].Phrases {
		if !used[format] {
			t.Errorf("no code says %q", format)
		}
	}
}

// collectTextFormats adds the formats of a text.
func collectTextFormats(text phrase.Text, formats map[string]bool) {
	formats[text.Format] = true
	for _, arg := range text.Args {
		collectTextFormats(arg, formats)
	}
}

// The titles of the default ladders are translated, and so are their parts after the name of the game.
func TestTitlesTranslated(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All())[1:] {
		for _, x := range config.Default().Ladders {
			if _, rules, ok := strings.Cut(x.Title, ", "); ok {
				for _, text := range []string{x.Title, rules} {
					if l.Translate(text) == text {
						t.Errorf("%s: %q is not translated", l.Tag, text)
					}
				}
			}
		}
	}
}

// Pages have their own words for the hints of package ladder, which name no commands.
func TestHintsOfPages(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All()) {
		for _, hint := range []string{ladder.HintBots, ladder.HintVersions, ladder.HintLiveBefore, ladder.HintCancel, ladder.HintRestore, ladder.HintLadders,
			ladder.HintPeople, ladder.HintInvites, ladder.HintSignIn, ladder.HintSendToken, ladder.HintNewInvite, ladder.HintJoin, ladder.HintRevoke,
			ladder.HintCancelMatch, ladder.HintBotName, ladder.HintOperator} {
			if text, complete := l.Phrase(phrase.New(hint, "anna")); !complete || strings.Contains(text, "timba ") || strings.Contains(text, "--") {
				t.Errorf("%s: %q is %q, %v", l.Tag, hint, text, complete)
			}
		}
	}
}

// A translated phrase contains its values, which are translated if they are phrases. It is complete if no
// part stays in English.
func TestPhrase(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for _, c := range []struct {
		text     phrase.Text
		ca, es   string
		complete bool
	}{
		{phrase.New("the token is not valid"), "el token no és vàlid", "el token no es válido", true},
		{phrase.New("bot %q has no version %d", "a b", 3), `el bot "a b" no té la versió 3`, `el bot "a b" no tiene la versión 3`, true},
		{
			phrase.New("the limit for one person is %d %s at the same time", 3, phrase.New("uploads")),
			"el límit d’una persona és de 3 pujades alhora", "el límite de una persona es de 3 subidas a la vez", true,
		},
		{ // a value that happens to equal a format is not translated
			phrase.New("the invite is not for %q", "resign"), `la invitació no és per a "resign"`, `la invitación no es para "resign"`, true,
		},
		{phrase.New("%s: %s", phrase.New("check"), phrase.New("no words for this")), "comprovar: no words for this", "comprobar: no words for this", false},
		{phrase.Plain("the token is not valid"), "the token is not valid", "the token is not valid", false},
	} {
		for i, want := range []string{c.ca, c.es} {
			if got, complete := all[i+1].Phrase(c.text); got != want || complete != c.complete {
				t.Errorf("%s: %q is %q, %v, want %q", all[i+1].Tag, c.text, got, complete, want)
			}
		}
	}
}

// english matches English words that no translation contains outside of quotes.
var english = regexp.MustCompile(`\b(the|and|with|of|it|its|that|to|by|from|for|at|was|were|has|had|this|which|before|after|every)\b`)

// The text and the advice of every fault are translated.
func TestFaultsTranslated(t *testing.T) {
	quotes := regexp.MustCompile(`"[^"]*"|«[^»]*»|\([^)]*\)`)
	all := kit.Get[[]*messages.Language](t)(messages.All())
	said := map[string]bool{}
	eachFault(func(text phrase.Text) {
		if said[text.String()] {
			return
		}
		said[text.String()] = true
		for _, l := range all[1:] {
			translated, complete := l.Phrase(text)
			if word := english.FindString(quotes.ReplaceAllString(translated, "")); !complete || word != "" {
				t.Errorf("%s: %q becomes %q, with %q", l.Tag, text, translated, word)
			}
		}
	})
	if len(said) < 200 {
		t.Errorf("only %d texts", len(said))
	}
}

// eachFault calls say with the texts and the advice of every kind of fault, in many circumstances.
func eachFault(say func(phrase.Text)) {
	legal := []string{"1o", "12c", "8-4", "swap:7o"}
	var reasons []fault.Reason
	for _, kind := range fault.Kinds() {
		r := fault.Reason{Kind: kind, Line: "x", Move: "9c", Position: 1, Byte: 200, Limit: 100, Margin: 50, Status: 1, Signal: 11, Name: "SIGSEGV", Command: "python3 bot.py"}
		if kind == fault.IllegalMove {
			r.Detail = "is not in the list of the turn"
		}
		reasons = append(reasons, r)
		r.BeforeReady = true
		reasons = append(reasons, r)
		r.BeforeReady, r.UnfinishedLine, r.Name, r.Status = false, "move 1o", "SIGKILL", 0
		reasons = append(reasons, r)
		r.UnfinishedLine = "> "
		reasons = append(reasons, r)
		r.UnfinishedLine, r.Signal = "", 0
		reasons = append(reasons, r)
	}
	for _, move := range []string{"12C", "'12c'", "8:4", "0", "1", "4", "17", "100", "3o", "5c", "?", "swap", "9-5"} {
		reasons = append(reasons, fault.Reason{Kind: fault.IllegalMove, Move: fault.Raw(move), Detail: "is not in the list of the turn"})
	}
	for _, line := range []string{"", "12c", "bestmove 12c", "Move? move 12c", "> ready", "MOVE 12c", "Traceback", "turn 1", "DEBUG", "Your move: 12c", "move", "move ", " move", "a  b",
		"\xef\xbb\xbfx", "m\x00o\x00", "x\x00", "\x1b[0m", "a\tb"} {
		for _, kind := range []fault.Kind{fault.NoSuchLine, fault.BadMove, fault.BadSpacing, fault.NotASCII} {
			b := 0xc3
			for _, each := range []byte{0, 0x1b, '\t'} {
				if strings.ContainsRune(line, rune(each)) {
					b = int(each)
				}
			}
			reasons = append(reasons, fault.Reason{Kind: kind, Line: fault.Raw(line), Position: 1, Byte: b})
		}
	}
	circumstances := []fault.Circumstances{{Fixed: true}, {Fixed: true, LeftOver: true}}
	for _, stderr := range []string{"KeyError: 1", "KeyError: '?'", "KeyError: '-'", "x: Read-only file system: '/a/b'", "gaierror", "MemoryError", "can't start new thread", "Permission denied: '/a'",
		"ModuleNotFoundError: No module named 'x'", "No such file or directory: '/a/b'", "hm"} {
		circumstances = append(circumstances, fault.Circumstances{Fixed: true, Sandbox: fault.Confinement{Memory: 64, Processes: 8}, Log: fault.BotLog{Lines: []string{stderr}}, LeftOver: stderr == "hm"})
	}
	for i, arrival := range []fault.Arrival{fault.Came, fault.CameAtEnd, fault.NeverCame} {
		for _, language := range []string{"Python", "JavaScript", "C", "C++", "Rust", "Java", "Go", "Bash", "Perl", "Ruby", "Lua", "Tcl", "PHP", "Zig"} {
			circumstances = append(circumstances, fault.Circumstances{Fixed: true, Answer: fault.LateAnswer{Arrival: arrival}, Language: language, LeftOver: i == 0})
		}
	}
	for _, turns := range []int{0, 3} {
		for _, longest := range []float64{2, 90} {
			circumstances = append(circumstances, fault.Circumstances{Fixed: true, History: fault.History{Turns: turns, Longest: longest, Legal: []string{"5c"}, Move: "3o", Games: 2, Act: fault.Act(turns)}, Turn: fault.FailedTurn{Movetime: 100, Ply: 17, Legal: legal}})
		}
	}
	circumstances = append(circumstances, fault.Circumstances{Fixed: true, History: fault.History{Act: fault.HeardEnd}}, fault.Circumstances{Fixed: true, History: fault.History{Games: 1}}, fault.Circumstances{Fixed: true, Log: fault.BotLog{Private: true}})
	for _, r := range reasons {
		if r.Kind == fault.NotStarted || r.Kind == fault.Ended || r.Kind == fault.Failed {
			r.Detail = "E1"
		}
		f := fault.New(0, 1, r)
		if r.Kind != fault.IllegalMove {
			say(r.Short())
		}
		for _, c := range circumstances {
			if c.Sandbox.Memory > 0 && len(c.Log.Lines) > 0 && r.Kind == fault.Exited {
				r.Status = 127
			}
			if r.Kind == fault.IllegalMove {
				c.Turn.Refusal = phrase.New(r.Detail)
			}
			for _, text := range append(r.Advice(c), f.TextIn(c)) {
				say(text)
			}
		}
	}
}
