package sandbox

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/sandbox/interpreter"
)

// starters are programs that start others by name, as do their scripts.
var starters = []string{"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "fish", "env", "nice", "timeout", "make", "ninja", "just"}

// wellKnown are programs that starters may start: if they are outside the system's
// directories, the sandbox shows their installations, too.
var wellKnown = []string{
	"python3", "python", "pypy3", "node", "deno", "bun", "ruby", "java", "perl", "php", "lua", "luajit",
	"julia", "Rscript", "guile", "racket", "sbcl", "swipl", "ocaml", "erl", "elixir", "dotnet", "tclsh",
}

// installed caches the result of interpreters for a PATH and a home.
var installed struct {
	sync.Mutex
	by map[string]program
}

// interpreters returns the paths to show for the well-known interpreters, and their
// directories. It leaves out missing and broken ones.
func interpreters() program {
	home, _ := os.UserHomeDir()
	key := os.Getenv("PATH") + "\x00" + home
	installed.Lock()
	defer installed.Unlock()
	if p, ok := installed.by[key]; ok {
		return p
	}
	var all program
	for _, name := range wellKnown {
		path, err := locate(name, "")
		if err != nil || within(path, shownDirs...) && standsThere(path) {
			continue
		}
		var p program
		if p.find(path, "", 1) == nil {
			all.show = append(all.show, p.show...)
			all.bins = append(all.bins, p.bins...)
		}
	}
	if installed.by == nil {
		installed.by = map[string]program{}
	}
	installed.by[key] = all
	return all
}

// standsThere reports whether a program in the system's directories is not a link that
// leads out of them.
func standsThere(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && within(real, shownDirs...)
}

// questions are arguments with which an interpreter prints its path.
var questions = map[string][]string{
	"python": {"-c", "import sys; print(sys.executable)"},
	"pypy":   {"-c", "import sys; print(sys.executable)"},
	"node":   {"-p", "process.execPath"},
	"bun":    {"-p", "process.execPath"},
	"deno":   {"eval", "console.log(Deno.execPath())"},
	"ruby":   {"-e", "puts RbConfig.ruby"},
	"perl":   {"-e", "print $^X"},
	"php":    {"-r", "echo PHP_BINARY;"},
}

// tellsItself asks an interpreter that a script starts for its path; "" if that fails.
func tellsItself(path string) string {
	ask := questions[strings.TrimRight(filepath.Base(path), "0123456789.")]
	if ask == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, ask...).Output()
	real := string(bytes.TrimSpace(out))
	if err != nil || !filepath.IsAbs(real) || !isFile(real) || interpreter.IsScript(real) {
		return ""
	}
	return real
}

// Starter reports whether a program only starts others by name, as a shell does. Every machine
// has those.
func Starter(name string) bool { return slices.Contains(starters, name) }

// Interpreter reports whether a program is one of the well-known interpreters.
func Interpreter(name string) bool { return slices.Contains(wellKnown, name) }
