//go:build !race

package match

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

func init() {
	modes["ponder"] = ponder
	modes["hostile"] = hostile
	modes["house"] = refereetest.RunHouseBot
}

// ponder runs a bot that plays the first legal move and thinks all the time.
func ponder(string) error {
	go func() {
		for n := 0; n >= 0; {
			n ^= 1
		}
	}()
	return house.Run("first", os.Stdin, os.Stdout)
}

// hostile runs a bot that at its first turn does what its name says.
func hostile(what string) error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, _, _ := strings.Cut(lines.Text(), " ")
		switch {
		case verb == "timba":
			fmt.Println("ready hostile 1")
		case verb != "turn":
		case what == "memory":
			for all := [][]byte{}; ; {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				all = append(all, b)
			}
		case what == "processes":
			for {
				if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
					return err
				}
			}
		case what == "forbidden":
			unix.Mount("x", "/tmp", "tmpfs", 0, "")
		case what == "exit":
			os.Exit(5)
		}
	}
	return nil
}

// A bot that breaks a limit of its sandbox has a fault with the right code, and the other bot wins. Without a
// cgroup possibly only the end of the process is seen.
func TestSandboxed(t *testing.T) {
	for what, want := range map[string]struct {
		code protocol.Code
		text string
	}{
		"memory":    {protocol.Memory, "more than 128 MiB of memory"},
		"processes": {protocol.Processes, "more than 24 processes and threads, after which it exited with status 1"},
		"forbidden": {protocol.Forbidden, "a system call that the sandbox does not allow"},
		"exit":      {protocol.Exit, "the process exited with status 5"},
	} {
		for _, h := range holds(t, false) {
			t.Run(what+"/"+h.name, func(t *testing.T) {
				h.sandbox.Limit.Memory, h.sandbox.Limit.Processes = 128<<20, 24
				m := &Match{Variant: variant(t, "tebes", ""), Clock: patient, Bots: real([]string{self(t), "hostile", what}, nil), start: starter{}.start}
				m.Bots[0].Dir, m.Bots[0].Sandbox = builds, h.sandbox
				g := oneGame(t, m)
				if len(g.Faults) != 1 {
					t.Fatalf("%d faults: %v", len(g.Faults), g.Faults)
				}
				f := g.Faults[0]
				limited := what == "memory" || what == "processes"
				if h.sandbox.Level < sandbox.LevelFull && limited && f.Code == protocol.Exit {
					return
				}
				text := f.Text
				if h.sandbox.Level == sandbox.LevelWeak { // the sandbox may count them before the system refuses one
					text = strings.Replace(text, "was killed by signal 9 (SIGKILL)", "exited with status 1", 1)
				}
				if f.Code != want.code || !strings.Contains(text, want.text) {
					t.Errorf("%s: %s, want %s: %s", f.Code, f.Text, want.code, want.text)
				}
			})
		}
	}
}

// A bot is not started if its sandbox would not have the required level, or if it cannot be stopped as
// required. That is not the bot's fault.
func TestSandboxedRefused(t *testing.T) {
	for want, h := range map[string]Sandbox{
		"its sandbox has no level":                        {},
		"stopping a bot between its turns needs a cgroup": {Level: sandbox.LevelReduced, Freeze: true},
		"but Level(4) is required":                        {Level: sandbox.LevelFull + 1},
	} {
		m := &Match{Variant: variant(t, "tebes", ""), Clock: patient, Deals: 1, Bots: real([]string{self(t), "house", "first"}, nil), start: starter{}.start}
		m.Bots[0].Dir, m.Bots[0].Sandbox = builds, &h
		if err := m.Play(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A match of sandboxed bots equals that of the same bots without a sandbox, at every level.
func TestSandboxedPlays(t *testing.T) {
	var want string
	for _, h := range holds(t, true) {
		m := &Match{Variant: variant(t, "brisca", ""), Deals: 3, Clock: patient, Bots: real([]string{self(t), "house", "random"}, []string{self(t), "house", "greedy"})}
		for i := range m.Bots {
			m.Bots[i].Dir, m.Bots[i].Sandbox = builds, h.sandbox
		}
		var texts []string
		for _, g := range playAll(t, m) {
			texts = append(texts, timeless(g))
		}
		got := strings.Join(texts, "\n")
		if h.sandbox == nil {
			want = got
		} else if got != want {
			t.Errorf("%s: held bots play other games", h.name)
		}
	}
}

// A bot that thinks all the time has thought during its opponent's long turn, unless it is stopped between
// its turns.
func TestSandboxedThinks(t *testing.T) {
	for _, h := range holds(t, true) {
		bots := real([]string{self(t), "ponder", ""}, nil)
		bots[0].Dir, bots[0].Sandbox = builds, h.sandbox
		m := &Match{Variant: variant(t, "tebes", ""), Bots: bots, Clock: patient}
		var thinker *process
		asked := 0
		m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			if b.Command != nil {
				c, err := startProcess(ctx, b, w)
				thinker, _ = c.(*process)
				return c, err
			}
			return &talker{answer: func(l protocol.RefLine) string {
				if asked++; asked == 2 { // the thinker has had a turn in between
					if h.sandbox != nil && h.sandbox.Freeze {
						quiet := 0
						// Soon, not at once, it is seen neither to run nor to wait for a core.
						until(t, h.name+": it is stopped", func() bool {
							if quiet++; thinker.turn.WantsCore() {
								quiet = 0
							}
							return quiet == 10
						})
					} else {
						from := thought(thinker)
						until(t, h.name+": it thinks", func() bool { return thought(thinker) > from+20*time.Millisecond })
					}
				}
				return firstMove(l)
			}}, nil
		}
		if g := oneGame(t, m); len(g.Faults) > 0 {
			t.Errorf("%s: %v", h.name, g.Faults)
		}
	}
}

// thought returns the CPU time of a bot.
func thought(p *process) time.Duration { return fairclock.NewProcesses(p.sandbox).CPU() }

// A stopped bot can be ended, by the end of the match and by another's fault, and its output is not lost.
func TestSandboxedStopped(t *testing.T) {
	for _, h := range holds(t, false) {
		if !h.sandbox.Freeze {
			continue
		}
		left := nothingLeft(t)
		m := &Match{Variant: variant(t, "teeko", ""), Clock: patient, Deals: 1000, Bots: real([]string{self(t), "house", "first"}, []string{self(t), "house", "first"})}
		for i := range m.Bots {
			m.Bots[i].Dir, m.Bots[i].Sandbox = builds, h.sandbox
		}
		ctx, cancel := context.WithCancel(t.Context())
		m.Observer.Trace = func(tr referee.Traffic) { // somebody is stopped from the second turn on
			if tr.FromBot && strings.HasPrefix(string(tr.Lines), "move") {
				cancel()
			}
		}
		if err := m.Play(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		left()

		flood := misbehave(t, "--fault", "flood", "--at=2")
		m = &Match{Variant: variant(t, "brisca", ""), Clock: patient, Bots: real(flood, nil), start: starter{}.start}
		m.Bots[0].Dir, m.Bots[0].Sandbox = builds, h.sandbox
		if g := oneGame(t, m); len(g.Faults) != 1 || g.Faults[0].Code != protocol.Output {
			t.Errorf("%v", g.Faults)
		}

		m = &Match{Variant: variant(t, "brisca", ""), Clock: patient, Deals: 2, Bots: real([]string{self(t), "house", "first"}, misbehave(t, "--fault", "exit-3", "--at=3"))}
		for i := range m.Bots {
			m.Bots[i].Dir, m.Bots[i].Sandbox = builds, h.sandbox
		}
		for _, g := range playAll(t, m) {
			if len(g.Faults) != 1 || g.Faults[0].Code != protocol.Exit {
				t.Errorf("deal %d: %v", g.Match.Deal, g.Faults)
			}
		}
		left()
	}
}

// A bot that is a command sees its working directory, unless that is the user's home. Of that it sees what
// the command names.
func TestSandboxedShows(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(home+"/bot", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(home)
	s, err := Contestant{Command: []string{"/bin/sh", "bot"}, Sandbox: &Sandbox{}}.visibleFiles()
	if err != nil || s.Dir != "" || fmt.Sprint(s.Args) != fmt.Sprint([]string{"/bin/sh", home + "/bot"}) || fmt.Sprint(s.VisiblePaths) != fmt.Sprint([]string{home + "/bot"}) {
		t.Errorf("at home: %+v: %v", s, err)
	}
	if _, err := (Contestant{Command: []string{"/bin/sh", "."}, Sandbox: &Sandbox{}}).visibleFiles(); err == nil {
		t.Error("the home is shown")
	}
	dir := home + "/bots/mine"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if s, err := (Contestant{Command: []string{"/bin/sh", "bot"}, Sandbox: &Sandbox{}}).visibleFiles(); err != nil || s.Dir != dir {
		t.Errorf("in a directory: %+v: %v", s, err)
	}
	// Files elsewhere, with what is beside them; of the home only the file.
	other := home + "/bots/other"
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{dir + "/bot", other + "/bot"} {
		if err := os.WriteFile(file, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, err = Contestant{Command: []string{"/bin/sh", "bot", "../other/bot", "../../bot", "..", "nothing"}, Sandbox: &Sandbox{}}.visibleFiles()
	if want := []string{"/bin/sh", "bot", other + "/bot", home + "/bot", "..", "nothing"}; err != nil || !slices.Equal(s.Args, want) || s.Dir != dir {
		t.Errorf("files elsewhere: %+v: %v, want %q", s, err, want)
	}
	if want := []string{other, home + "/bot"}; !slices.Equal(s.VisiblePaths, want) {
		t.Errorf("files elsewhere: %q are shown, want %q", s.VisiblePaths, want)
	}
}

// The time for a move begins when the bot is resumed.
func TestSandboxedWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Clock: referee.Clock{Move: 5 * time.Millisecond, Margin: 5 * time.Millisecond, Startup: time.Minute}}
		m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
			return slowWaker{&talker{answer: firstMove}}, nil
		}
		for ply, move := range oneGame(t, m).Moves {
			if move.MS >= 20 {
				t.Fatalf("the move of ply %d took %v ms", ply, move.MS)
			}
		}
	})
}
