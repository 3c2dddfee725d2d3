package commands

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/client"
)

// connectLadders have clocks that are long enough on a busy machine.
const connectLadders = `
registration = "open"
[limits]
requests = 1000000
time = "168h"
[[ladder]]
name = "teeko"
game = "teeko"
deals = 1
clock = {movetime = 600000, startup = 600000}
house = ["@random", "@first"]
`

// join registers a person, and returns a client with that person's credentials.
func (s *served) join(t *testing.T, name string) *client.Client {
	t.Helper()
	c := kit.Get[*client.Client](t)(client.New(s.url, ""))
	joined, err := c.Register(t.Context(), name, "")
	kit.Must(t, err)
	c.Token = joined.Key
	return c
}

// connectBot starts timba connect with a bot whose processes, except the first, wait until a pipe is closed. The
// first process is the one that connect starts before the bot goes online.
func connectBot(t *testing.T, s *served, token, bot string, pipe *os.File) *running {
	t.Helper()
	cmd := exec.Command("timba", "connect", "--bot", bot, "--",
		"sh", "-c", `if [ -e "$0.tried" ]; then [ ! -e "$0" ] || cat "$0" 2>/dev/null; fi; : > "$0.tried"; exec timba bot first`, pipe.Name())
	cmd.Env = append(os.Environ(), client.EnvURL+"="+s.url, client.EnvToken+"="+token)
	c := run(t, cmd, (*exec.Cmd).Start)
	t.Cleanup(func() {
		release(pipe) // the bot, which has the same stderr, ends when its input does
		c.Process.Kill()
		<-c.ended
	})
	return c
}

// held returns the pipe that the bot of connectBot waits for.
func held(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wait")
	kit.Must(t, syscall.Mkfifo(path, 0o600))
	return kit.Get[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
}

// release closes a pipe, also for a bot that has not opened it yet.
func release(pipe *os.File) {
	os.Remove(pipe.Name())
	pipe.Close()
}

// timba connect plays a rated match. After the first Ctrl-C it finishes the match, and after the second it
// leaves at once. It prints why the server rejects it.
func TestConnect(t *testing.T) {
	t.Parallel()
	a := newArena(t, connectLadders)
	s := a.serve(t, "--workers", "1", "--grace", "0s")
	token := s.join(t, "mel").Token

	pipe := held(t)
	c := connectBot(t, s, token, "far", pipe)
	c.await(t, `online as far@1: margin 250 ms more for the wire, 30 s to come back after a break; a message and its receipt take `)
	c.await(t, `playing match \d+, teeko: `)
	c.Process.Signal(os.Interrupt)
	c.await(t, `leaving after what is played now; Ctrl-C again leaves at once, and loses it`)
	release(pipe)
	c.exits(t, cli.ExitGood)
	c.await(t, `match \d+ over: score [01]\.\d+, Elo 1000 to \d+`)
	if n := strings.Count(c.out.String(), "playing match"); n != 1 {
		t.Errorf("%d matches began:\n%s", n, c.out.String())
	}

	c = connectBot(t, s, token, "far", held(t))
	c.await(t, `playing match \d+, teeko: `)
	c.Process.Signal(os.Interrupt)
	c.await(t, `leaving after`)
	c.Process.Signal(os.Interrupt)
	c.exits(t, cli.ExitNoVerdict)
	if said := c.out.String(); strings.Contains(said, "over") || strings.Contains(said, "broken off") {
		t.Errorf("it has waited for the match:\n%s", said)
	}

	cmd := exec.Command("timba", "connect", "--bot", "broken", "--", "sh", "-c", "echo no module named x >&2; exit 3")
	cmd.Env = append(os.Environ(), client.EnvURL+"="+s.url, client.EnvToken+"="+token)
	c = run(t, cmd, (*exec.Cmd).Start)
	c.exits(t, cli.ExitError)
	c.await(t, `(?m)^timba: connect: broken does not go online, because its command does not start as in a match: .*no module named x`)

	c = connectBot(t, s, "timba_"+strings.Repeat("X", 40), "far", held(t))
	c.exits(t, cli.ExitError)
	c.await(t, `(?m)^timba: .*the token is not valid`)

	a.timba(t, "", "admin", "block", "mel", "--data", a.dir)
	c = connectBot(t, s, token, "far", held(t))
	c.exits(t, cli.ExitError)
	c.await(t, `(?m)^timba: .*person "mel" is blocked`)
	a.kill(t, s)
}

// Each way to end the command makes it leave exactly once, after the match or at once.
func TestLeaveBy(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals int
		done    bool
		leaves  bool
		atOnce  bool
	}{
		{"nothing", 0, false, false, false},
		{"the context without a signal", 0, true, true, false},
		{"a signal", 1, true, true, false},
		{"a signal before the context", 1, false, true, false},
		{"two signals", 2, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			signals, done := make(chan os.Signal, 2), make(chan struct{})
			for range c.signals {
				signals <- os.Interrupt
			}
			if c.done {
				close(done)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := errors.New("ended")
			left, events := false, 0
			want := c.signals
			if c.done && c.signals < 2 {
				want++
			}
			if want == 0 {
				cancel(ended)
			}
			leave := func() {
				left = true
				if events++; events == want && !c.atOnce {
					cancel(ended)
				}
			}
			leaveBy(ctx, signals, done, leave, func() { cancel(nil) })
			if left != c.leaves || errors.Is(context.Cause(ctx), ended) == c.atOnce {
				t.Errorf("it leaves: %v, at once: %v", left, !errors.Is(context.Cause(ctx), ended))
			}
		})
	}
}
