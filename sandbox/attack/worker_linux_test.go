package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox"
)

// givenUp lists what a level lets through, as docs/sandbox.md tells under "What the sandbox
// does not block".
func givenUp(level sandbox.Level) map[string]string {
	given := map[string]string{}
	if level < sandbox.Full && !hasClock() {
		given["cpu-forget"] = "processes that end unseen are not counted"
	}
	if level == sandbox.Weak {
		given["proc-list"] = "command lines are seen"
		given["collude-name"] = "command lines are seen"
		given["collude-atime"] = "times of access are seen"
		given["stat-outside"] = "sizes and times are seen"
	}
	return given
}

// hasClock reports whether the kernel counts for this user what processes and all
// that descends from them use.
func hasClock() bool {
	data, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	paranoid := 0
	fmt.Sscan(string(data), &paranoid)
	return err == nil && (paranoid <= 2 || os.Getuid() == 0)
}

// worker makes the attacks of one user.
type worker struct {
	*fixture
	out      *json.Encoder
	filtered bool // by whoever runs the test, as in a container
	thorough bool // make the attacks at all levels, and prove after each that the sandbox works
}

// work is the main of a worker: args are the directory of the programs, that of the
// user, the names of the attacks, and whether to be thorough.
func work(args []string) {
	unix.Close(3) // the terminal, by which it became ours
	p, err := newFixture(args[0], args[1])
	if err != nil {
		fail("worker: %v", err)
	}
	w := &worker{fixture: p, out: json.NewEncoder(os.Stdout), thorough: args[3] == "true"}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		w.filtered = !strings.Contains(string(status), "\nSeccomp:\t0\n")
	}
	best, least := sandbox.Probe().Level, sandbox.None
	if !w.thorough {
		least = best - 1
	}
	for _, a := range attacks() {
		if args[2] != "" && !strings.Contains(","+args[2]+",", ","+a.Name+",") {
			continue
		}
		w.without(&a)
		for level := best; level > least; level-- {
			w.within(&a, level)
		}
	}
	left := p.close()
	if len(left) > 0 {
		fail("worker: left behind: %s", strings.Join(left, ", "))
	}
}

// without makes an attack that nothing holds.
func (w *worker) without(a *attack) {
	r := result{Attack: a.Name, User: userName(os.Getuid()), Level: "none"}
	if a.Idle != nil {
		r.Idle = a.Idle()
	}
	if r.Idle == "" && w.filtered {
		r.Idle = "this test runs behind a filter of system calls itself"
	}
	o := judgeBy(a, func(t target) (*run, error) { return w.startFree(a, t) }, w, true)
	r.Through, r.Text = o.through, o.text
	r.Errors = w.clearUp(a)
	w.out.Encode(r)
}

// clearUp takes away what an attack has left that ran without a sandbox.
func (w *worker) clearUp(a *attack) (errors []string) {
	if a.Setup.Judge == byRunaway {
		if err := w.switchOff(); err != nil {
			errors = append(errors, err.Error())
		}
	}
	w.endStrays(true)
	if err := w.restore(); err != nil {
		errors = append(errors, err.Error())
	}
	return errors
}

// switchOff ends what outruns being killed.
func (w *worker) switchOff() error {
	if err := os.WriteFile(w.home+"/off", nil, 0o644); err != nil {
		return err
	}
	looks := 0 // that have seen none: they come and go
	until("all links of the chain end", func() bool {
		if looks++; len(w.strays(true)) > 0 {
			looks = 0
		}
		return looks == 10
	})
	return os.Remove(w.home + "/off")
}

// within makes an attack in a sandbox, looks whether anything outside has felt
// it, and whether the sandbox works as before.
func (w *worker) within(a *attack, level sandbox.Level) {
	r := result{Attack: a.Name, User: userName(os.Getuid()), Level: level.String(), Allow: givenUp(level)[a.Name]}
	before, unsettled := w.state()
	o := judgeBy(a, func(t target) (*run, error) { return w.startSandboxed(a, t, level) }, w, false)
	r.Through, r.Text, r.Errors = o.through, o.text, o.errors
	after, late := w.state()
	for _, change := range before.changes(after) {
		r.Through = true
		r.Text = strings.TrimSpace(r.Text + "; " + change)
	}
	for _, err := range []error{unsettled, late} {
		if err != nil {
			r.Errors = append(r.Errors, err.Error())
		}
	}
	all := level == sandbox.Weak || a.Setup.Judge == bySurvivor
	left := w.endStrays(all)
	if a.Setup.Judge == byRunaway {
		for range 10 { // they come and go
			left += w.endStrays(true)
		}
	}
	if left > 0 {
		r.Through = true
		r.Text += fmt.Sprintf("; %d processes are left", left)
	}
	if err := w.restore(); err != nil {
		r.Errors = append(r.Errors, err.Error())
	}
	if !w.thorough {
		w.out.Encode(r)
		return
	}
	if err := w.proof(level); err != nil {
		r.Errors = append(r.Errors, "after it the sandbox does not work: "+err.Error())
	}
	w.out.Encode(r)
}

// proof plays a few turns with a good bot.
func (w *worker) proof(level sandbox.Level) error {
	r, err := w.launchSandboxed([]string{"./attack", "echo"}, setup{}, level)
	if err != nil {
		return err
	}
	defer r.finish()
	for turn := range 3 {
		fmt.Fprintln(r.stdin, "turn", turn)
		got, want := "", fmt.Sprint("answer turn ", turn)
		r.listen(func(line string) bool { got = line; return true })
		if got != want {
			return fmt.Errorf("it said %q: want %q", got, want)
		}
	}
	r.stdin.Close()
	r.end()
	if e := r.finish(); e.status.Reason != sandbox.Exited || e.status.Code != 0 {
		return fmt.Errorf("it %s", e.status)
	}
	return nil
}

// directory returns that of the bot that attacks.
func (p *fixture) dir() string { return filepath.Join(p.home, "bots/a") }

// until waits for a condition. A worker is a process of a test, not a test: when its test ends, it
// is hung up.
func until(what string, holds func() bool) { kit.Until(process{}, what, holds) }

type process struct{ testing.TB }

func (process) Helper()                           {}
func (process) Fatalf(format string, args ...any) { fail("worker: "+format, args...) }
