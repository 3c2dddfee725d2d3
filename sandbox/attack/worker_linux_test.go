package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// givenUp lists what a level lets through, as docs/sandbox.md tells under "What
// is not held".
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
	*plant
	out      *json.Encoder
	filtered bool // by whoever runs the test, as in a container
}

// work is the main of a worker: args are the directory of the programs, that of the
// user and the names of the attacks.
func work(args []string) {
	unix.Close(3) // the terminal, by which it became ours
	p, err := newPlant(args[0], args[1])
	if err != nil {
		fail("worker: %v", err)
	}
	w := &worker{plant: p, out: json.NewEncoder(os.Stdout)}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		w.filtered = !strings.Contains(string(status), "\nSeccomp:\t0\n")
	}
	best := sandbox.Probe().Level
	for _, a := range attacks() {
		if args[2] != "" && !strings.Contains(","+args[2]+",", ","+a.Name+",") {
			continue
		}
		w.without(&a)
		for level := best; level > sandbox.None; level-- {
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
	for range freeTries {
		begin := time.Now()
		o := judgeBy(a, func(t target) (*run, error) { return w.startFree(a, t) }, w, true)
		r.Bite, r.Text, r.Took = o.bite, o.text, time.Since(begin)
		r.Errors = w.clearUp(a)
		if r.Bite || r.Idle != "" {
			break
		}
	}
	w.out.Encode(r)
}

// freeTries is how often an attack may try to bite where nothing holds it: once
// shows that it is one, and a busy machine may be in its way. In a sandbox it has
// one try, and no second one makes good what it got.
const freeTries = 3

// clearUp takes away what an attack has left that nothing held.
func (w *worker) clearUp(a *attack) (errors []string) {
	if a.Setup.Judge == byRunaway {
		if err := w.switchOff(); err != nil {
			errors = append(errors, err.Error())
		}
	}
	w.endStrays(true, patience)
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
	for still := 0; still < 10; still++ {
		if len(w.strays(true)) > 0 {
			still = 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	return os.Remove(w.home + "/off")
}

// within makes an attack in a sandbox, looks whether anything outside has felt
// it, and whether the sandbox works as before.
func (w *worker) within(a *attack, level sandbox.Level) {
	r := result{Attack: a.Name, User: userName(os.Getuid()), Level: level.String(), Allow: givenUp(level)[a.Name]}
	before, unsettled := w.state()
	begin := time.Now()
	o := judgeBy(a, func(t target) (*run, error) { return w.startSandboxed(a, t, level) }, w, false)
	r.Bite, r.Text, r.Errors, r.Took = o.bite, o.text, o.errors, time.Since(begin)
	after, late := w.state()
	for _, change := range before.changes(after) {
		r.Bite = true
		r.Text = strings.TrimSpace(r.Text + "; " + change)
	}
	for _, err := range []error{unsettled, late} {
		if err != nil {
			r.Errors = append(r.Errors, err.Error())
		}
	}
	all := level == sandbox.Weak || a.Setup.Judge == bySurvivor
	left := w.endStrays(all, 0)
	if a.Setup.Judge == byRunaway {
		left += w.endStrays(true, grace)
	}
	if left > 0 {
		r.Bite = true
		r.Text += fmt.Sprintf("; %d processes are left", left)
		w.endStrays(true, patience)
	}
	if err := w.restore(); err != nil {
		r.Errors = append(r.Errors, err.Error())
	}
	if err := w.proof(level); err != nil {
		r.Errors = append(r.Errors, "after it the sandbox does not work: "+err.Error())
	}
	w.out.Encode(r)
}

// proof plays a few turns with a good bot.
func (w *worker) proof(level sandbox.Level) error {
	r, err := w.launchHeld([]string{"./attack", "echo"}, setup{}, level)
	if err != nil {
		return err
	}
	defer r.finish()
	for turn := range 3 {
		fmt.Fprintln(r.stdin, "turn", turn)
		select {
		case line := <-r.lines:
			if want := fmt.Sprint("answer turn ", turn); line != want {
				return fmt.Errorf("it said %q: want %q", line, want)
			}
		case <-time.After(patience):
			return fmt.Errorf("it does not answer")
		}
	}
	r.stdin.Close()
	select {
	case <-r.ended:
	case <-time.After(patience):
		return fmt.Errorf("it does not end")
	}
	if e := r.finish(); e.status.Reason != sandbox.Exited || e.status.Code != 0 {
		return fmt.Errorf("it %s", e.status)
	}
	return nil
}

// directory returns that of the bot that attacks.
func (p *plant) dir() string { return filepath.Join(p.home, "bots/a") }
