package check

import (
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// interpreters maps programs to the languages that they run.
var interpreters = []struct{ program, language string }{
	{"python", "Python"}, {"pypy", "Python"}, {"node", "JavaScript"}, {"deno", "JavaScript"}, {"bun", "JavaScript"},
	{"java", "Java"}, {"bash", "Bash"}, {"sh", "Bash"}, {"dash", "Bash"}, {"zsh", "Bash"}, {"perl", "Perl"}, {"ruby", "Ruby"},
	{"luajit", "Lua"}, {"lua", "Lua"}, {"tclsh", "Tcl"}, {"php", "PHP"},
}

// languageOf returns the language of a program: its own, or that of the interpreter in
// its command or its first line; "" if unknown.
func languageOf(p program.Program) string {
	if p.Language != "" {
		return p.Language
	}
	if l := interpreted(p.Command[0]); l != "" {
		return l
	}
	for _, word := range interpreter.FirstLine(p.Command[0]) {
		if l := interpreted(word); l != "" {
			return l
		}
	}
	return ""
}

// interpreted returns the language of an interpreter's path: "python3.12" runs Python.
func interpreted(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	name = strings.TrimRight(name, "0123456789.-")
	for _, i := range interpreters {
		if name == i.program {
			return i.language
		}
	}
	return ""
}
