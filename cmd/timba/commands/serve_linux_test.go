package commands

import (
	"bufio"
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
	"github.com/timba-arena/timba/internal/kit/proc"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
)

// arena is the directory of a competition, on which servers start and end.
type arena struct {
	program string // timba
	dir     string
	home    string                // of its user's account, and of the starters
	start   func(*exec.Cmd) error // starts its servers; nil: where the test runs
}

// undetected returns timba without the race detector, for tests that start it often.
func undetected(t *testing.T) (path string) {
	t.Helper()
	if kit.Raced() {
		return proc.Program(t, "timba")
	}
	path = kit.Get[string](t)(exec.LookPath("timba"))
	return path
}

// quickLadders returns a configuration of many short matches between a number of house bots.
func quickLadders(house int) string {
	var bots []string
	for _, name := range []string{"@random", "@first", "@greedy"} {
		bots = append(bots, strconv.Quote(name))
	}
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
	a := &arena{program: "timba", dir: laddertest.Dir(t), home: t.TempDir()}
	kit.Must(t, os.WriteFile(filepath.Join(a.dir, "timba.toml"), []byte(config), 0o600))
	return a
}

// served is a running server.
type served struct {
	*exec.Cmd
	url   string
	token string     // of the first start
	text  kit.Output // stderr
	ended chan struct{}

	watched bool // a goroutine waits for its end, and closes ended
}

// awaitEnd returns when the server has ended.
func (s *served) awaitEnd() {
	if s.watched {
		<-s.ended
		return
	}
	s.Wait()
}

// log returns what it has written on stderr so far.
func (s *served) log() string { return s.text.String() }

// launch starts a server and does not wait for it.
func (a *arena) launch(t testing.TB, args ...string) (s *served, stdout *bufio.Scanner) {
	t.Helper()
	s = &served{ended: make(chan struct{})}
	s.Cmd = exec.Command(a.program, append([]string{"serve", "--data", a.dir, "--listen", "127.0.0.1:0", "--log-level", "debug"}, args...)...)
	s.Stderr = &s.text
	out, err := s.StdoutPipe()
	kit.Must(t, err)
	start := s.Start
	if a.start != nil {
		start = func() error { return a.start(s.Cmd) }
	}
	kit.Must(t, start())
	t.Cleanup(func() {
		s.Process.Kill()
		if t.Failed() {
			t.Logf("the server says\n%s", s.log())
		}
	})
	return s, bufio.NewScanner(out)
}

// serve starts a server and waits until it serves. It has a token if this start has made one.
func (a *arena) serve(t testing.TB, args ...string) *served {
	t.Helper()
	file := datadir.Dir(a.dir).AdminToken()
	before, _ := os.ReadFile(file)
	s, out := a.launch(t, args...)
	for s.url == "" {
		if !out.Scan() {
			s.Wait()
			t.Fatalf("the server does not start: %v\n%s", s.ProcessState, s.log())
		}
		if _, url, ok := strings.Cut(out.Text(), " on http://"); ok {
			s.url = "http://" + url
		}
	}
	if token, _ := os.ReadFile(file); !bytes.Equal(token, before) {
		s.token = strings.TrimSpace(string(token))
	}
	s.watched = true
	go func() {
		defer close(s.ended)
		for out.Scan() {
		}
		s.Wait()
	}()
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

// exits waits for the end of a server and requires its status.
func (s *served) exits(t *testing.T, status int) {
	t.Helper()
	kit.Wait(t, "the server ends", s.ended)
	if got := s.ProcessState.ExitCode(); got != status {
		t.Fatalf("%v, want status %d\n%s", s.ProcessState, status, s.log())
	}
}

// look opens the directory beside or after the server.
func (a *arena) look(t *testing.T, do func(*store.Store)) {
	t.Helper()
	s := kit.Get[*store.Store](t)(store.Open(a.dir, store.Options{}))
	do(s)
	kit.Must(t, s.Close())
}

// sound requires the database to be consistent, and every rating to follow from the matches, bit
// for bit.
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
		list := kit.Get[[]ladder.Match](t)(s.Matches(t.Context(), store.MatchFilter{Limit: 1 << 20}))
		for _, m := range list {
			all[m.ID] = m
		}
	})
	return all
}

// On a small machine the default ladders play all the same, with less memory for each bot,
// which the first lines say.
func TestServeSmall(t *testing.T) {
	t.Parallel()
	a := newArena(t, "")
	s, out := a.launch(t, "--memory", "600m", "--sandbox", "reduced", "--workers", "1", "--grace", "0s")
	noticed := false
	for !noticed {
		if !out.Scan() {
			s.Wait()
			t.Fatalf("the server does not start: %v\n%s", s.ProcessState, s.log())
		}
		noticed = regexp.MustCompile(`^notice: a bot may use \d+ MiB of memory, not 512: all bots together have 600 MiB`).MatchString(out.Text())
	}
	go func() {
		for out.Scan() {
		}
	}()
	until(t, "a match is over", func() bool { return len(finishedIn(s.log())) > 0 })
	a.kill(t, s)
}
