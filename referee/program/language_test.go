package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/match"
)

func TestLanguage(t *testing.T) {
	script := func(first string) string {
		path := filepath.Join(t.TempDir(), "bot")
		kit.Must(t, os.WriteFile(path, []byte(first+"\n"), 0o755))
		return path
	}
	for _, c := range []struct{ language, command, want string }{
		{"Rust", "./bot", "Rust"},
		{"", "/usr/bin/python3.12", "Python"},
		{"", "/usr/bin/lua5.4", "Lua"},
		{"", "/usr/bin/node", "JavaScript"},
		{"", "/nonexistent/bot", ""},
		{"", script("#!/usr/bin/env python3"), "Python"},
		{"", script("#!/usr/bin/env -S ruby -w"), "Ruby"},
		{"", script("#!/usr/bin/perl -w"), "Perl"},
		{"", script("# no interpreter"), ""},
		{"", script("#!"), ""},
	} {
		if got := Language(match.Contestant{Command: []string{c.command}, Language: c.language}); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
