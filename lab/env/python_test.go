//go:build !race || slowrace

package env

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
)

// client is a directory with the Python client and the programs that it needs.
type client struct {
	dir, python string
	numpy       bool
	env         []string
}

// newClient writes the Python client into a new directory. In its environment, $TIMBA_LAB is the test binary.
func newClient(t *testing.T) *client {
	t.Helper()
	kit.Slow(t)
	python, numpy, err := FindPython(t.Context())
	if err != nil {
		kit.Lacks(t, "Python: "+err.Error())
	}
	c := &client{dir: t.TempDir(), python: python, numpy: numpy}
	if _, err := WriteClient(c.dir); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	kit.Must(t, err)
	kit.Files(t, c.dir, map[string]string{"timba+x": fmt.Sprintf("#!/bin/sh\nexec '%s' env -\n", self)})
	c.env = append(os.Environ(), "TIMBA_LAB="+filepath.Join(c.dir, "timba"), "NUMPY=yes")
	return c
}

// run runs a program in the directory and returns its output.
func (c *client) run(t *testing.T, env string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.python, append([]string{"-B"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, append(c.env, env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestPython tests the Python client with and without numpy, and checks that both give the same results.
func TestPython(t *testing.T) {
	c := newClient(t)
	data := kit.Get[[]byte](t)(os.ReadFile("testdata/test_timba_env.py"))
	kit.Files(t, c.dir, map[string]string{"test_timba_env.py": string(data)})
	path, stop := start(t, Server{MaxConnections: 4, IdleTimeout: time.Hour})
	defer stop()
	c.env = append(c.env, "SOCKET="+path)
	ways := []string{"NUMPY=no"}
	if c.numpy {
		ways = append(ways, "NUMPY=yes")
	} else {
		t.Log("numpy is not installed: the client is tested without")
	}
	var seen []string
	for _, way := range ways {
		out := c.run(t, way, "test_timba_env.py")
		var digests []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "digest ") {
				digests = append(digests, line)
			}
		}
		if len(digests) != 5 || !strings.Contains(out, "OK") {
			t.Errorf("%s:\n%s", way, out)
		}
		seen = append(seen, strings.Join(digests, ""))
		if strings.Contains(out, "skipped=1") && way == "NUMPY=yes" {
			t.Run("libraries", func(t *testing.T) {
				kit.Lacks(t, "Gymnasium and PettingZoo, whose own checks of the environments are left out")
			})
		}
	}
	if seen[0] != seen[len(seen)-1] {
		t.Errorf("without numpy\n%swith\n%s", seen[0], seen[len(seen)-1])
	}
}

// TestPythonBot checks that a policy in Python plays a match by what a learner sees. If it always chooses the first
// action, it plays as the house bot @first, whatever it prints.
func TestPythonBot(t *testing.T) {
	c := newClient(t)
	kit.Must(t, os.Rename(filepath.Join(c.dir, "timba"), filepath.Join(c.dir, "timba-lab")))
	kit.Files(t, c.dir, map[string]string{"bot.py": "import timba_env\n" +
		"timba_env.play(lambda seen, info: print('thinks') or info['legal_actions'][0])\n"})
	bot := match.Contestant{Name: "learner", Command: []string{c.python, "-B", "bot.py"}, Dir: c.dir}
	for _, text := range []string{"brisca exchange=yes", "tute", "podrida players=3", "tebes size=4 limit=40", "teeko start=drop limit=40"} {
		game, options, _ := strings.Cut(text, " ")
		first := "@first"
		if game == "podrida" {
			first = "@first @first"
		}
		got, want := playMatch(t, game, options, first, rules.Seed{9}, bot), playMatch(t, game, options, first+" @first", rules.Seed{9})
		for deal := range want {
			if len(got[deal].Moves) != len(want[deal].Moves) || !slices.Equal(got[deal].Points, want[deal].Points) {
				t.Errorf("%s: %d moves, points %v, want %d, %v", text, len(got[deal].Moves), got[deal].Points, len(want[deal].Moves), want[deal].Points)
			}
		}
	}
}
