package sandbox

import (
	"context"
	"fmt"
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
var wellKnown = [...]string{
	"python3", "python", "pypy3", "node", "deno", "bun", "ruby", "java", "perl", "php", "lua", "luajit",
	"julia", "Rscript", "guile", "racket", "sbcl", "swipl", "ocaml", "erl", "elixir", "dotnet", "tclsh",
}

// installed has the result of findInterpreters for each PATH and home.
var installed struct {
	sync.Mutex
	by map[string]func() program
}

// interpreters returns the paths to show for the well-known interpreters, and their
// directories. It leaves out missing and broken ones.
func interpreters() program {
	home, _ := os.UserHomeDir()
	key := os.Getenv("PATH") + "\x00" + home
	installed.Lock()
	find := installed.by[key]
	if find == nil {
		if installed.by == nil {
			installed.by = map[string]func() program{}
		}
		find = sync.OnceValue(findInterpreters)
		installed.by[key] = find
	}
	installed.Unlock()
	return find() // not under the lock: a version manager may take long
}

func findInterpreters() (all program) {
	var found [len(wellKnown)]program
	var asked sync.WaitGroup
	for i, name := range wellKnown {
		path, err := locate(name, "")
		if err != nil || within(path, shownDirs...) && standsThere(path) {
			continue
		}
		asked.Go(func() {
			if found[i].find(path, "", 1) != nil {
				found[i] = program{}
			}
		})
	}
	asked.Wait()
	for _, p := range found {
		all.show = append(all.show, p.show...)
		all.bins = append(all.bins, p.bins...)
	}
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

// askTime is how long an interpreter or a version manager may take to answer a question.
var askTime = 5 * time.Second

// ask runs a program and returns what it prints on stdout and on stderr, also after an error.
func ask(path string, args ...string) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = askTime / 5 // for processes that it has started
	err = cmd.Run()
	switch words := strings.Join(append([]string{path}, args...), " "); {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: no answer in %v: try it by hand", words, askTime)
	case err != nil:
		err = fmt.Errorf("%s: %w", words, err)
	}
	return stdout.String(), stderr.String(), err
}

// tellsItself asks an interpreter that a script starts for its path; "" if that fails.
func tellsItself(path string) string {
	question := questions[strings.TrimRight(filepath.Base(path), "0123456789.")]
	if question == nil {
		return ""
	}
	out, _, err := ask(path, question...)
	real := strings.TrimSpace(out)
	if err != nil || !filepath.IsAbs(real) || !isFile(real) || interpreter.IsScript(real) {
		return ""
	}
	return real
}

// Starter reports whether a program only starts others by name, as a shell does. Every machine
// has those.
func Starter(name string) bool { return slices.Contains(starters, name) }

// Interpreter reports whether a program is one of the well-known interpreters.
func Interpreter(name string) bool { return slices.Contains(wellKnown[:], name) }
