//go:build soak && linux

package match

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/protocol"
)

func init() {
	modes["labour"] = labour
	modes["burn"] = burn
}

// labour runs a bot that plays the first legal move, and in its first turn does what its argument says, such
// as "work=300 sleep=20" (in milliseconds): it sleeps; it works; it starts children, daemons or threads that
// work without end; it starts children that end and are not reaped; it waits for a child that works; it
// ponders in a thread, always or before the turn; or it has a child stop it for some time.
func labour(does string) error {
	what := map[string]int{}
	for _, word := range strings.Fields(does) {
		key, value, _ := strings.Cut(word, "=")
		what[key], _ = strconv.Atoi(value)
	}
	var asked atomic.Bool
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "timba":
			if what["ponder"] > 0 {
				go forever()
			}
			if what["before"] > 0 {
				go func() {
					for !asked.Load() {
						work(time.Millisecond)
					}
				}()
			}
			fmt.Println("ready labour 1")
		case "turn":
			if !asked.Swap(true) {
				if err := company(what); err != nil {
					return err
				}
				time.Sleep(time.Duration(what["sleep"]) * time.Millisecond)
				work(time.Duration(what["work"]) * time.Millisecond)
			}
			fmt.Println("move", words[3])
		}
	}
	return nil
}

// company starts the processes and threads that work beside a bot.
func company(what map[string]int) error {
	for range what["children"] {
		if err := child("forever").Start(); err != nil {
			return err
		}
	}
	if ms := what["brief"]; ms > 0 {
		if err := child(strconv.Itoa(ms)).Run(); err != nil {
			return err
		}
	}
	if ms := what["stop"]; ms > 0 {
		waker := exec.Command("sh", "-c", fmt.Sprintf("sleep %d.%03d; kill -CONT %d", ms/1000, ms%1000, os.Getpid()))
		if err := waker.Start(); err != nil {
			return err
		}
		unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
	for range what["daemons"] {
		if err := child("daemon").Run(); err != nil {
			return err
		}
	}
	for range what["threads"] {
		go forever()
	}
	if ms := what["crowd"]; ms > 0 {
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() { work(time.Duration(ms) * time.Millisecond / 64) })
		}
		group.Wait()
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

// work uses CPU time in this thread.
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

// burn uses CPU time: for a number of milliseconds, "forever" or, with "core=1", on that core from the first
// byte on stdin to the end of stdin.
func burn(how string) error {
	var ms, core int
	if how == "daemon" {
		c := child("forever")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return c.Start()
	}
	if n, _ := fmt.Sscan(how, &ms); n == 1 {
		work(time.Duration(ms) * time.Millisecond)
		return nil
	}
	if n, _ := fmt.Sscanf(how, "core=%d", &core); n == 1 {
		runtime.LockOSThread()
		if err := cores.Bind(core); err != nil {
			return err
		}
		os.Stdin.Read(make([]byte, 1))
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0) // the test has ended
		}()
	}
	forever()
	return nil
}

// hogs are processes of no bot that use one core from when they are released. They stay in the session of the
// test, because the share of a new session depends at first on what it did on other cores.
type hogs struct {
	begin []io.Writer
	all   []*exec.Cmd
}

func hog(t testing.TB, core int) *hogs {
	t.Helper()
	h := &hogs{}
	for range 4 {
		cmd := exec.Command(self(t), "burn", fmt.Sprintf("core=%d", core))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		h.begin, h.all = append(h.begin, in), append(h.all, cmd)
	}
	t.Cleanup(func() {
		for _, cmd := range h.all {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return h
}

func (h *hogs) loose() {
	for _, w := range h.begin {
		w.Write([]byte{1})
	}
}

// labours returns a match of two bots on the last core. The first bot begins.
func labours(t testing.TB, s *Sandbox, first, second string) *Match {
	t.Helper()
	all := cores.All()
	bots := real([]string{self(t), "labour", first}, []string{self(t), "labour", second})
	for i := range bots {
		bots[i].Dir, bots[i].Sandbox = builds, s
	}
	return &Match{
		Variant: variant(t, "tebes", "size=4"), Bots: bots, Deals: 1, OnlyRotations: []int{0}, Resources: Resources{Workers: all[len(all)-1:]},
		Clock: referee.Clock{Move: time.Second, Margin: 200 * time.Millisecond, Startup: time.Minute},
	}
}

// Clocks: other programs use the core while a bot thinks. It is waited for, and nobody has a fault.
func TestClocksBusyCore(t *testing.T) {
	for _, h := range holds(t, true) {
		t.Run(h.name, func(t *testing.T) {
			m := labours(t, h.sandbox, "work=900", "") // half of a core is too little for it
			r := keep(m)
			hog(t, m.Resources.Workers[0]).loose()
			if err := m.Play(t.Context(), r.add); err != nil {
				t.Fatal(err)
			}
			if len(r.voids) > 0 || len(r.games) != 1 || len(r.games[0].Faults) > 0 {
				t.Fatalf("voids %q, %d games, faults %v", r.voids, len(r.games), r.games[0].Faults)
			}
			first := r.games[0].Moves[0]
			// Each wait of the referee that ended late, some twelve here, may count for a millisecond too much.
			if own := first.MS - first.Credit; first.Credit == 0 || own < 880 || own > 1200 {
				t.Errorf("the first move took %v ms, %v of them credit: the bot's own time is 900 ms", first.MS, first.Credit)
			}
		})
	}
}

// Clocks: a bank pays for all that a bot works and sleeps, whatever little others took from it.
func TestClocksIdleCore(t *testing.T) {
	for _, h := range holds(t, true) {
		m := labours(t, h.sandbox, "sleep=200 work=300", "")
		m.Clock = referee.Clock{Bank: time.Minute, Margin: 200 * time.Millisecond, Startup: time.Minute}
		r := keep(m)
		if err := m.Play(t.Context(), r.add); err != nil {
			t.Fatal(err)
		}
		if first := r.games[0].Moves[0]; first.MS-first.Credit < 499 {
			t.Errorf("%s: the first move took %v ms, %v of them credit: the bot's own time is 500 ms", h.name, first.MS, first.Credit)
		}
	}
}

// Clocks: a bot that is late by its own doing, or by its opponent's, has a fault, whoever else uses
// the core, and no game is void.
func TestClocksOwnLateness(t *testing.T) {
	for _, h := range holds(t, true) {
		for _, c := range []struct {
			name, first, second string
			busy                bool // others use the core
			late                bool
		}{
			{"works too long", "work=1500", "", false, true},
			{"works too long on a busy core", "work=1500", "", true, true},
			{"sleeps too long", "sleep=1500", "", false, true},
			{"sleeps too long on a busy core", "sleep=1500", "", true, true},
			{"sleeps until its time is up, then works", "sleep=1190 work=300", "", true, true},
			{"children", "children=8 work=500", "", false, true},
			{"children on a busy core", "children=8 work=1500", "", true, true},
			{"children, then sleep", "children=8 sleep=1500", "", false, true},
			{"a short-lived child, then sleep, on a busy core", "brief=20 sleep=2500", "", true, true},
			{"daemons", "daemons=8 work=1300", "", false, true}, // too long also if the kernel gives each little of the core
			{"threads", "threads=8 work=500", "", false, true},
			{"threads on a busy core", "threads=8 work=1500", "", true, true},
			{"children that nobody waits for", "forgotten=8 work=500", "", false, true},
			{"works before its turn", "ponder=1 work=1500", "", true, true},
			{"works before its turn, then sleeps", "before=1 sleep=2500", "", true, true},
			{"many threads for a while, then sleep", "crowd=150 sleep=2500", "", true, true},
			{"stops itself", "stop=2500", "", true, true},
			{"an opponent that ponders", "work=800", "ponder=1", false, h.sandbox == nil || !h.sandbox.Freeze},
			{"an opponent that does not", "work=500", "", false, false},
		} {
			t.Run(h.name+", "+c.name, func(t *testing.T) {
				m := labours(t, h.sandbox, c.first, c.second)
				r := keep(m)
				if c.busy {
					hog(t, m.Resources.Workers[0]).loose()
				}
				if err := m.Play(t.Context(), r.add); err != nil {
					t.Fatal(err)
				}
				if len(r.voids) > 0 || len(r.games) != 1 {
					t.Fatalf("voids %q, %d games", r.voids, len(r.games))
				}
				faults := r.games[0].Faults
				if late := len(faults) == 1 && faults[0].Seat == 0 && faults[0].Code == protocol.Timeout; late != c.late || !late && len(faults) > 0 {
					t.Errorf("faults %v, want it late: %t; the first move is %+v", faults, c.late, r.games[0].Moves[:min(1, len(r.games[0].Moves))])
				}
			})
		}
	}
}

// Clocks: the referee itself is stopped while a bot answers. Nobody has a fault.
func TestClocksRefereeStopped(t *testing.T) {
	m := labours(t, nil, "sleep=500", "")
	stopped := false
	m.Observer.Trace = func(p referee.Traffic) {
		if stopped || !strings.Contains(string(p.Lines), "turn ") {
			return
		}
		stopped = true
		me := os.Getpid()
		waker := exec.Command("sh", "-c", fmt.Sprintf("kill -STOP %d; sleep 3; kill -CONT %d", me, me)) // longer than the clock
		if err := waker.Start(); err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { waker.Wait() })
	}
	r := keep(m)
	if err := m.Play(t.Context(), r.add); err != nil {
		t.Fatal(err)
	}
	if !stopped || len(r.voids) > 0 || len(r.games) != 1 || len(r.games[0].Faults) > 0 {
		t.Errorf("stopped %t, voids %q, %d games, faults %v", stopped, r.voids, len(r.games), r.games[0].Faults)
	}
}
