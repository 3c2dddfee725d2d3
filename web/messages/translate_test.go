package messages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/messages"
)

// Texts of the program are found with whatever is in their places, which is translated, too.
func TestTranslate(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for _, c := range []struct{ english, ca, es string }{
		{"the token is not valid", "el token no és vàlid", "el token no es válido"},
		{`bot "a b" has no version 3`, `el bot "a b" no té la versió 3`, `el bot "a b" no tiene la versión 3`},
		{"the limit for one person is 3 uploads at the same time", "el límit d’una persona és de 3 pujades alhora", "el límite de una persona es de 3 subidas a la vez"},
		{
			`build: timba.toml: line 1: name: "x" is not in quotes: write text as "text", and a list of words as ["one", "two"]`,
			`construir: timba.toml: línia 1: name: "x" no és entre cometes: escriu un text com a "text", i una llista de paraules com a ["una", "dues"]`,
			`construir: timba.toml: línea 1: name: "x" no está entre comillas: escribe un texto como "texto", y una lista de palabras como ["una", "dos"]`,
		},
		{
			`timba.toml: run must be a list of words, as in ["python3", "bot.py"], not "bot"`,
			`timba.toml: run ha de ser una llista de paraules, com a ["python3", "bot.py"], i no "bot"`,
			`timba.toml: run debe ser una lista de palabras, como en ["python3", "bot.py"], y no "bot"`,
		},
		{
			`first game: "7e" is no line of the protocol: a bot prints ready, move or info; to change: the verb is missing: print "move 7e"`,
			`primera partida: "7e" no és cap línia del protocol: un bot escriu «ready», «move» o «info»; què cal canviar: falta el verb: escriu "move 7e"`,
			`primera partida: "7e" no es ninguna línea del protocolo: un bot escribe «ready», «move» o «info»; qué cambiar: falta el verbo: escribe "move 7e"`,
		},
		{
			"match: the number of bots cannot be 1 in a game of 2 seats: try 2",
			"en un joc de 2 jugadors el nombre de bots no pot ser 1: prova’n 2", "en un juego de 2 jugadores el número de bots no puede ser 1: prueba con 2",
		},
		{"1 file, 236 bytes", "1 fitxer, 236 bytes", "1 fichero, 236 bytes"},
		{"archive: it is empty", "arxiu: és buit", "archivo: está vacío"},
		{"try {b} to {a}", "prova de {b} a {a}", "prueba de {b} a {a}"},
		{
			"check: tute: the process exited with status 1 instead of sending the move of ply 9: its stderr says \"KeyError: 'c'\"; to change: its stderr says why; send it the same lines by hand to see it again; and 2 other checks fail, too",
			"comprovar: tute: el procés ha acabat amb l’estat 1 en lloc d’enviar la jugada 9: el seu stderr diu \"KeyError: 'c'\"; què cal canviar: el seu stderr diu per què; envia-li les mateixes línies a mà per tornar-ho a veure; i fallen 2 comprovacions més",
			"comprobar: tute: el proceso ha terminado con el estado 1 en lugar de enviar la jugada 9: su stderr dice \"KeyError: 'c'\"; qué cambiar: su stderr dice por qué; envíale las mismas líneas a mano para volver a verlo; y fallan 2 comprobaciones más",
		},
		{
			"first game: no move of ply 3 within 20 ms and the margin: it came 88 ms later; to change: it needs about 110 ms for this move, and has 20",
			"primera partida: sense resposta a la jugada 3 en 20 ms i el marge: ha arribat 88 ms després; què cal canviar: necessita uns 110 ms per a aquesta jugada, i en té 20",
			"primera partida: sin respuesta en la jugada 3 en 20 ms y el margen: ha llegado 88 ms después; qué cambiar: necesita unos 110 ms para esta jugada, y tiene 20",
		},
		{"the process was killed by signal 11 (SIGSEGV) instead of sending the move of ply 2", "el procés l’ha matat el senyal 11 (SIGSEGV) en lloc d’enviar la jugada 2", "al proceso lo ha matado la señal 11 (SIGSEGV) en lugar de enviar la jugada 2"},
		{"what to change:\n- use less\nTraceback", "què cal canviar:\n- fes-ne servir menys\nTraceback", "qué cambiar:\n- usa menos\nTraceback"},
		{"what to change: use less\nTraceback", "què cal canviar: fes-ne servir menys\nTraceback", "qué cambiar: usa menos\nTraceback"},
	} {
		for i, want := range []string{c.english, c.ca, c.es} {
			if got, ok := all[i].Translate(c.english); !ok || got != want {
				t.Errorf("%s: %q is %q, %v, want %q", all[i].Tag, c.english, got, ok, want)
			}
		}
	}
	for _, unknown := range []string{"", "token", "the token is not valid!", "no phrase\nat all"} {
		if got, ok := all[1].Translate(unknown); ok || got != unknown {
			t.Errorf("%q becomes %q", unknown, got)
		}
	}
}

// Where commands and the API advise a command, pages in every language advise what they have.
func TestAdviceOfPages(t *testing.T) {
	all := kit.Get[[]*messages.Language](t)(messages.All())
	for _, said := range []string{
		"timba standings lists them", "timba bots lists them", "timba bots anna-bot lists them", "timba bots anna-bot lists those that were",
		"bring it back first: timba bots restore anna-bot", "timba admin people lists them", "timba admin invites lists them",
	} {
		for _, l := range all {
			if text, ok := l.Translate(said); !ok || text == said || strings.Contains(text, "timba ") {
				t.Errorf("%s: %q is %q, %v", l.Tag, said, text, ok)
			}
		}
	}
	if got, _ := all[0].Translate("timba standings lists them"); got != "the page of the ladders lists them" {
		t.Errorf("in English it is %q", got)
	}
}

// Why an attempt at a match ended, why a version is not played and why a machine gets nothing is translated.
func TestReasonsTranslated(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All())[1:] {
		for _, text := range []string{
			"the server stopped", "the server could not play", "the referee failed", `machine "x" was suspended`, `machine "x" had it for too long`,
			`machine "x" handed in what cannot be of the match`, `machine "x" could not play`, `machine "x" was lost`,
			"version 7 cannot be prepared: E1",
			`a house bot failed: @greedy (seat 0, deal 2, rotation 1, ply 3): crash: the process exited with status 1 instead of sending the move of ply 3`,
			"cancelled by ada", "cancelled: ada is blocked", "cancelled: version 2 of bot is not connected", "cancelled: over its time of 1m0s",
			"cancelled: its bots can use 900 MiB at once, and all bots together have 512 MiB", `bot "bot" is withdrawn by its owner`,
			"version 2 of bot plays no more; version 3 of other plays no more",
			"it is not played: no machine has what it needs: a machine with the architecture arm64 (lab-1 has amd64)",
			"it is not played: no machine has what it needs: java (lab-1 does not have it)",
			"it could not play a match", "it had match 5 for longer than a match can take",
			`timba v1.2 on "x" has protocol 3, and the server has 1: install the server's version`,
			`"x" has a sandbox of level basic, and the competition requires full: timba doctor shows what is missing`, `"x" has no cores to play on`,
		} {
			translated, ok := l.Translate(text)
			if word := english.FindString(translated); !ok || word != "" || strings.Contains(translated, "does not") || strings.Contains(translated, "no more") {
				t.Errorf("%s: %q becomes %q", l.Tag, text, translated)
			}
		}
	}
}

// Every text of the program has three lines, or a fourth, which has what pages in English say, with the places of the
// first one, and the program says it.
func TestProgram(t *testing.T) {
	var source strings.Builder
	for _, dir := range []string{"internal/tomltext", "protocol", "rules", "referee", "tournament", "ladder", "web"} {
		kit.Must(t, filepath.WalkDir("../../"+dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (filepath.Ext(path) == ".go" || d.Name() == "timba.toml") && !strings.HasSuffix(path, "_test.go") {
				var data []byte
				data, err = os.ReadFile(path)
				source.Write(data)
			}
			return err
		}))
	}
	said := strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(source.String())
	braces := regexp.MustCompile(`\{\w+\}`)
	seen := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(kit.Get[[]byte](t)(os.ReadFile("program.txt")))), "\n\n") {
		lines := strings.Split(block, "\n")
		if n := len(messages.Languages); len(lines) < n || len(lines) > n+1 || seen[lines[0]] {
			t.Errorf("this has not %d or %d lines, or is there twice: %s", n, n+1, block)
			continue
		}
		seen[lines[0]] = true
		for _, line := range lines[1:] {
			for _, place := range braces.FindAllString(line, -1) {
				if !strings.Contains(lines[0], place) {
					t.Errorf("%s is not in the English text: %s", place, line)
				}
			}
			if word := formal.FindString(line); word != "" || strings.Contains(line, "'") {
				t.Errorf("this has ' for ’, or says %q to a reader who is tu: %s", word, line)
			}
		}
		if !slices.ContainsFunc(braces.Split(lines[0], -1), func(part string) bool {
			const n = 14 // bytes: the program puts some texts together
			for i := 0; i == 0 || i+n <= len(part); i++ {
				if piece := strings.Trim(part[i:min(i+n, len(part))], " :;,."); len(piece) > 2 && strings.Contains(said, piece) {
					return true
				}
			}
			return false
		}) {
			t.Errorf("the program does not say %q", lines[0])
		}
	}
}

// The titles of the ladders of the default configuration are translated, and what they say after the game.
func TestTitlesTranslated(t *testing.T) {
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All())[1:] {
		for _, x := range config.Default().Ladders {
			if _, rules, ok := strings.Cut(x.Title, ", "); ok {
				for _, text := range []string{x.Title, rules} {
					if translated, ok := l.Translate(text); !ok || translated == text {
						t.Errorf("%s: %q is not translated", l.Tag, text)
					}
				}
			}
		}
	}
}

// What a server says of an archive, and what to do, is translated.
func TestArchiveErrorsTranslated(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-zA-Z]`)
	var said []string
	for _, file := range kit.Get[[]string](t)(filepath.Glob("../../ladder/bundle/*.go")) {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "pack.go" { // which commands use
			continue
		}
		ast.Inspect(kit.Get[*ast.File](t)(parser.ParseFile(token.NewFileSet(), file, nil, 0)), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && (f.Name == "invalid" || f.Name == "tooLarge") {
					for _, arg := range call.Args {
						if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING {
							said = append(said, verbs.ReplaceAllString(kit.Get[string](t)(strconv.Unquote(text.Value)), "7"))
						}
					}
				}
			}
			return true
		})
	}
	if len(said) < 50 {
		t.Errorf("only %d texts", len(said))
	}
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All())[1:] {
		for _, text := range said {
			if translated, ok := l.Translate(text); !ok {
				t.Errorf("%s: %q is not translated: %q", l.Tag, text, translated)
			}
		}
	}
}

// What a server says of games of people, and what to do, is translated.
func TestPlayErrorsTranslated(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-zA-Z]`)
	said := []string{"the limit for one person is 2 games at the same time", "end one, or try again later"}
	files := append(kit.Get[[]string](t)(filepath.Glob("../play/*.go")), "../../ladder/store/plays.go")
	for _, file := range append(files, "../site/play.go", "../site/waiting.go", "../site/choose.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		ast.Inspect(kit.Get[*ast.File](t)(parser.ParseFile(token.NewFileSet(), file, nil, 0)), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "Errorf" || f.X.(*ast.Ident).Name != "ladder" {
				return true
			}
			for _, arg := range call.Args[1:3] { // what to try, and what is wrong
				if text, ok := arg.(*ast.BasicLit); ok && text.Value != `""` && text.Value != `"%w"` {
					said = append(said, verbs.ReplaceAllString(kit.Get[string](t)(strconv.Unquote(text.Value)), "7"))
				}
			}
			return true
		})
	}
	if len(said) < 25 {
		t.Errorf("only %d texts", len(said))
	}
	for _, l := range kit.Get[[]*messages.Language](t)(messages.All())[1:] {
		for _, text := range said {
			if translated, ok := l.Translate(text); !ok || strings.Contains(translated, "games") {
				t.Errorf("%s: %q is not translated: %q", l.Tag, text, translated)
			}
		}
	}
}

// English words that no translation has outside of quotes.
var english = regexp.MustCompile(`\b(the|and|with|of|it|its|that|to|by|from|for|at|was|were|has|had|this|which|before|after|every)\b`)

// Every fault has a translated text and translated advice.
func TestFaultsTranslated(t *testing.T) {
	quotes := regexp.MustCompile(`"[^"]*"|«[^»]*»|\([^)]*\)`)
	all := kit.Get[[]*messages.Language](t)(messages.All())
	check := func(text string) {
		for _, l := range all[1:] {
			translated, ok := l.Translate(text)
			if word := english.FindString(quotes.ReplaceAllString(translated, "")); !ok || word != "" {
				t.Errorf("%s: %q becomes %q, with %q", l.Tag, text, translated, word)
			}
		}
	}
	legal := []string{"1o", "12c", "8-4", "swap:7o"}
	var reasons []fault.Reason
	for _, kind := range fault.Kinds() {
		r := fault.Reason{Kind: kind, Line: "x", Move: "9c", At: 1, Byte: 200, Limit: 100, Margin: 50, Status: 1, Signal: 11, Name: "SIGSEGV", Command: "python3 bot.py"}
		if kind == fault.IllegalMove {
			r.Detail = "is not in the list of the turn"
		}
		reasons = append(reasons, r)
		r.BeforeReady = true
		reasons = append(reasons, r)
		r.BeforeReady, r.Unfinished, r.Name, r.Status = false, "move 1o", "SIGKILL", 0
		reasons = append(reasons, r)
		r.Unfinished = "> "
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
			reasons = append(reasons, fault.Reason{Kind: kind, Line: fault.Raw(line), At: 1, Byte: b})
		}
	}
	circumstances := []fault.Circumstances{{Fixed: true}, {Fixed: true, LeftOver: true}}
	for _, stderr := range []string{"KeyError: 1", "KeyError: '?'", "KeyError: '-'", "x: Read-only file system: '/a/b'", "gaierror", "MemoryError", "can't start new thread", "Permission denied: '/a'",
		"ModuleNotFoundError: No module named 'x'", "No such file or directory: '/a/b'", "hm"} {
		circumstances = append(circumstances, fault.Circumstances{Fixed: true, Memory: 64, Processes: 8, Stderr: []string{stderr}, LeftOver: stderr == "hm"})
	}
	for i, later := range []fault.Later{fault.Came, fault.CameAtEnd, fault.NeverCame} {
		for _, language := range []string{"Python", "JavaScript", "C", "C++", "Rust", "Java", "Go", "Bash", "Perl", "Ruby", "Lua", "Tcl", "PHP", "Zig"} {
			circumstances = append(circumstances, fault.Circumstances{Fixed: true, Later: later, Language: language, LeftOver: i == 0})
		}
	}
	for _, turns := range []int{0, 3} {
		for _, longest := range []float64{2, 90} {
			circumstances = append(circumstances, fault.Circumstances{Fixed: true, Turns: turns, Longest: longest, Movetime: 100, Ply: 17, Legal: legal, Before: []string{"5c"}, Last: "3o", Games: 2, Did: fault.Did(turns)})
		}
	}
	circumstances = append(circumstances, fault.Circumstances{Fixed: true, Did: fault.HeardEnd}, fault.Circumstances{Fixed: true, Games: 1}, fault.Circumstances{Fixed: true, Private: true})
	said := map[string]bool{}
	for _, r := range reasons {
		if r.Kind == fault.NotStarted || r.Kind == fault.Ended || r.Kind == fault.Failed {
			r.Detail = "E1"
		}
		f := fault.New(0, 1, r)
		for _, c := range circumstances {
			if c.Memory > 0 && len(c.Stderr) > 0 && r.Kind == fault.Exited {
				r.Status = 127
			}
			for _, text := range append(r.Advice(c), f.TextIn(c)) {
				if !said[text] {
					said[text] = true
					check(text)
				}
			}
		}
	}
	if len(said) < 200 {
		t.Errorf("only %d texts", len(said))
	}
}
