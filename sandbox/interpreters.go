package sandbox

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// starters are programs that start others by their names, and so do the scripts
// that are run by them.
var starters = []string{"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "fish", "env", "nice", "timeout", "make", "ninja", "just"}

// wellKnown are programs that those start: where they stand outside the system's
// folders, their installations are shown, too.
var wellKnown = []string{
	"python3", "python", "pypy3", "node", "deno", "bun", "ruby", "java", "perl", "php", "lua", "luajit",
	"julia", "Rscript", "guile", "racket", "sbcl", "swipl", "ocaml", "erl", "elixir", "dotnet", "tclsh",
}

// installed keeps what a PATH and a home come to.
var installed struct {
	sync.Mutex
	by map[string]program
}

// interpreters are those that are well known: what is to be shown for them, and
// their folders. One that is not there or broken is left out.
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
		if err != nil || within(path, shownFolders...) && standsThere(path) {
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

// standsThere tells whether a program in the system's folders is no link that
// leads out of them.
func standsThere(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && within(real, shownFolders...)
}

// questions have an interpreter tell where it is.
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

// tellsItself asks an interpreter behind a script for its path; "" when it does
// not tell.
func tellsItself(path string) string {
	ask := questions[strings.TrimRight(filepath.Base(path), "0123456789.")]
	if ask == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, ask...).Output()
	real := string(bytes.TrimSpace(out))
	if err != nil || !filepath.IsAbs(real) || !isFile(real) || isScript(real) {
		return ""
	}
	return real
}

// isScript tells whether a file is run by what its first line names.
func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [2]byte
	_, err = io.ReadFull(f, begin[:])
	return err == nil && string(begin[:]) == "#!"
}
