package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox"
)

// Scripts runs the test scripts in dir (see package testscript), each in a directory of its own. The scripts can use
// the commands exits, same and json. others has further commands: functions by the name of the command. programs are
// directories that are added to the PATH of the scripts.
func Scripts(t *testing.T, dir string, others map[string]func(*testscript.TestScript, bool, []string), programs ...string) {
	kit.Slow(t)
	commands := map[string]func(*testscript.TestScript, bool, []string){"exits": Exits, "same": same, "json": CheckMembers}
	maps.Copy(commands, others)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       kit.Updating(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			e.Setenv("HOME", os.Getenv("HOME")) // version managers find interpreters there
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("PATH", strings.Join(append([]string{e.Getenv("PATH")}, programs...), string(os.PathListSeparator)))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "sandboxed" { // at least namespaces are available
				return sandbox.Probe().Level >= sandbox.LevelReduced, nil
			}
			return false, fmt.Errorf("condition %q does not exist", name)
		},
		Cmds: commands,
	})
}

// Exits implements the command "exits STATUS COMMAND ARG..." of test scripts. It runs the command and fails unless
// the exit status is STATUS.
func Exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\n%s%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

var (
	times   = regexp.MustCompile(`"(ms|seconds|ended_at|workers)": ?("[0-9TZ:-]+"|[0-9.e+-]+)`)
	credits = regexp.MustCompile(`(?m),\s*"credit(_ms)?": ?[0-9.e+-]+|^credit, .*\n`)
)

// Timeless returns a JSON document or a text without the parts that may differ when the same match is played again.
// It sets durations to 0, and removes the time with which late bots were credited because the machine was busy.
func Timeless(document []byte) string {
	return times.ReplaceAllString(credits.ReplaceAllString(string(document), ""), `"$1":0`)
}

// same implements the command "same DIR DIR" of test scripts. It fails unless both directories have the same files.
// It ignores the parts of files that Timeless removes.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	one, err := Contents(ts.MkAbs(args[0]))
	ts.Check(err)
	other, err := Contents(ts.MkAbs(args[1]))
	ts.Check(err)
	if diff := cmp.Diff(one, other); diff != "" {
		ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], diff)
	}
}

// Contents returns the contents of all files below dir, by relative path, as changed by Timeless.
func Contents(dir string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = Timeless(data)
		return err
	})
	return files, err
}

// CheckMembers implements the command "json FILE MEMBER..." of test scripts. It fails unless the file is one JSON
// object with exactly these keys.
func CheckMembers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json FILE MEMBER...")
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &object); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got, want := slices.Sorted(maps.Keys(object)), slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has the members %q, want %q", args[0], got, want)
	}
}
