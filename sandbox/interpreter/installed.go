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

// starters are programs that start other programs by name. Some do that themselves, such as env; others do it when a
// script says so, such as a shell or make.
var starters = []string{"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "fish", "env", "nice", "timeout", "make", "ninja", "just"}

// wellKnown are interpreters that a shell script may start. In a sandbox that runs a shell, those that are installed
// outside the system's directories are made visible.
var wellKnown = [...]string{
	"python3", "python", "pypy3", "node", "deno", "bun", "ruby", "java", "perl", "php", "lua", "luajit",
	"julia", "Rscript", "guile", "racket", "sbcl", "swipl", "ocaml", "erl", "elixir", "dotnet", "tclsh",
}

// cache has the results of findInstalled. The key is a PATH and a home directory, separated by a zero byte. The value
// is a function that returns the result and computes it at its first call.
var cache sync.Map

// installedInterpreters returns what a sandbox needs to run the well-known interpreters that are installed outside
// the system's directories: paths to make visible, and directories for PATH. It leaves out interpreters that do not
// work. The result is cached for each PATH and home directory.
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

// staysInSystem reports whether path, after resolving all symbolic links, is in the system's directories of programs.
func staysInSystem(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && plan.IsWithin(real, plan.ProgramDirs...)
}

// pathQuestions maps the name of an interpreter to arguments with which it prints its own path.
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

// askTimeout is how long an interpreter or a version manager may take to answer.
var askTimeout = time.Minute

// ask runs a program and returns what it writes to stdout and stderr. If the program fails, ask returns an error in
// addition to the output. A program that runs longer than askTimeout is killed.
func ask(path string, args ...string) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = min(askTimeout/5, time.Second) // for processes that it started
	err = cmd.Run()
	switch words := strings.Join(append([]string{path}, args...), " "); {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s: no answer in %v: try it by hand", words, askTimeout)
	case err != nil:
		err = fmt.Errorf("%s: %w", words, err)
	}
	return stdout.String(), stderr.String(), err
}

// askPath runs the interpreter at path and returns the path of its executable, which the interpreter prints. path may
// be a script that starts the interpreter. askPath returns "" if that fails, or if it does not know how to ask this
// interpreter.
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

// IsStarter reports whether the program called name starts other programs by name, as a shell does.
func IsStarter(name string) bool { return slices.Contains(starters, name) }

// IsWellKnown reports whether the program called name is one of the interpreters that Versions looks for.
func IsWellKnown(name string) bool { return slices.Contains(wellKnown[:], name) }

// versionArgs maps an interpreter to the arguments with which it prints its version. An interpreter that is not in
// the map prints it with --version. nil means that the interpreter cannot print it.
var versionArgs = map[string][]string{
	"java": {"-version"}, "perl": {"-e", `printf "%vd", $^V`}, "lua": {"-v"}, "luajit": {"-v"}, "erl": {"-version"}, "tclsh": nil,
}

// Versions returns which well-known interpreters this machine has: it maps their names to their versions. A version
// is "" if the interpreter does not print it. Only the first call runs the interpreters. The caller may change the
// map.
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
	out, errs, _ := ask(path, args...) // its exit status does not matter
	return firstVersion(out + errs)
}

// firstVersion returns the first version number in a text, such as "3.12.1", or "" if there is none.
func firstVersion(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		if word = strings.Trim(word, "."); strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}
