package match

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// inside returns a bot without a process.
func inside(name string, serve func(io.Reader, io.Writer) error) Contestant {
	return Contestant{Name: name, Hash: strings.Repeat("0", 64), Serve: serve}
}

func houseBot(name string) Contestant {
	return inside("@"+name, func(in io.Reader, out io.Writer) error { return house.Run(name, in, out) })
}

// A bot without a process plays the game that it plays as a process.
func TestLocalBotsPlayAsProcesses(t *testing.T) {
	m := &Match{Variant: variant(t, "tute", "players=3"), Bots: []Contestant{houseBot("greedy"), houseBot("random"), houseBot("first")}, Deals: 3, Clock: patient, Seed: rules.Seed{5}}
	all := playAll(t, m)
	for i, name := range []string{"greedy", "random", "first"} {
		m.Bots[i] = Contestant{Name: m.Bots[i].Name, Hash: m.Bots[i].Hash, Command: testBot(t, "house", name)}
	}
	for i, g := range playAll(t, m) {
		if timeless(g) != timeless(all[i]) {
			t.Errorf("as processes:\n%s\nwithout:\n%s", timeless(g), timeless(all[i]))
		}
	}
}

// Limits hold for a bot without a process as well.
func TestLocalBotsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(in io.Reader, out io.Writer) error
		code  protocol.Code
		text  string
	}{
		"exit":      {func(io.Reader, io.Writer) error { return errors.New("broken") }, protocol.Startup, `before "ready": ended: broken`},
		"exit late": {func(in io.Reader, out io.Writer) error { return atTurn(in, out, "") }, protocol.Exit, "ended while the game went on"},
		"garbled":   {func(in io.Reader, out io.Writer) error { return atTurn(in, out, "hello\n") }, protocol.Garbled, `"hello" is no line`},
		"illegal":   {func(in io.Reader, out io.Writer) error { return atTurn(in, out, "move banana\n") }, protocol.Illegal, `"banana": `},
		"output":    {func(in io.Reader, out io.Writer) error { return atTurn(in, out, strings.Repeat("# x\n", 20_000)) }, protocol.Output, "more than 64 KiB"},
		"long line": {func(in io.Reader, out io.Writer) error { return atTurn(in, out, strings.Repeat("x", 70_000)) }, protocol.Garbled, `is longer than 4096 bytes`},
		"silent": {func(in io.Reader, out io.Writer) error {
			fmt.Fprintln(out, "ready")
			_, err := io.Copy(io.Discard, in)
			return err
		}, protocol.Timeout, "no move within 20 ms"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &Match{Variant: variant(t, "teeko", ""), Bots: []Contestant{inside("culprit", c.serve), houseBot("first")}, Seed: rules.Seed{6},
				Clock: referee.Clock{Move: 20 * time.Second, Startup: time.Minute}}
			if c.code == protocol.Timeout {
				m.Clock.Move = 20 * time.Millisecond
			}
			g := oneGame(t, m)
			if len(g.Faults) != 1 || g.Faults[0].Seat != 0 || g.Faults[0].Code != c.code || !strings.Contains(g.Faults[0].Text, c.text) {
				t.Errorf("%s: faults %v, want %s: %s", name, g.Faults, c.code, c.text)
			}
		})
	}
}

// atTurn answers the greeting, writes text at its first turn, and ends.
func atTurn(in io.Reader, out io.Writer, text string) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		switch verb, _, _ := strings.Cut(lines.Text(), " "); verb {
		case "timba":
			fmt.Fprintln(out, "ready")
		case "turn":
			_, err := io.WriteString(out, text)
			if errors.Is(err, io.ErrClosedPipe) {
				err = nil
			}
			return err
		}
	}
	return lines.Err()
}

// An untimed bot may think for longer than the clock says, and the match can be called off while it does.
func TestLocalBotsUntimed(t *testing.T) { synctest.Test(t, untimedBot) }

func untimedBot(t *testing.T) {
	slow := func(in io.Reader, out io.Writer) error {
		return protocol.Serve(in, out, "slow", "", func(turn *protocol.Turn) protocol.Answer {
			if turn.Ply < 2 {
				time.Sleep(5 * time.Millisecond)
			}
			return protocol.Answer{Move: turn.Moves.Token(0)}
		})
	}
	m := &Match{Variant: variant(t, "teeko", "limit=10"), Bots: []Contestant{inside("slow", slow), houseBot("first")}, Seed: rules.Seed{6},
		Clock: referee.Clock{Move: time.Millisecond, Startup: time.Minute, Margin: 0}}
	m.Bots[0].Untimed = true
	m.Bots[1].Untimed = true
	if g := oneGame(t, m); len(g.Faults) > 0 || g.Moves[0].MS != 5 {
		t.Errorf("faults %v, the first move took %v ms", g.Faults, g.Moves[0].MS)
	}
	ctx, cancel := context.WithCancel(t.Context())
	m.Bots[0].Serve = func(in io.Reader, out io.Writer) error {
		return protocol.Serve(in, out, "slow", "", func(*protocol.Turn) protocol.Answer {
			cancel()
			return protocol.Answer{} // which ends it
		})
	}
	if err := m.Play(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a match that was called off ends with %v", err)
	}
}

// holds returns all ways to run bots on this machine: at each level of the sandbox and, if possible, stopped
// between turns; if bare is true also without a sandbox. Under the race detector only FULL has enough memory.
func holds(t testing.TB, bare bool) (list []held) {
	t.Helper()
	kit.Slow(t)
	for level := sandbox.Probe().Level; level > sandbox.LevelNone; level-- {
		if level < sandbox.LevelFull && raced() {
			break
		}
		h := Sandbox{Level: level, Limit: sandbox.DefaultLimit}
		list = append(list, held{level.String(), &h})
		if level == sandbox.LevelFull {
			still := h
			still.Freeze = true
			list = append(list, held{"FULL, stopped between turns", &still})
		}
	}
	if bare || len(list) == 0 {
		list = slices.Insert(list, 0, held{"bare", nil})
	}
	return list
}

// held is one way to run a bot.
type held struct {
	name    string
	sandbox *Sandbox
}

// self returns the path of a copy of the test binary that users without rights can run.
func self(t testing.TB) string {
	t.Helper()
	kit.Slow(t)
	path, err := copySelf()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var copySelf = sync.OnceValues(func() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		return "", err
	}
	path := builds + "/self"
	return path, os.WriteFile(path, data, 0o755)
})
