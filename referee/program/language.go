package program

import (
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// interpreters maps the names of interpreters, without version, to the languages that they run.
var interpreters = []struct{ program, language string }{
	{"python", "Python"}, {"pypy", "Python"}, {"node", "JavaScript"}, {"deno", "JavaScript"}, {"bun", "JavaScript"},
	{"java", "Java"}, {"bash", "Bash"}, {"sh", "Bash"}, {"dash", "Bash"}, {"zsh", "Bash"}, {"perl", "Perl"}, {"ruby", "Ruby"},
	{"luajit", "Lua"}, {"lua", "Lua"}, {"tclsh", "Tcl"}, {"php", "PHP"},
}

// Language returns the programming language of a bot. It is b.Language or, if that is "", the language that the bot's
// command or its #! line reveals. Language returns "" if the language is unknown.
func Language(b match.Contestant) string {
	if b.Language != "" {
		return b.Language
	}
	if l := languageOf(b.Command); l != "" {
		return l
	}
	if l := interpretedLanguage(b.Command[0]); l != "" {
		return l
	}
	for _, word := range interpreter.FirstLine(b.Command[0]) {
		if l := interpretedLanguage(word); l != "" {
			return l
		}
	}
	return ""
}

// interpretedLanguage returns the language that the interpreter at path runs, such as Python for "python3.12". It
// returns "" if path is not a known interpreter.
func interpretedLanguage(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	name = strings.TrimRight(name, "0123456789.-")
	for _, i := range interpreters {
		if name == i.program {
			return i.language
		}
	}
	return ""
}
