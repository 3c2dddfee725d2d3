package commands

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
)

// arena is the directory of a competition, in which servers start and end.
type arena struct {
	program string // timba
	dir     string
	home    string                // of its user's account, and of the starters
	start   func(*exec.Cmd) error // starts its servers
}

// undetected returns timba without the race detector, for tests that start it often.
func undetected(t *testing.T) (path string) {
	t.Helper()
	if kit.HasRaceDetector() {
		return binaries.Program(t, "timba")
	}
	path = kit.Get[string](t)(exec.LookPath("timba"))
	return path
}

// quickLadders returns a configuration for many short matches between a number of house bots.
func quickLadders(house int) string {
	bots := []string{`"@random"`, `"@first"`, `"@greedy"`}
	for noise := 1; len(bots) < house; noise++ {
		bots = append(bots, strconv.Quote(fmt.Sprintf("@greedy:noise=%d", 5*noise)))
	}
	var b strings.Builder
	b.WriteString("[limits]\ntime = \"168h\"\n") // for the clock below
	for _, l := range []string{
		"name = \"brisca\"\ngame = \"brisca\"",
		"name = \"tebes\"\ngame = \"tebes\"\noptions = {size = \"4\"}",
		"name = \"teams\"\ngame = \"brisca\"\noptions = {players = \"4\", teams = \"yes\"}",
	} {
		// The clock is long: the machine is busy with other tests, and a late bot has a fault.
		fmt.Fprintf(&b, "[[ladder]]\n%s\ndeals = 1\nclock = {movetime = 60000, startup = 60000}\nhouse = [%s]\n", l, strings.Join(bots, ", "))
	}
	return b.String()
}

func newArena(t testing.TB, config string) *arena {
	t.Helper()
	kit.Slow(t)
	a := &arena{program: "timba", dir: laddertest.Dir(t), home: t.TempDir(), start: (*exec.Cmd).Start}
	kit.Must(t, os.WriteFile(filepath.Join(a.dir, "timba.toml"), []byte(config), 0o600))
	return a
}

// served is a running server.
type served struct {
	*running
	url   string
	token string     // of the first start
	text  kit.Output // stderr
}

// log returns what the server has written to stderr so far.
func (s *served) log() string { return s.text.String() }

// launch starts a server without waiting for it.
func (a *arena) launch(t testing.TB, args ...string) *served {
	t.Helper()
	s := new(served)
	cmd := exec.Command(a.program, append([]string{"serve", "--data", a.dir, "--listen", "127.0.0.1:0", "--log-level", "debug"}, args...)...)
	cmd.Stderr = &s.text
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server logs\n%s", s.log())
		}
	})
	s.running = run(t, cmd, a.start)
	return s
}

// serve starts a server and waits until it serves. The result has a token if this start has made one.
func (a *arena) serve(t testing.TB, args ...string) *served {
	t.Helper()
	file := datadir.Dir(a.dir).AdminToken()
	before, _ := os.ReadFile(file)
	s := a.launch(t, args...)
	s.url = s.await(t, ` on (http://.*)\n`)[1]
	if token, _ := os.ReadFile(file); !bytes.Equal(token, before) {
		s.token = strings.TrimSpace(string(token))
	}
	return s
}

// timba runs a command of a user of the server, which must succeed.
func (a *arena) timba(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(a.program, args...)
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+a.home, "HOME="+a.home)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

var finishedLine = regexp.MustCompile(`msg="match finished" match=(\d+)`)

// finishedIn returns the matches that a server has reported as finished.
func finishedIn(log string) (ids []int64) {
	for _, m := range finishedLine.FindAllStringSubmatch(log, -1) {
		id, _ := strconv.ParseInt(m[1], 10, 64)
		ids = append(ids, id)
	}
	return ids
}

// look opens the directory during or after the run of the server.
func (a *arena) look(t *testing.T, do func(*store.Store)) {
	t.Helper()
	s := kit.Get[*store.Store](t)(store.Open(a.dir, store.Options{}))
	do(s)
	kit.Must(t, s.Close())
}

// sound requires that the database is consistent, and that all ratings follow from the matches, bit for bit.
func (a *arena) sound(t *testing.T) {
	t.Helper()
	a.look(t, func(s *store.Store) {
		found := kit.Get[[]store.Difference](t)(s.Verify(t.Context(), nil))
		for _, d := range found {
			t.Errorf("verify: %s", d)
		}
	})
}

// matches returns all matches, by ID.
func (a *arena) matches(t *testing.T) map[int64]ladder.Match {
	t.Helper()
	all := map[int64]ladder.Match{}
	a.look(t, func(s *store.Store) {
		list := kit.Get[[]ladder.Match](t)(s.Matches.List(t.Context(), store.MatchFilter{Limit: 1 << 20}))
		for _, m := range list {
			all[m.ID] = m
		}
	})
	return all
}

// On a small machine the default ladders play too, with less memory for each bot, as the first lines of the
// output say.
func TestServeSmall(t *testing.T) {
	t.Parallel()
	a := newArena(t, "")
	s := a.launch(t, "--memory", "600m", "--sandbox", "reduced", "--workers", "1", "--grace", "0s")
	s.await(t, `(?m)^notice: a bot may use \d+ MiB of memory, not 512: all bots together have 600 MiB`)
	until(t, "a match is over", func() bool { return len(finishedIn(s.log())) > 0 })
	a.kill(t, s)
}
