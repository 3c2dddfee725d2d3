package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// run is an attack that runs, in a sandbox or not.
type run struct {
	stdin  *os.File
	files  [2]*os.File // its output and its errors
	fds    [2]int      // of the files, or -1 at the end of one
	pidfd  int         // of its first process
	whole  bool        // it ends with the last process that has its output
	rest   []byte      // of its output: a part of a line
	lines  []string    // of its output, which nobody has heard
	stderr []byte      // how that began
	counts [2]int64    // bytes of its output and its errors
	term   func()      // asks it to end, the best way there is
	kill   func()      // ends its process group, without a sandbox
	finish func() ending
}

// ending is how a run ended.
type ending struct {
	status sandbox.Status // of a sandbox
	stderr string         // how that began
	ours   bool           // the harness killed it
	exited bool           // without a sandbox: it was not ended by a signal
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

// newRun takes the harness's ends of the pipes, and closes those of the attack.
func newRun(p pipesOf, pidfd int) (*run, error) {
	r := &run{stdin: p.in[1], files: [2]*os.File{p.out[0], p.err[0]}, pidfd: pidfd}
	for i, f := range r.files {
		r.fds[i] = int(f.Fd()) // which makes it blocking
		if err := unix.SetNonblock(r.fds[i], true); err != nil {
			return nil, err
		}
	}
	p.in[0].Close()
	p.out[1].Close()
	p.err[1].Close()
	return r, nil
}

func (r *run) release() {
	r.stdin.Close()
	r.files[0].Close()
	r.files[1].Close()
}

// listen reads what the attack says until heard accepts a line. It returns false when the first
// process has ended and its pipes are empty.
func (r *run) listen(heard func(line string) bool) bool {
	return r.wait(func() bool {
		for len(r.lines) > 0 {
			line := r.lines[0]
			r.lines = r.lines[1:]
			if heard(line) {
				return true
			}
		}
		return false
	})
}

// end waits for the end of the first process.
func (r *run) end() { r.wait(func() bool { return false }) }

// over reports whether the first process has ended.
func (r *run) over() bool {
	n, _ := poll([]unix.PollFd{{Fd: int32(r.pidfd), Events: unix.POLLIN}}, 0)
	return n > 0
}

// wait reads until enough is true, or the first process has ended and its pipes are empty.
func (r *run) wait(enough func() bool) bool {
	for {
		if enough() {
			return true
		}
		fds := []unix.PollFd{{Fd: int32(r.pidfd), Events: unix.POLLIN}, {Fd: int32(r.fds[0]), Events: unix.POLLIN}, {Fd: int32(r.fds[1]), Events: unix.POLLIN}}
		if r.whole {
			fds[0].Fd = -1
		}
		if _, err := poll(fds, -1); err != nil {
			fail("worker: poll: %v", err)
		}
		ended := fds[0].Revents != 0
		if read := r.read(); !read && (ended || r.whole && r.fds[0] < 0) {
			return enough()
		}
	}
}

// poll is unix.Poll, whatever interrupts it.
func poll(fds []unix.PollFd, wait int) (n int, err error) {
	for err = unix.EINTR; err == unix.EINTR; {
		n, err = unix.Poll(fds, wait)
	}
	return n, err
}

// read takes what is in the pipes, and reports whether there was anything.
func (r *run) read() (any bool) {
	var b [1 << 16]byte
	for i, fd := range r.fds {
		n, err := unix.Read(fd, b[:])
		switch {
		case fd < 0 || err != nil: // the pipe is empty
		case n == 0:
			r.fds[i] = -1
		case i == 0:
			r.rest = append(r.rest, b[:n]...)
			for end := bytes.IndexByte(r.rest, '\n'); end >= 0; end = bytes.IndexByte(r.rest, '\n') {
				r.lines = append(r.lines, string(r.rest[:end]))
				r.rest = r.rest[end+1:]
			}
		default:
			r.stderr = append(r.stderr, b[:min(n, 4096-len(r.stderr))]...)
		}
		if n > 0 {
			any = true
			r.counts[i] += int64(n)
		}
	}
	return any
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
	pidfd, err := unix.PidfdOpen(c.Process.Pid, 0)
	if err != nil {
		return nil, err
	}
	r, err := newRun(p, pidfd)
	if err != nil {
		return nil, err
	}
	r.whole = a.Setup.Parent // which it may end
	r.term = func() { unix.Kill(c.Process.Pid, unix.SIGTERM) }
	r.kill = func() { unix.Kill(-c.Process.Pid, unix.SIGKILL) }
	r.finish = sync.OnceValue(func() ending {
		r.kill()
		c.Wait()
		unix.Close(pidfd)
		r.release()
		return ending{stderr: string(r.stderr), exited: c.ProcessState.Exited()}
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
	return w.launchSandboxed([]string{"./attack", a.Name, string(arg)}, a.Setup, level)
}

func (w *worker) launchSandboxed(command []string, s setup, level sandbox.Level) (*run, error) {
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	spec := sandbox.Spec{
		Path: filepath.Join(w.dir(), command[0]), Args: command, Dir: w.dir(), Limit: limit, Level: level,
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
	r, err := newRun(p, process.PidFD())
	if err != nil {
		return nil, err
	}
	r.term = process.Kill
	r.kill = process.Kill
	r.finish = sync.OnceValue(func() ending {
		e := ending{ours: !r.over()}
		if e.ours {
			process.Kill()
		}
		e.status = process.Wait()
		r.read()
		r.release()
		e.stderr = string(r.stderr)
		return e
	})
	return r, nil
}

func pidOf(ready string) int {
	pid, _ := strconv.Atoi(ready[len("READY "):])
	return pid
}
