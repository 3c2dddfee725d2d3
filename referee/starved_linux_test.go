package referee

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sandbox"
)

func init() {
	modes["labour"] = labour
	modes["burn"] = burn
}

// labour is a bot that plays the first move, and does in its first turn what its argument says,
// such as "work=300 sleep=20": so many milliseconds of work of its own, of sleep, with so many
// children or threads that work without end, with children that end and that nobody waits for,
// or, from the start, with a thread that ponders.
func labour(does string) error {
	what := map[string]int{}
	for _, word := range strings.Fields(does) {
		key, value, _ := strings.Cut(word, "=")
		what[key], _ = strconv.Atoi(value)
	}
	started := false
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "timba":
			if what["ponder"] > 0 {
				go forever()
			}
			fmt.Println("ready labour 1")
		case "turn":
			if !started {
				started = true
				if err := company(what); err != nil {
					return err
				}
				work(time.Duration(what["work"]) * time.Millisecond)
				time.Sleep(time.Duration(what["sleep"]) * time.Millisecond)
			}
			fmt.Println("move", words[3])
		}
	}
	return nil
}

// company starts whoever works beside a bot.
func company(what map[string]int) error {
	for range what["children"] {
		if err := child("forever").Start(); err != nil {
			return err
		}
	}
	for range what["threads"] {
		go forever()
	}
	if what["forgotten"] > 0 {
		signal.Ignore(syscall.SIGCHLD) // the kernel forgets them, too
	}
	for range what["forgotten"] {
		go func() {
			for {
				p, err := os.StartProcess("/proc/self/exe", []string{"bot", "burn", "60"}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}})
				for err == nil && unix.Kill(p.Pid, 0) == nil {
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
	return nil
}

func child(how string) *exec.Cmd { return exec.Command("/proc/self/exe", "burn", how) }

// forever works for longer than any test waits.
func forever() { work(time.Minute) }

// work uses so much of the processor, in this thread.
func work(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for from := threadTime(); threadTime() < from+d; {
	}
}

func threadTime() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

// burn uses the processor: for so many milliseconds, "forever", or, as "core=1", of that core
// from the first byte on stdin on, until the end of stdin.
func burn(how string) error {
	var ms, core int
	if n, _ := fmt.Sscan(how, &ms); n == 1 {
		work(time.Duration(ms) * time.Millisecond)
		return nil
	}
	if n, _ := fmt.Sscanf(how, "core=%d", &core); n == 1 {
		runtime.LockOSThread()
		if err := pin(core); err != nil {
			return err
		}
		unix.Setpriority(unix.PRIO_PROCESS, 0, -20) // of this thread; where the user may
		os.Stdin.Read(make([]byte, 1))
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0) // the test has ended
		}()
	}
	forever()
	return nil
}

// hogs are processes that are no bot's and use one core once they are let loose.
type hogs struct {
	begin []io.Writer
	all   []*exec.Cmd
	once  sync.Once
}

// hog starts them. They run before other programs where the user may have that.
func hog(t testing.TB, core int) *hogs {
	t.Helper()
	h := &hogs{}
	for range 12 {
		cmd := exec.Command(self(t), "burn", fmt.Sprintf("core=%d", core))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		favour(cmd.Process.Pid, "-20")
		h.begin, h.all = append(h.begin, in), append(h.all, cmd)
	}
	t.Cleanup(h.end)
	return h
}

func (h *hogs) loose() {
	for _, w := range h.begin {
		w.Write([]byte{1})
	}
}

func (h *hogs) end() {
	h.once.Do(func() {
		for _, cmd := range h.all {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
}

// labours makes a match of two bots on the last core, of which the first one begins. Where it
// may, it runs before other programs, so that those of a busy machine are no reason for a void game.
func labours(t testing.TB, s *Sandbox, first, second string) *Match {
	t.Helper()
	cores := Cores()
	bots := real([]string{self(t), "labour", first}, []string{self(t), "labour", second})
	for i := range bots {
		bots[i].Dir, bots[i].Sandbox = builds, s
	}
	m := &Match{Variant: variant(t, "tebes", "size=4"), Bots: bots, Deals: 1, From: []int{0, 1}, Workers: cores[len(cores)-1:]}
	m.Clock = Clock{Move: time.Second, Margin: 200 * time.Millisecond, Startup: time.Minute}
	m.start = func(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
		unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
		return starter{}.start(ctx, b, scratch, tag)
	}
	m.Trace = func(p Traffic) {
		if strings.Contains(string(p.Lines), "ready ") { // in a sandbox, the bot has its own session by now
			favour(os.Getpid(), "-20")
		}
	}
	t.Cleanup(func() { favour(os.Getpid(), "0") })
	return m
}

// favour sets the nice value of the sessions of a process and its descendants, among which the
// kernel shares the processors, where this user may.
func favour(pid int, nice string) {
	for _, pid := range sandbox.Below(pid) {
		os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(nice), 0)
	}
}

// measurable reports whether all can be told of a bot's processor time.
func measurable(t testing.TB, s *Sandbox) bool {
	t.Helper()
	return s == nil || s.Best() == sandbox.Full
}

// nothingBeside reports whether no other test runs on this machine.
func nothingBeside() bool { return os.Getenv("TIMBA_TEST_ALONE") != "" }

// Clocks: another program uses the core while a bot thinks. The game is void, that is said, it is
// played again, and nobody has a fault.
func TestClocksStarved(t *testing.T) {
	if !nothingBeside() {
		t.Skip("it takes a core away from all other programs: script/test runs it with TIMBA_TEST_ALONE=1 and nothing beside it")
	}
	for _, h := range holds(t, true) {
		if !measurable(t, h.sandbox) {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			m := labours(t, h.sandbox, "work=500", "") // a thirteenth of the core is too little, too
			m.Clock.Move = 2 * time.Second
			favour, favoured, again := m.Trace, m.start, false
			m.start = func(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
				if again {
					return favoured(ctx, b, scratch, tag)
				}
				return starter{}.start(ctx, b, scratch, tag)
			}
			core := m.Workers[0]
			hog := hog(t, core)
			r := keep(m)
			void := m.Void
			m.Void = func(deal, rotation int, err error) {
				hog.end()
				again = true
				void(deal, rotation, err)
				var s *Starved
				if !errors.As(err, &s) || s.Bot != "bot0" || s.Core != core || s.Turn < m.Clock.Move || s.Lost.Sum() > s.Turn {
					t.Errorf("the game is void for %+v", err)
				}
			}
			m.Trace = func(p Traffic) {
				if again {
					favour(p)
				}
				if p.Seat == 0 && strings.Contains(string(p.Lines), "turn ") {
					hog.loose()
				}
			}
			if err := m.Play(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Log(r.voids)
			if len(r.voids) == 0 || len(r.games) != 1 || len(r.games[0].Faults) > 0 {
				t.Errorf("voids %q, %d games, faults %v", r.voids, len(r.games), r.games[0].Faults)
			}
		})
	}
}

// Clocks: the referee itself is stopped while a bot has answered. The game is void.
func TestClocksRefereeStopped(t *testing.T) {
	m := labours(t, nil, "", "")
	m.Workers = []int{AnyCore}
	stopped := false
	m.Trace = func(p Traffic) {
		if !stopped && strings.Contains(string(p.Lines), "turn ") {
			stopped = true
			time.Sleep(2*m.Clock.Move + m.Clock.Margin) // the clock runs
		}
	}
	r := keep(m)
	if err := m.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.voids) == 0 || len(r.games) != 1 || len(r.games[0].Faults) > 0 {
		t.Errorf("voids %q, %d games, faults %v", r.voids, len(r.games), r.games[0].Faults)
	}
}

// Clocks: what a bot has lost between two readings of what the kernel counts.
func TestClocksLost(t *testing.T) {
	const ms = time.Millisecond
	bot := &process{}
	for _, c := range []struct {
		name    string
		cores   int
		idle    time.Duration // of a second, as all that follows
		stolen  time.Duration
		held    time.Duration
		bots    time.Duration
		self    sandbox.Time
		more    time.Duration
		others  time.Duration
		byOther time.Duration
	}{
		{"it had the core", 1, 0, 0, 0, 1000 * ms, sandbox.Time{CPU: 1000 * ms, Alive: 1000 * ms}, 0, 0, 0},
		{"it slept on an idle core", 1, 1000 * ms, 0, 0, 0, sandbox.Time{}, 0, 0, 0},
		{"it slept while others ran", 1, 0, 0, 0, 0, sandbox.Time{Waited: 5 * ms}, 0, 5 * ms, 0},
		{"others ran half of the time", 1, 0, 0, 0, 500 * ms, sandbox.Time{CPU: 500 * ms, Alive: 500 * ms, Waited: 500 * ms}, 0, 500 * ms, 0},
		{"it has waited until now", 1, 0, 0, 0, 0, sandbox.Time{}, 2000 * ms, 1000 * ms, 0},
		{"its children wait for one another", 1, 0, 0, 0, 1000 * ms, sandbox.Time{CPU: 1000 * ms, Alive: 1000 * ms, Waited: 7000 * ms}, 0, 0, 0},
		{"its children ran, then it slept", 1, 600 * ms, 0, 0, 400 * ms, sandbox.Time{CPU: 400 * ms, Alive: 400 * ms, Waited: 3000 * ms}, 0, 0, 0},
		{"its opponent ran", 1, 0, 0, 0, 1000 * ms, sandbox.Time{CPU: 300 * ms, Alive: 300 * ms, Waited: 700 * ms}, 0, 0, 0},
		{"its opponent and others ran", 1, 0, 0, 0, 800 * ms, sandbox.Time{CPU: 300 * ms, Alive: 300 * ms, Waited: 700 * ms}, 0, 200 * ms, 0},
		{"threads that waited have ended", 1, 100 * ms, 0, 0, 500 * ms, sandbox.Time{CPU: 500 * ms, Alive: 100 * ms}, 0, 400 * ms, 0},
		{"the hypervisor stole", 1, 0, 300 * ms, 0, 700 * ms, sandbox.Time{CPU: 700 * ms, Alive: 700 * ms}, 0, 0, 300 * ms},
		{"the hypervisor stole and others ran", 1, 0, 300 * ms, 0, 500 * ms, sandbox.Time{CPU: 500 * ms, Alive: 500 * ms, Waited: 200 * ms}, 0, 200 * ms, 300 * ms},
		{"a quota held it back", 1, 800 * ms, 0, 800 * ms, 200 * ms, sandbox.Time{CPU: 200 * ms, Alive: 200 * ms, Waited: 800 * ms}, 0, 800 * ms, 0},
		{"a quota held others back", 1, 800 * ms, 0, 800 * ms, 200 * ms, sandbox.Time{CPU: 200 * ms, Alive: 200 * ms}, 0, 0, 0},
		{"others ran on both cores", 2, 0, 0, 0, 500 * ms, sandbox.Time{CPU: 500 * ms, Alive: 500 * ms, Waited: 500 * ms}, 0, 500 * ms, 0},
		{"others ran on the other core", 2, 0, 0, 0, 1000 * ms, sandbox.Time{CPU: 1000 * ms, Alive: 1000 * ms, Waited: 3000 * ms}, 0, 0, 0},
	} {
		from := reading{at: time.Unix(0, 0), of: map[conn]sandbox.Time{}}
		to := reading{at: time.Unix(1, 0), idle: c.idle, stolen: c.stolen, held: c.held, bots: c.bots, of: map[conn]sandbox.Time{bot: c.self}}
		if got, want := from.lost(to, bot, c.cores, c.more), (Lost{Others: c.others, Stolen: c.byOther}); got != want {
			t.Errorf("%s: it lost %+v, want %+v", c.name, got, want)
		}
	}
}

// Clocks: a bot that is late by its own doing, or by its opponent's, has a fault, and no game is void.
func TestClocksLateByItself(t *testing.T) {
	if !nothingBeside() {
		t.Skip("it takes a core away from all other programs: script/test runs it with TIMBA_TEST_ALONE=1 and nothing beside it")
	}
	for _, h := range holds(t, true) {
		if !measurable(t, h.sandbox) {
			continue
		}
		for _, c := range []struct {
			name, first, second string
			hogged              bool
			late                bool
		}{
			{"works too long", "work=1500", "", false, true},
			{"sleeps too long", "sleep=1500", "", false, true},
			{"sleeps too long while others work", "sleep=1500", "", true, true},
			{"children", "children=8 work=500", "", false, true},
			{"children, then sleep", "children=8 sleep=1500", "", false, true},
			{"threads", "threads=8 work=500", "", false, true},
			{"children that nobody waits for", "forgotten=8 work=500", "", false, true},
			{"an opponent that ponders", "work=800", "ponder=1", false, h.sandbox == nil || !h.sandbox.Freeze},
			{"an opponent that does not", "work=500", "", false, false},
		} {
			t.Run(h.name+", "+c.name, func(t *testing.T) {
				m := labours(t, h.sandbox, c.first, c.second)
				r := keep(m)
				if c.hogged {
					hog, favour := hog(t, m.Workers[0]), m.Trace
					m.Trace = func(p Traffic) {
						favour(p)
						if p.Seat == 0 && strings.Contains(string(p.Lines), "turn ") {
							hog.loose()
						}
					}
				}
				if err := m.Play(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(r.voids) > 0 || len(r.games) != 1 {
					t.Fatalf("voids %q, %d games", r.voids, len(r.games))
				}
				faults := r.games[0].Faults
				if late := len(faults) == 1 && faults[0].Seat == 0 && faults[0].Code == protocol.Timeout; late != c.late || !late && len(faults) > 0 {
					t.Errorf("faults %v, want it late: %t", faults, c.late)
				}
			})
		}
	}
}
