package referee

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

func init() {
	modes["hostile"] = hostile
	modes["house"] = func(name string) error { return house.Run(name, os.Stdin, os.Stdout) }
}

// hostile answers until its first turn, where it does what it is named for.
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

// TestHold: what a bot does to the limits of its sandbox shows as a fault of its
// own code, and the other one wins.
func TestHold(t *testing.T) {
	level := sandbox.Probe().Level
	if level < sandbox.Reduced {
		t.Fatalf("this machine holds only %s: see timba doctor", level)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	limit := sandbox.DefaultLimit
	limit.Memory, limit.Processes = 128<<20, 24
	for what, want := range map[string]struct {
		code protocol.Code
		text string
	}{
		"memory":    {protocol.Memory, "more than 128 MiB of memory"},
		"processes": {protocol.Processes, "more than 24 processes and threads, after which it exited with status 1"},
		"forbidden": {protocol.Forbidden, "a system call that the sandbox does not allow"},
		"exit":      {protocol.Exit, "the process exited with status 5"},
	} {
		t.Run(what, func(t *testing.T) {
			for _, still := range []bool{false, level == sandbox.Full} {
				m := &Match{
					Variant: variant(t, "tebes", ""), Clock: Clock{Move: 20 * time.Second, Startup: 20 * time.Second},
					Bots: []Bot{
						{Name: "hostile", Command: []string{exe, "hostile", what}, Dir: t.TempDir(), Hash: strings.Repeat("0", 64), Hold: &Hold{Level: level, Limit: limit, Still: still}},
						{Name: "other", Hash: strings.Repeat("1", 64)},
					},
				}
				m.start = starter{}.start
				g := oneGame(t, m)
				if len(g.Faults) != 1 {
					t.Fatalf("%d faults: %v", len(g.Faults), g.Faults)
				}
				f := g.Faults[0]
				if level < sandbox.Full && what != "forbidden" && f.Code == protocol.Exit {
					continue // without a cgroup nobody tells
				}
				if f.Code != want.code || !strings.Contains(f.Text, want.text) {
					t.Errorf("%s: %s, want %s: %s", f.Code, f.Text, want.code, want.text)
				}
			}
		})
	}
}

// TestHoldPlays: a match of held bots is that of the same bots without, whether
// they are stopped between turns or not.
func TestHoldPlays(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	play := func(h *Hold) (texts []string) {
		m := &Match{Variant: variant(t, "brisca", ""), Deals: 3, Clock: Clock{Move: 20 * time.Second, Startup: 20 * time.Second}}
		for i, name := range []string{"random", "greedy"} {
			m.Bots = append(m.Bots, Bot{Name: name, Command: []string{exe, "house", name}, Dir: t.TempDir(), Hash: strings.Repeat(fmt.Sprint(i), 64), Hold: h})
		}
		for _, g := range playAll(t, m) {
			texts = append(texts, timeless(g))
		}
		return texts
	}
	want := play(nil)
	level := sandbox.Probe().Level
	for _, still := range []bool{false, level == sandbox.Full} {
		got := play(&Hold{Level: level, Limit: sandbox.DefaultLimit, Still: still})
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("held bots (still: %v) play other games", still)
		}
	}
}

// TestHoldShows: a bot that is a command sees the folder where it runs, unless
// that is its user's home, of which it sees what it names.
func TestHoldShows(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(home+"/bot", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(home)
	s, err := Bot{Command: []string{"/bin/sh", "bot"}, Hold: &Hold{}}.spec()
	if err != nil || s.Dir != "" || fmt.Sprint(s.Command) != fmt.Sprint([]string{"/bin/sh", home + "/bot"}) || fmt.Sprint(s.ReadOnly) != fmt.Sprint([]string{home + "/bot"}) {
		t.Errorf("at home: %+v: %v", s, err)
	}
	if _, err := (Bot{Command: []string{"/bin/sh", "."}, Hold: &Hold{}}).spec(); err == nil {
		t.Error("the home is shown")
	}
	dir := home + "/bots/mine"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if s, err := (Bot{Command: []string{"/bin/sh", "bot"}, Hold: &Hold{}}).spec(); err != nil || s.Dir != dir {
		t.Errorf("in a folder: %+v: %v", s, err)
	}
}

// self is a copy of the test binary, which is all the bots of modes, where users
// without rights find it.
func self(t testing.TB) string {
	t.Helper()
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

// held is a way to run a bot.
type held struct {
	name string
	hold *Hold
}

// holds are the ways to run bots that this machine has: at each level and, at the
// best one if that can be, stopped between turns; if bare is true also without a
// sandbox. Every machine that tests run on has at least one level.
func holds(t testing.TB, bare bool) (list []held) {
	t.Helper()
	best := sandbox.Probe().Level
	if best == sandbox.None {
		t.Fatal("this machine holds nothing: see timba doctor")
	}
	if bare {
		list = append(list, held{"bare", nil})
	}
	for level := best; level > sandbox.None; level-- {
		h := Hold{Level: level, Most: level, Limit: sandbox.DefaultLimit}
		list = append(list, held{level.String(), &h})
		if level == sandbox.Full {
			still := h
			still.Still = true
			list = append(list, held{"FULL, stopped between turns", &still})
		}
	}
	return list
}
