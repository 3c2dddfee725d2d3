package interpreter

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/sandbox/internal/plan"
)

// starters are programs that start others by name, as do their scripts.
var starters = []string{"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "fish", "env", "nice", "timeout", "make", "ninja", "just"}

// wellKnown are programs that starters may start: if they are outside the system's
// directories, the sandbox shows their installations, too.
var wellKnown = [...]string{
	"python3", "python", "pypy3", "node", "deno", "bun", "ruby", "java", "perl", "php", "lua", "luajit",
	"julia", "Rscript", "guile", "racket", "sbcl", "swipl", "ocaml", "erl", "elixir", "dotnet", "tclsh",
}

// cache has for each PATH and home a function that returns the result of findInstalled.
var cache sync.Map

// installedInterpreters returns the paths to show for the well-known interpreters, and their
// directories. It leaves out missing and broken ones.
func installedInterpreters() program {
	home, _ := os.UserHomeDir()
	find, _ := cache.LoadOrStore(os.Getenv("PATH")+"\x00"+home, sync.OnceValue(findInstalled))
	return find.(func() program)()
}

func findInstalled() (all program) {
	var found [len(wellKnown)]program
	var asked sync.WaitGroup
	for i, name := range wellKnown {
		path, err := locate(name, "")
		if err != nil || plan.IsWithin(path, plan.ProgramDirs...) && staysInSystem(path) {
			continue
		}
		asked.Go(func() {
			if found[i].add(path, "", 1) != nil {
				found[i] = program{}
			}
		})
	}
	asked.Wait()
	for _, p := range found {
		all.VisiblePaths = append(all.VisiblePaths, p.VisiblePaths...)
		all.bins = append(all.bins, p.bins...)
	}
	return all
}

// staysInSystem reports whether a program in the system's directories is not a link that
// leads out of them.
func staysInSystem(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && plan.IsWithin(real, plan.ProgramDirs...)
}

// pathQuestions are arguments with which an interpreter prints its path.
var pathQuestions = map[string][]string{
	"python": {"-c", "import sys; print(sys.executable)"},
	"pypy":   {"-c", "import sys; print(sys.executable)"},
	"node":   {"-p", "process.execPath"},
	"bun":    {"-p", "process.execPath"},
	"deno":   {"eval", "console.log(Deno.execPath())"},
	"ruby":   {"-e", "puts RbConfig.ruby"},
	"perl":   {"-e", "print $^X"},
	"php":    {"-r", "echo PHP_BINARY;"},
}

// askTimeout is how long an interpreter or a version manager may take to answer a question.
var askTimeout = time.Minute

// ask runs a program and returns what it prints on stdout and on stderr, also after an error.
func ask(path string, args ...string) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = min(askTimeout/5, time.Second) // for processes that it has started
	err = cmd.Run()
	switch words := strings.Join(append([]string{path}, args...), " "); {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: no answer in %v: try it by hand", words, askTimeout)
	case err != nil:
		err = fmt.Errorf("%s: %w", words, err)
	}
	return stdout.String(), stderr.String(), err
}

// askPath asks an interpreter that a script starts for its path; "" if that fails.
func askPath(path string) string {
	question := pathQuestions[strings.TrimRight(filepath.Base(path), "0123456789.")]
	if question == nil {
		return ""
	}
	out, _, err := ask(path, question...)
	real := strings.TrimSpace(out)
	if err != nil || !filepath.IsAbs(real) || !isFile(real) || IsScript(real) {
		return ""
	}
	return real
}

// IsStarter reports whether a program only starts others by name, as a shell does. Every machine
// has those.
func IsStarter(name string) bool { return slices.Contains(starters, name) }

// IsWellKnown reports whether a program is one of the interpreters that Versions looks for.
func IsWellKnown(name string) bool { return slices.Contains(wellKnown[:], name) }

// versionArgs are the arguments with which an interpreter tells its version, where they are not
// --version.
var versionArgs = map[string][]string{
	"java": {"-version"}, "perl": {"-e", `printf "%vd", $^V`}, "lua": {"-v"}, "luajit": {"-v"}, "erl": {"-version"}, "tclsh": nil,
}

// Versions returns the well-known interpreters of this machine with their versions, "" where one
// does not tell. It asks them once.
func Versions() map[string]string { return maps.Clone(versions()) }

var versions = sync.OnceValue(func() map[string]string {
	var mu sync.Mutex
	var asked sync.WaitGroup
	found := map[string]string{}
	for _, name := range wellKnown {
		path, err := locate(name, "")
		if err != nil {
			continue
		}
		asked.Go(func() {
			version := askVersion(name, path)
			mu.Lock()
			defer mu.Unlock()
			found[name] = version
		})
	}
	asked.Wait()
	return found
})

func askVersion(name, path string) string {
	args, special := versionArgs[name]
	if !special {
		args = []string{"--version"}
	}
	if len(args) == 0 {
		return ""
	}
	out, errs, _ := ask(path, args...) // what it prints counts, whatever its status
	return firstVersion(out + errs)
}

// firstVersion returns the first numbers of a text with points between them; "" if there are none.
func firstVersion(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		if word = strings.Trim(word, "."); strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}
