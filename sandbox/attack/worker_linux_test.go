package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// givenUp returns the attacks that a level does not block, as docs/sandbox.md says under "What the sandbox
// does not block".
func givenUp(level sandbox.Level) map[string]string {
	given := map[string]string{}
	if level < sandbox.LevelFull && !hasClock() {
		given["cpu-forget"] = "processes that end unseen are not counted"
	}
	if level == sandbox.LevelWeak {
		given["victim-command"] = "command lines are seen"
		given["parent-command"] = given["victim-command"]
		given["read-time"] = "times of access are seen"
		given["secret-exists"] = "sizes and times are seen"
		given["interfaces"] = "network interfaces are seen"
	}
	return given
}

// hasClock reports whether this user can open a perf event that counts the CPU time of a process and its
// descendants.
func hasClock() bool {
	data, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	paranoid := 0
	fmt.Sscan(string(data), &paranoid)
	return err == nil && (paranoid <= 2 || os.Getuid() == 0)
}

// worker makes the attacks of one user.
type worker struct {
	*fixture
	out       *json.Encoder
	selection string // comma-separated names of the attacks to make; "" for all
	filtered  bool   // the worker itself runs under a seccomp filter, as in a container
	thorough  bool   // make the attacks at all levels, and check after each that the sandbox works
}

// work is the main function of a worker. args are the directory of the programs, the directory of the user,
// the names of the attacks, and whether to be thorough.
func work(args []string) {
	unix.Close(3) // the terminal, which is its controlling terminal now
	f, err := newFixture(args[0], args[1])
	if err != nil {
		fail("worker: %v", err)
	}
	w := &worker{fixture: f, out: json.NewEncoder(os.Stdout), selection: args[2], thorough: args[3] == "true"}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		w.filtered = !strings.Contains(string(status), "\nSeccomp:\t0\n")
	}
	best, lowest := sandbox.Probe().Level, sandbox.LevelNone
	if !w.thorough {
		lowest = max(lowest, best-1)
	}
	var levels []sandbox.Level
	for level := best; level > lowest; level-- {
		levels = append(levels, level)
	}
	w.makeCalls(levels)
	for _, a := range attacks {
		if !w.wants(a.name) {
			continue
		}
		w.attackUnsandboxed(a)
		for _, level := range levels {
			w.attackSandboxed(a, level)
		}
	}
	if left := w.close(); len(left) > 0 {
		fail("worker: left behind: %s", strings.Join(left, ", "))
	}
}

func (w *worker) wants(name string) bool {
	return w.selection == "" || strings.Contains(","+w.selection+",", ","+name+",")
}

// makeCalls makes all calls of the table without a sandbox and at the levels.
func (w *worker) makeCalls(levels []sandbox.Level) {
	free, err := w.results(sandbox.LevelNone)
	if err != nil {
		fail("worker: calls without a sandbox: %v", err)
	}
	for _, level := range append([]sandbox.Level{sandbox.LevelNone}, levels...) {
		before := w.files()
		got, err := w.results(level)
		changed := difference(before, w.files())
		if level > sandbox.LevelNone && (err != nil || len(changed) > 0) {
			w.out.Encode(result{Name: "calls", Level: level.String(), Fault: fmt.Sprint(err, changed)})
		}
		for _, c := range calls(&w.target) {
			if !w.wants(c.name) {
				continue
			}
			r := result{Name: c.name, Level: level.String(), Text: describe(got[c.name])}
			if level == sandbox.LevelNone {
				r.Level = "none"
				r.Fault, r.Idle = c.freeFault(got[c.name], os.Getuid() == 0)
				r.Through = r.Fault == "" && r.Idle == ""
				if r.Fault != "" && w.filtered {
					r.Fault, r.Idle = "", "this test runs behind a filter of system calls itself"
				}
			} else if r.Allow = givenUp(level)[c.name]; r.Allow == "" {
				r.Fault = c.sandboxFault(got[c.name], free[c.name])
			}
			w.out.Encode(r)
		}
		if err := w.restore(); err != nil {
			fail("worker: %v", err)
		}
	}
}

// results makes all calls at a level and returns their results.
func (w *worker) results(level sandbox.Level) (map[string]syscall.Errno, error) {
	r, err := w.start(level, limit, func() int { return w.endStrays(1) }, "attack", "calls", w.argument(false, w.Victim))
	if err != nil {
		return nil, err
	}
	got := map[string]syscall.Errno{}
	for lines := bufio.NewScanner(r.stdout); lines.Scan(); {
		name, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		got[name] = syscall.Errno(n)
	}
	text := r.finish()
	if want := len(calls(&w.target)); len(got) != want {
		return got, fmt.Errorf("%d of %d calls were made: it %s: %s", len(got), want, r.status, text)
	}
	return got, nil
}

// attackUnsandboxed makes an attack without a sandbox.
func (w *worker) attackUnsandboxed(a attack) {
	r := result{Name: a.name, Level: "none"}
	if a.obstacle != nil {
		r.Idle = a.obstacle()
	}
	if w.filtered && r.Idle == "" {
		r.Idle = "this test runs behind a filter of system calls itself"
	}
	if r.Idle == "" {
		r = w.judge(a, sandbox.LevelNone)
	}
	w.out.Encode(r)
	if err := w.restore(); err != nil {
		fail("worker: %v", err)
	}
}

// attackSandboxed makes an attack in a sandbox, and checks that it has changed nothing outside.
func (w *worker) attackSandboxed(a attack, level sandbox.Level) {
	before := w.files()
	r := w.judge(a, level)
	r.Allow = givenUp(level)[a.name]
	if changed := difference(before, w.files()); len(changed) > 0 {
		r.Fault += fmt.Sprintf("; it has changed %v", changed)
	}
	if err := w.restore(); err != nil {
		fail("worker: %v", err)
	}
	if w.thorough {
		if err := w.proof(level); err != nil {
			r.Fault += "; after it the sandbox does not work: " + err.Error()
		}
	}
	w.out.Encode(r)
}

// judge makes an attack and returns its result.
func (w *worker) judge(a attack, level sandbox.Level) result {
	r := result{Name: a.name, Level: level.String()}
	if level == sandbox.LevelNone {
		r.Level = "none"
	}
	limit := limit
	if a.cpu {
		limit.CPU = cpuLimit
	}
	count := func() int { return w.endStrays(1) }
	if a.criterion == byKill {
		count = func() int { return w.endStrays(20) }
	}
	victim := w.Victim
	if a.prepareOther != nil {
		count = func() int { return 0 } // the other bot does not count as a survivor
		one, err := w.start(level, limit, count, "attack", a.name, w.argument(true, victim))
		if err != nil {
			r.Fault = err.Error()
			return r
		}
		defer func() {
			one.end()
			one.finish()
		}()
		word := one.word("READY", "BLOCKED")
		if pid, ok := strings.CutPrefix(word, "READY "); ok {
			victim, _ = strconv.Atoi(pid)
		} else {
			r.Text = word
			return r
		}
	}
	bot, err := w.start(level, limit, count, "attack", a.name, w.argument(false, victim))
	if err != nil {
		r.Fault = err.Error()
		return r
	}
	word := bot.word("READY", "THROUGH", "BLOCKED")
	ready := strings.TrimPrefix(word, "READY ")
	switch {
	case ready == word:
		r.Through = strings.HasPrefix(word, "THROUGH ")
	case a.criterion == byKill:
		pid, _ := strconv.Atoi(ready)
		r.Through = level == sandbox.LevelNone && signals(pid, "SigIgn")>>(unix.SIGTERM-1)&1 != 0
		bot.end()
	}
	r.Text = cmp.Or(word, "it said nothing")
	if complaint := bot.finish(); word == "" && complaint != "" {
		r.Text = fmt.Sprintf("%.100q", complaint)
	}
	if bot.survivors > 0 {
		r.Through = true
		r.Text += fmt.Sprintf("; %d processes are left", bot.survivors)
	}
	if level > sandbox.LevelNone {
		r.Text += "; it " + bot.status.String()
		if !r.Through && !a.knows(word, bot) {
			r.Fault = "its end is not a known one: " + r.Text
		}
	}
	return r
}

// knows reports whether an attack has ended in one of the ways in which a sandbox may end it.
func (a *attack) knows(word string, r *run) bool {
	switch r.status.Reason {
	case sandbox.Exited:
		switch r.status.Code {
		case exitBlocked:
			return strings.HasPrefix(word, "BLOCKED ")
		case exitUsage:
			return a.ends&endCrash != 0
		}
		return r.status.Code == exitThrough && a.criterion == bySurvivor && strings.HasPrefix(word, "READY ")
	case sandbox.Killed: // by the test; otherwise init has died
		return r.killed
	case sandbox.Signalled:
		return a.ends&endSignal != 0
	case sandbox.MemoryLimit:
		return a.ends&endMemory != 0
	case sandbox.ProcessLimit:
		return a.ends&endProcesses != 0
	case sandbox.CPULimit:
		return a.ends&endCPU != 0
	}
	return false
}

// proof plays a few turns with a good bot, to check that the sandbox works.
func (w *worker) proof(level sandbox.Level) error {
	r, err := w.start(level, limit, func() int { return 0 }, "attack", "echo")
	if err != nil {
		return err
	}
	defer r.finish()
	for turn := range 3 {
		fmt.Fprintln(r.stdin, turn)
		if got, want := r.word("answer"), fmt.Sprint("answer ", turn); got != want {
			r.end()
			return fmt.Errorf("it said %q, want %q: it %s", got, want, r.status)
		}
	}
	r.stdin.Close()
	<-r.ended
	if r.status.Reason != sandbox.Exited || r.status.Code != 0 {
		return errors.New("it " + r.status.String())
	}
	return nil
}

// process is the testing.TB that kit.Until needs. A worker runs outside of a test.
type process struct{ testing.TB }

func (process) Helper()                           {}
func (process) Fatalf(format string, args ...any) { fail("worker: "+format, args...) }
