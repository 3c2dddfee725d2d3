package commands

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
)

// seated is timba play in a terminal.
type seated struct {
	*exec.Cmd
	t      *testing.T
	keys   *os.File // what is written there is typed
	tty    *os.File
	before *unix.Termios
	read   chan struct{} // closed when the screen has all output
	mu     sync.Mutex
	screen vt10x.Terminal // wider and higher than the terminal, so that no line is cut or lost
}

const (
	emulatedColumns = 100
	emulatedRows    = 300
)

// sit starts a command in a terminal with a number of columns and 24 rows.
func sit(t *testing.T, columns int, args ...string) *seated {
	t.Helper()
	kit.Slow(t)
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &seated{Cmd: exec.Command("timba", args...), t: t, keys: keys, tty: tty, read: make(chan struct{})}
	s.screen = vt10x.New(vt10x.WithSize(emulatedColumns, emulatedRows))
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	s.before = s.state()
	s.Dir = t.TempDir()
	s.Stdin, s.Stdout, s.Stderr = tty, tty, tty
	s.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "NO_COLOR=1", "TERM=xterm", "XDG_CACHE_HOME="+t.TempDir())
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.ProcessState == nil {
			s.Process.Kill()
			s.Wait()
		}
		tty.Close()
		<-s.read
		keys.Close()
	})
	go func() {
		defer close(s.read)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			if n > 0 {
				s.mu.Lock()
				s.screen.Write(buffer[:n])
				s.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *seated) state() *unix.Termios {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// text returns the screen without spaces at the ends of its lines.
func (s *seated) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, line := range strings.Split(s.screen.String(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// until waits for a pattern on the screen.
func (s *seated) until(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	kit.Until(s.t, fmt.Sprintf("%q is on the screen", pattern), func() bool { return re.MatchString(s.text()) })
}

func (s *seated) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits until the program ends, requires its exit status and that the terminal is as before, and returns
// the screen.
func (s *seated) end(status int) string {
	s.t.Helper()
	s.Wait()
	after := s.state()
	s.tty.Close()
	<-s.read
	text := s.text()
	if got := s.ProcessState.ExitCode(); got != status {
		s.t.Errorf("exit status %d, want %d:\n%s", got, status, text)
	}
	if diff := cmp.Diff(s.before, after); diff != "" {
		s.t.Errorf("the terminal is not as before:\n%s", diff)
	}
	return text
}

// The start, the help and the end of a game fit a screen of 40 and of 80 columns.
func TestPlayScreens(t *testing.T) {
	for name, args := range map[string][]string{
		"brisca":     {"brisca", "@greedy"},
		"tute-4":     {"tute", "@greedy", "--set", "players=4", "--set", "teams=yes", "--name", "a person with a very long name"},
		"podrida-6":  {"podrida", "@greedy", "@first", "--set", "players=6", "--seat", "2"},
		"podrida-12": {"podrida", "@greedy", "--set", "players=12", "--seat", "4"},
		"tebes":      {"tebes"},
		"teeko":      {"teeko", "--seat", "1"},
		"teeko-drop": {"teeko", "@first", "--set", "start=drop"},
	} {
		for _, columns := range []int{40, 80} {
			t.Run(fmt.Sprintf("%s-%d", name, columns), func(t *testing.T) {
				t.Parallel()
				s := sit(t, columns, append([]string{"play", "--seed", "1", "--movetime", "60000", "--startup", "60000", "--out", "game.json"}, args...)...)
				s.until("^your .*:$")
				s.press("99\r")
				s.until("^your .*: 99\n(.*\n)+your .*:$")
				s.press("moves\r")
				s.until("^your .*: moves\n(.*\n)+your .*:$")
				s.press("quit\r")
				text := s.end(cli.ExitGood)
				for _, line := range strings.Split(text, "\n") {
					if n := len([]rune(line)); n > columns {
						t.Errorf("%d columns where there are %d: %q", n, columns, line)
					}
				}
				kit.Golden(t, filepath.Join("play", fmt.Sprintf("%s-%d.txt", name, columns)), text)
				if out, err := exec.Command("timba", "replay", "verify", filepath.Join(s.Dir, "game.json")).CombinedOutput(); err != nil {
					t.Errorf("the replay is refused: %v\n%s", err, out)
				}
			})
		}
	}
}

// When the time is up the game ends. The person is told so in words, and the terminal is as before.
func TestPlayClock(t *testing.T) {
	t.Parallel()
	s := sit(t, 40, "play", "teeko", "--seed", "1", "--timed", "--movetime", "1000", "--startup", "60000", "--out", "game.json")
	text := s.end(cli.ExitGood)
	for _, want := range []string{"\n ! you ran out of time: you had 1 s for\n this move\n", "\nyou lose\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "the bot") || strings.Contains(text, "flush") {
		t.Errorf("the person is spoken to as a bot:\n%s", text)
	}
}

// A move with the clock running is made, and the clock starts anew.
func TestPlayTimed(t *testing.T) {
	t.Parallel()
	s := sit(t, 80, "play", "teeko", "@first", "--seed", "1", "--timed", "--movetime", "540000", "--startup", "60000", "--out", "game.json")
	s.until(`^you have 540 s for each move$`)
	s.until(`^\[\d:\d\d\] your move \(from-to\):$`)
	s.press("11-12\r")
	s.until(`^\[\d:\d\d\] your move \(from-to\): 11-12\n @first plays `)
	s.until(`(?s)@first plays .*^\[\d:\d\d\] your move \(from-to\):$`)
	s.press("undo\r")
	s.until(`^a move cannot be taken back while the clock runs`)
	s.press("quit\r")
	if text := s.end(cli.ExitGood); !strings.Contains(text, "\n ! you left the game\n") {
		t.Errorf("the screen does not say how the game ended:\n%s", text)
	}
}

// However a game ends, the terminal is as before, the screen says how, and the replay is kept where there is one.
func TestPlayEnds(t *testing.T) {
	const left, interrupted = "\n ! you left the game\n", "\nthe game was interrupted: no replay is kept\n"
	for name, c := range map[string]struct {
		end    func(*seated)
		status int
		want   string
		replay bool
	}{
		"quit":    {func(s *seated) { s.press("q\r") }, cli.ExitGood, left, true},
		"Ctrl-C":  {func(s *seated) { s.press("12\x03") }, cli.ExitGood, left, true},
		"Ctrl-D":  {func(s *seated) { s.press("\x04") }, cli.ExitGood, left, true},
		"SIGTERM": {func(s *seated) { s.press("12"); s.Process.Signal(syscall.SIGTERM) }, cli.ExitNoVerdict, interrupted, false},
		"SIGHUP":  {func(s *seated) { s.Process.Signal(syscall.SIGHUP) }, cli.ExitNoVerdict, interrupted, false},
		"SIGINT":  {func(s *seated) { s.Process.Signal(syscall.SIGINT) }, cli.ExitNoVerdict, interrupted, false},
	} {
		for _, timed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%v", name, timed), func(t *testing.T) {
				t.Parallel()
				s := sit(t, 80, "play", "brisca", "--seed", "1", fmt.Sprintf("--timed=%v", timed), "--movetime", "3600000", "--startup", "60000", "--out", "game.json")
				s.until(`your card \(1 to 3\):$`)
				c.end(s)
				text := s.end(c.status)
				if !strings.Contains(text, c.want) {
					t.Errorf("the screen lacks %q:\n%s", c.want, text)
				}
				_, err := os.Stat(filepath.Join(s.Dir, "game.json"))
				if (err == nil) != c.replay || c.replay != strings.Contains(text, "\nreplay: game.json\n") {
					t.Errorf("the replay: %v:\n%s", err, text)
				}
			})
		}
	}
}

// A bot that does not answer ends the game without breaking the terminal, and the game of
// bots that think long does not hold a person who leaves.
func TestPlayFaults(t *testing.T) {
	t.Parallel()
	s := sit(t, 40, "play", "teeko", "sh -c 'read a; echo ready; read a; sleep 600'", "--seed", "1", "--movetime", "300", "--startup", "60000", "--out", "game.json")
	s.until(`^your move \(from-to\):$`)
	s.press("11-12\r")
	text := s.end(cli.ExitFault)
	if !strings.Contains(text, "forfeit by timeout") || !strings.Contains(text, "\nyou win\n") {
		t.Errorf("the fault is not shown:\n%s", text)
	}
	s = sit(t, 80, "play", "brisca", "sh -c 'read a; echo ready; cat >/dev/null'", "--set", "players=3", "--seed", "1", "--movetime", "600000", "--startup", "60000", "--out", "game.json")
	s.until(`your card \(1 to 3\):$`)
	s.press("quit\r")
	if text := s.end(cli.ExitGood); !strings.Contains(text, "you left the game, which the others did not finish: no replay is kept\n") {
		t.Errorf("the person who leaves is not let go:\n%s", text)
	}
}

// However commands end that wait for keys or for a secret, the terminal is as before.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	login := sit(t, 80, "login", "http://127.0.0.1:1")
	kit.Until(t, "what is typed is not shown", func() bool { return login.state().Lflag&unix.ECHO == 0 })
	login.press("timba_\x03")
	if text := login.end(cli.ExitNoVerdict); text != "token of http://127.0.0.1:1:\n" {
		t.Errorf("the screen has\n%s", text)
	}
	game := filepath.Join(t.TempDir(), "out")
	begin(t, "match", "teeko", "--movetime", "60000", "@first", "@random", "--deals", "1", "--seed", "1", "--set", "limit=12", "--out", game).exits(t, cli.ExitGood)
	show := sit(t, 80, "replay", "show", "--step", filepath.Join(game, "games", "0000-00000-0.json"))
	show.until("^0 of 12: ")
	kit.Must(t, show.Process.Signal(syscall.SIGTERM))
	show.end(cli.ExitNoVerdict)
}
