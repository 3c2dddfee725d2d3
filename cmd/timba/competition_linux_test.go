package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestCompetition runs the scripts of testdata/competition: the commands of those
// who take part, against a real server that plays all the while. URL is its
// address, DATA its folder, ADMIN its admin's token. Each script is somebody with
// a configuration folder of their own.
func TestCompetition(t *testing.T) {
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1")
	// The scripts are run at once, below a test that ends before the server does.
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata/competition",
			UpdateScripts:       *update,
			RequireExplicitExec: true,
			RequireUniqueNames:  true,
			Setup: func(e *testscript.Env) error {
				e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
				e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
				e.Setenv("URL", s.url)
				e.Setenv("DATA", a.dir)
				e.Setenv("ADMIN", s.token)
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": members, "set": set},
		})
	})
	if t.Failed() {
		t.Log(s.log())
	}
	if strings.Contains(s.log(), s.token) {
		t.Error("the server's log has a token")
	}
	if strings.Contains(s.log(), "msg=panic") {
		t.Error("the server panicked")
	}
}

// set NAME FILE sets a variable to what a file holds, such as stdout.
func set(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: set NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
