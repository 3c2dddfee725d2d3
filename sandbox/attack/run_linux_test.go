package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

// limit is the limit of the sandboxes, which each attack tries to exceed.
var limit = sandbox.Limit{
	Memory: 96 << 20, Processes: 48, Disk: 8 << 20, Inodes: 512, Output: outputSize, OpenFiles: openFiles,
}

const cpuLimit = 300 * time.Millisecond

// run is a running program, at a level of the sandbox, or without one at LevelNone.
type run struct {
	stdin     *os.File
	stdout    *bufio.Reader
	stderr    *os.File
	files     []*os.File    // all files to close
	kill      func()        // kills its processes; without a sandbox, its process group
	ended     chan struct{} // closed after its first process has ended
	status    sandbox.Status
	survivors int  // number of processes that survived that
	killed    bool // the test has killed it
}

// start starts a program of the bot's directory. When its first process has ended, it calls count, which
// kills and counts the remaining ones.
func (w *worker) start(level sandbox.Level, limit sandbox.Limit, count func() int, command ...string) (*run, error) {
	inOut, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer inOut.Close()
	out, outIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outIn.Close()
	r := &run{stdin: in, stdout: bufio.NewReader(out), ended: make(chan struct{})}
	if r.stderr, err = os.CreateTemp(w.Base+"/tmp", "stderr"); err != nil {
		return nil, err
	}
	r.files = []*os.File{in, out, r.stderr}
	if err := os.Remove(r.stderr.Name()); err != nil {
		return nil, err
	}
	var wait func() sandbox.Status
	if level == sandbox.LevelNone {
		c := exec.Command("./"+command[0], command[1:]...)
		c.Dir, c.Stdin, c.Stdout, c.Stderr = w.dir(), inOut, outIn, r.stderr
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			return nil, err
		}
		r.kill = func() { unix.Kill(-c.Process.Pid, unix.SIGKILL) }
		wait = func() sandbox.Status { c.Wait(); return sandbox.Status{} }
	} else {
		p, err := sandbox.Start(sandbox.Spec{
			Path: filepath.Join(w.dir(), command[0]), Args: command, Dir: w.dir(), Limit: limit, Level: level,
			Stdin: inOut, Stdout: outIn, Stderr: r.stderr,
		})
		if err != nil {
			return nil, err
		}
		r.kill, wait = p.Kill, p.Wait
	}
	go func() {
		defer close(r.ended)
		r.status = wait()
		r.survivors = count()
	}()
	return r, nil
}

// word returns the next line that begins with one of the words, or "" at the end of the output.
func (r *run) word(words ...string) string {
	for {
		line, err := r.stdout.ReadString('\n')
		if err != nil {
			return ""
		}
		for _, word := range words {
			if strings.HasPrefix(line, word+" ") {
				return strings.TrimSpace(line)
			}
		}
	}
}

// end kills the program and waits until it has ended.
func (r *run) end() {
	r.killed = true
	r.kill()
	<-r.ended
}

// finish waits until the program has ended, closes its files and returns the beginning of its stderr.
func (r *run) finish() string {
	<-r.ended
	text, _ := io.ReadAll(io.NewSectionReader(r.stderr, 0, 400)) // it is only shown to people
	for _, f := range r.files {
		f.Close()
	}
	return string(text)
}
