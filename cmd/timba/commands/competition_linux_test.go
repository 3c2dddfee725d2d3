package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit"
)

// TestCompetition runs the scripts of testdata/competition: the commands of participants, against a real
// server that plays at the same time. URL is its address, DATA its directory, and ADMIN its admin's token.
// Each script is a person with a configuration directory of their own.
func TestCompetition(t *testing.T) { // not parallel: its server plays until the last script is done
	a := newArena(t, quickLadders(3))
	s := a.serve(t, "--workers", "1")
	// Scripts run in parallel, in subtests that end before the server.
	scripts := func(p testscript.Params) testscript.Params {
		return testscript.Params{
			Dir:                 p.Dir,
			Files:               p.Files,
			UpdateScripts:       kit.Updating() && p.Dir != "",
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
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": clitest.Exits, "json": clitest.CheckMembers, "set": set},
		}
	}
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, scripts(testscript.Params{Dir: "testdata/competition"}))
	})
	t.Run("ten minutes", func(t *testing.T) {
		kit.Needs(t, "python3")
		testscript.Run(t, scripts(testscript.Params{Files: []string{tenMinutes(t)}}))
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

// set implements the command set NAME FILE, which sets a variable to the content of a file, such as stdout.
func set(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: set NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// tenMinutes writes a script with the commands in docs/writing-a-bot.md, "A bot in ten minutes", exactly as
// they are written there. A new person runs them.
func tenMinutes(t *testing.T) string {
	data := kit.Get[[]byte](t)(os.ReadFile("../../../docs/writing-a-bot.md"))
	_, section, _ := strings.Cut(string(data), "\n## A bot in ten minutes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var b strings.Builder
	b.WriteString("exec timba admin invite --data $DATA\nset CODE stdout\nenv NAME=ten\n")
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		for line := range strings.Lines(block[1]) {
			b.WriteString("exec " + line)
		}
	}
	for _, command := range []string{"init", "check", "match", "replay show", "explain", "login", "submit", "bots"} {
		if !strings.Contains(b.String(), "\nexec timba "+command+" ") {
			t.Errorf("the section has no timba %s", command)
		}
	}
	b.WriteString("stdout '^mybot, owner: ten$'\nstdout '^@1 .*live '\n")
	path := filepath.Join(t.TempDir(), "ten_minutes.txt")
	kit.Must(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}
