package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// The limits of the attacks: each of them takes more.
var limit = sandbox.Limit{
	Memory: 96 << 20, Processes: 48, Disk: 8 << 20, Inodes: 512, Output: 4 << 20, OpenFiles: 64,
}

const cpuLimit = 300 * time.Millisecond

// unprivileged is who a run without a sandbox is of, where root has nothing to
// gain.
const unprivileged = 65534

// run is an attack that runs, held or not.
type run struct {
	stdin  *os.File
	out    *os.File      // for those who count bytes
	err    *os.File      // the same
	lines  chan string   // of its output, for all others
	ended  chan struct{} // its first process has ended
	term   func()        // asks it to end, the best way there is
	kill   func()        // ends its process group, without a sandbox
	finish func() ending
}

// ending is how a run ended.
type ending struct {
	status sandbox.Status // of a sandbox
	stderr string         // how that began
	ours   bool           // the harness killed it
}

// pipesOf are the ends of the attack and of the harness.
type pipesOf struct{ in, out, err [2]*os.File }

func newPipes() (p pipesOf, err error) {
	for _, ends := range []*[2]*os.File{&p.in, &p.out, &p.err} {
		if ends[0], ends[1], err = os.Pipe(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// attend reads what the attack says.
func (r *run) attend(a setup, p pipesOf) (stderr func() string) {
	r.stdin, r.out, r.err = p.in[1], p.out[0], p.err[0]
	p.in[0].Close()
	p.out[1].Close()
	p.err[1].Close()
	if a.Judge == byFlood {
		return func() string { return "" }
	}
	r.lines = make(chan string, 16)
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(r.out); s.Scan(); {
			r.lines <- s.Text()
		}
	}()
	var mu sync.Mutex
	var begin []byte
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := r.err.Read(b)
			if err != nil {
				return
			}
			mu.Lock()
			begin = append(begin, b[:min(n, 4096-len(begin))]...)
			mu.Unlock()
		}
	}()
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return string(begin)
	}
}

func (r *run) release() {
	r.stdin.Close()
	r.out.Close()
	r.err.Close()
}

// startFree starts an attack that nothing holds.
func (w *worker) startFree(a *attack, t target) (*run, error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	args := []string{a.Name, string(arg)}
	if a.Setup.Parent {
		args = []string{"middle", string(arg), a.Name}
	}
	c := exec.Command("./attack", args...)
	c.Dir = w.dir()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.Setup.Drop && os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	c.Stdin, c.Stdout, c.Stderr = p.in[0], p.out[1], p.err[1]
	file, err := w.logFile(a.Setup)
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer file.Close()
		c.Stderr = file
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	r := &run{ended: make(chan struct{})}
	stderr := r.attend(a.Setup, p)
	go func() {
		c.Wait()
		close(r.ended)
	}()
	r.term = func() { unix.Kill(c.Process.Pid, unix.SIGTERM) }
	r.kill = func() { unix.Kill(-c.Process.Pid, unix.SIGKILL) }
	r.finish = sync.OnceValue(func() ending {
		r.kill()
		<-r.ended
		r.release()
		return ending{stderr: stderr()}
	})
	return r, nil
}

// logFile returns standard error where an attack wants a file.
func (w *worker) logFile(s setup) (*os.File, error) {
	if !s.File {
		return nil, nil
	}
	f, err := os.CreateTemp(w.home+"/tmp", "log")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// startSandboxed starts an attack in a sandbox.
func (w *worker) startSandboxed(a *attack, t target, level sandbox.Level) (*run, error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return w.launchHeld([]string{"./attack", a.Name, string(arg)}, a.Setup, level)
}

func (w *worker) launchHeld(command []string, s setup, level sandbox.Level) (*run, error) {
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	spec := sandbox.Spec{
		Command: command, Dir: w.dir(), Limit: limit, Level: level, Most: level,
		Stdin: p.in[0], Stdout: p.out[1], Stderr: p.err[1],
	}
	if s.CPU {
		spec.Limit.CPU = cpuLimit
	}
	file, err := w.logFile(s)
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer file.Close()
		spec.Stderr = file
	}
	process, err := sandbox.Start(spec)
	if err != nil {
		return nil, err
	}
	r := &run{ended: make(chan struct{})}
	stderr := r.attend(s, p)
	go func() {
		defer close(r.ended)
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(process.PidFD()), Events: unix.POLLIN}}, -1)
			if n > 0 || err != nil && err != unix.EINTR {
				return
			}
		}
	}()
	r.term = process.Kill
	r.kill = process.Kill
	r.finish = sync.OnceValue(func() ending {
		// Who waits for the end must not find the descriptor gone.
		e := ending{ours: !within(r.ended, 0)}
		if e.ours {
			process.Kill()
			<-r.ended
		}
		e.status = process.Wait()
		r.release()
		e.stderr = stderr()
		return e
	})
	return r, nil
}

// readUpTo reads at most n bytes, for a while.
func readUpTo(files []*os.File, n int64, patience time.Duration) int64 {
	counts := make(chan int64, len(files))
	for _, f := range files {
		f.SetReadDeadline(time.Now().Add(patience))
		go func() {
			got, _ := io.CopyN(io.Discard, f, n)
			counts <- got
		}()
	}
	most := int64(0)
	for range files {
		most = max(most, <-counts)
		if most >= n {
			for _, f := range files {
				f.SetReadDeadline(time.Now())
			}
		}
	}
	return most
}

func pidOf(ready string) int {
	pid, _ := strconv.Atoi(ready[len("READY "):])
	return pid
}

var errTooLate = fmt.Errorf("it does not get ready")
