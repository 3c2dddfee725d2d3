//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// TestMain makes the test binary the bot itself when asked to, so that nothing
// need be built.
func TestMain(m *testing.M) {
	if os.Getenv("MISBEHAVE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestEveryFaultIsMade(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults.All {
		if seen[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		seen[f.Name] = true
		start, turn := starts[f.Name] != nil, turns[f.Name] != nil
		if start != (f.When == faults.Start) || turn != (f.When == faults.Once || f.When == faults.Every) {
			t.Errorf("%s is listed for another moment than it is made", f.Name)
		}
		if f.Help == "" {
			t.Errorf("%s has no help", f.Name)
		}
	}
	for name := range starts {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for name := range turns {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// process is a misbehaving bot and the near ends of its pipes.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string // lines of stdout with their LF, or as much as there is of one; closed at its end
	stderr *os.File
	ended  chan struct{} // closed when the process has ended, with exit set
	exit   error
	bytes  int // of the lines taken since the last turn
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], args...), lines: make(chan string, 1<<17), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// Pipes of our own: Wait must not wait for a child that holds them.
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stderr, err = os.CreateTemp(t.TempDir(), "stderr"); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs, p.stderr
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	go func() {
		p.exit = p.cmd.Wait()
		close(p.ended)
	}()
	go func() {
		defer close(p.lines)
		r := bufio.NewReaderSize(out, 2*protocol.MaxLine)
		for {
			line, err := r.ReadSlice('\n')
			if len(line) > 0 {
				p.lines <- string(line)
			}
			if err != nil && err != bufio.ErrBufferFull {
				return
			}
		}
	}()
	t.Cleanup(func() {
		p.killAll()
		p.in.Close()
		<-p.ended
		out.Close()
		p.stderr.Close()
	})
	return p
}

// killAll ends the bot and its child, which may have left its group.
func (p *process) killAll() {
	select {
	case <-p.ended: // its number may be another's by now
	default:
		killGroup(p.cmd.Process.Pid)
	}
	log, _ := os.ReadFile(p.stderr.Name())
	for line := range strings.Lines(string(log)) {
		var child int
		if n, _ := fmt.Sscanf(line, "misbehave: child %d\n", &child); n == 1 {
			killGroup(child)
		}
	}
}

// soon is long for what should happen; shortly is how long we watch that
// something does not.
const (
	soon    = 30 * time.Second
	shortly = 300 * time.Millisecond
)

func (p *process) send(lines ...string) { io.WriteString(p.in, strings.Join(lines, "\n")+"\n") }

// judge reads the answer to what was sent as the referee would: it gives the
// code of the fault, and the text of the line that is the answer.
func (p *process) judge(t *testing.T, verb protocol.BotVerb, wait time.Duration, listed string) (protocol.Code, string) {
	t.Helper()
	deadline, late, ended := time.After(wait), protocol.Timeout, p.ended
	for {
		select {
		case <-deadline:
			return late, ""
		case <-ended: // what it has still written counts
			deadline, late, ended = time.After(shortly), protocol.Exit, nil
		case line, ok := <-p.lines:
			whole := strings.HasSuffix(line, "\n")
			switch p.bytes += len(line); {
			case !ok:
				return protocol.Exit, ""
			case len(line) > protocol.MaxLine+2:
				return protocol.Garbled, line
			case p.bytes > protocol.MaxOutput:
				return protocol.Output, line
			case !whole: // its stdout has ended, or it is to be killed
				return protocol.Exit, line
			}
			l, err := protocol.ParseBot([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				return protocol.Garbled, line
			}
			if l.Verb == protocol.Info || l.Verb == protocol.Comment {
				continue
			}
			p.bytes = 0
			switch {
			case l.Verb != verb:
				return protocol.Garbled, line
			case verb == protocol.Move && !protocol.Words(listed).Has(l.Move):
				return protocol.Illegal, line
			}
			return "", line
		}
	}
}

// TestFaults plays a game with every fault at its second turn, ply 2.
func TestFaults(t *testing.T) {
	for _, f := range faults.All {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "--fault", f.Name, "--at", "1", "--game", "2")
			got, line := p.play(t, f)
			if got != f.Code {
				t.Errorf("leads to %q with the line %q, want %q", got, line, f.Code)
			}
		})
	}
}

// play plays two games and says which fault comes in the second.
func (p *process) play(t *testing.T, f faults.Fault) (protocol.Code, string) {
	t.Helper()
	const moves = "12c 1o 3e"
	wait := soon
	p.send("timba 1")
	if f.Code == protocol.Startup {
		wait = shortly
	}
	if code, line := p.judge(t, protocol.Ready, wait, ""); code == protocol.Timeout || code == protocol.Exit {
		return protocol.Startup, line
	} else if code != "" {
		return code, line
	}
	for game := range 2 {
		p.send("game brisca players=2 seat=0 seed=5 movetime=100")
		for ply := range 5 {
			p.send("event play 1 3o", "view hand=12c,1o,3e", fmt.Sprintf("turn %d 100 %s", ply, moves))
			wait := soon
			if due := game == 1 && ply == 1; due && f.Code == protocol.Timeout {
				wait = shortly
			}
			code, line := p.judge(t, protocol.Move, wait, moves)
			if code != "" {
				if f.When != faults.Start && (game != 1 || ply < 1 || ply > 2) {
					t.Errorf("the fault comes in game %d at ply %d: %q", game, ply, line)
				}
				return code, line
			}
			if f.Name == "unasked" && game == 1 && ply == 1 {
				return p.unasked(t)
			}
			if f.Name == "close-stdin" && game == 1 && ply == 1 {
				return p.deaf(t)
			}
		}
		p.send("end ranks=1,2 points=61,59")
	}
	p.send("bye")
	p.checkBye(t, f)
	return "", ""
}

// unasked takes the move that nobody asked for.
func (p *process) unasked(t *testing.T) (protocol.Code, string) {
	if code, line := p.judge(t, protocol.Move, soon, "12c"); code == "" {
		return protocol.Garbled, line
	}
	return "", ""
}

// deaf waits until writing to the bot fails.
func (p *process) deaf(t *testing.T) (protocol.Code, string) {
	for end := time.Now().Add(soon); time.Now().Before(end); {
		if _, err := io.WriteString(p.in, "event play 1 3o\n"); err != nil {
			return protocol.Exit, ""
		}
	}
	return "", ""
}

// checkBye wants the process gone, or there, and its children with it.
func (p *process) checkBye(t *testing.T, f faults.Fault) {
	t.Helper()
	wait := soon
	if f.When == faults.Bye {
		wait = shortly
	}
	select {
	case <-p.ended:
		if f.When == faults.Bye || p.exit != nil {
			t.Errorf("ends after bye: %v", p.exit)
		}
	case <-time.After(wait):
		if f.When != faults.Bye {
			t.Error("does not end after bye")
		}
		return
	}
	if f.Name == "fork" || f.Name == "setsid" {
		// The child has the pipe: it has not ended, though the bot has.
		select {
		case line, ok := <-p.lines:
			t.Errorf("got %q, %v after the end, want a child that holds the pipe", line, ok)
		case <-time.After(shortly):
		}
	}
	if f.Name == "flood-stderr" {
		if info, err := p.stderr.Stat(); err != nil || info.Size() < 4<<20 {
			t.Errorf("wrote %v on stderr, %v; want a mebibyte a turn", info, err)
		}
	}
}

// TestExits wants each way to end with its status.
func TestExits(t *testing.T) {
	for name, want := range exits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "--fault", name)
			p.send("timba 1", "game brisca", "turn 0 100 12c")
			var exit *exec.ExitError
			<-p.ended
			got := "exit status 0"
			if errors.As(p.exit, &exit) {
				got = exit.String()
			} else if p.exit != nil {
				t.Fatal(p.exit)
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestList(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--list")
	cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := faults.All[i]
		if !strings.HasPrefix(line, f.Name+" ") || !strings.Contains(line, string(f.Code)) || !strings.HasSuffix(line, f.Help) {
			t.Errorf("line %d is %q, want %+v", i, line, f)
		}
	}
	cmd = exec.Command(os.Args[0], "--fault", "nothing")
	cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), `fault "nothing" does not exist`) {
		t.Errorf("a fault that does not exist: %v, %s", err, stderr.String())
	}
}

func TestNotListed(t *testing.T) {
	var all []string
	for i := range 48 {
		all = append(all, fmt.Sprintf("%d%c", i/4%12+1, "oceb"[i%4]))
	}
	for _, list := range []string{"1o", "12c", "1o 1c 1e 1b 2o", strings.Join(all, " "), strings.Join(all, " ") + " 0 1"} {
		if m := notListed(protocol.Words(list)); protocol.Words(list).Has([]byte(m)) {
			t.Errorf("%s is in %s", m, list)
		}
	}
}
