package sandbox

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
)

// A guardian is a separate process that cleans up after this program if it is ended by
// SIGKILL: it receives a message for everything to clean up, and briefly outlives the
// program. If it is killed, too, the next start removes the cgroups.

// guardianName is the name under which this program is started as a guardian.
const guardianName = "timba-sandbox-guardian"

// The kinds of what is cleaned up. A message is a kind, or guardDrop and a kind, then the
// name and a zero byte.
const (
	guardDir    = '+' // a temporary directory
	guardMark   = 'm' // the beginning of a variable in the environment of processes
	guardGroups = 'g' // the common prefix of the paths of cgroups
	guardDrop   = '-' // forget the kind and name that follow
)

// ward is the program's connection to its guardian.
type ward struct {
	mu    sync.Mutex
	pipe  *os.File // nil while no guardian runs
	pid   int
	known map[string]bool // messages
}

func init() {
	if len(os.Args) > 0 && os.Args[0] == guardianName {
		guardianMain()
	}
}

var guardian = ward{known: map[string]bool{}}

// RemoveAtEnd has a temporary directory removed if this program ends before Forget, even by SIGKILL.
func RemoveAtEnd(dir string) { guardian.add(string(guardDir) + dir) }

// Forget undoes RemoveAtEnd, for a directory that is removed or kept.
func Forget(dir string) { guardian.drop(string(guardDir) + dir) }

// groups makes the guardian remove the cgroups of this program below a directory.
func (w *ward) groups(base string) {
	pid := os.Getpid()
	w.add(fmt.Sprintf("%c%s/%s%d-%s-", guardGroups, base, groupPrefix, pid, startOf(pid)))
}

// runMark begins all marks of this program. The guardian ends the processes that have one when this
// program ends.
var runMark = sync.OnceValue(func() string {
	m := fmt.Sprintf("TIMBA_RUN=%d-%s-", os.Getpid(), rand.Text()[:8])
	guardian.add(string(guardMark) + m)
	return m
})

var markCount atomic.Int64

// newMark returns a variable for the environment of a process without a sandbox. None begins with
// another one.
func newMark() string { return fmt.Sprintf("%s%d-", runMark(), markCount.Add(1)) }

func (w *ward) add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !called.Load() || w.known[message] {
		return
	}
	w.known[message] = true
	w.send(message)
}

func (w *ward) drop(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[message] {
		delete(w.known, message)
		w.send(string(guardDrop) + message)
	}
}

// guardTime is how long a guardian may leave its pipe full before another one is started.
var guardTime = 10 * time.Second

// send sends a message, or starts a guardian that knows everything. It replaces one that has
// ended or does not read.
func (w *ward) send(message string) {
	if w.pipe != nil && w.tell(message) == nil {
		return
	}
	if w.start() != nil {
		return
	}
	for m := range w.known {
		if w.tell(m) != nil {
			return // the next message finds the pipe broken or full again
		}
	}
}

func (w *ward) tell(message string) error {
	if err := w.pipe.SetWriteDeadline(time.Now().Add(guardTime)); err != nil {
		return err
	}
	_, err := w.pipe.Write(append([]byte(message), 0))
	return err
}

func (w *ward) start() error {
	if w.pipe != nil {
		unix.Kill(w.pid, unix.SIGKILL) // before it takes the end of the pipe for that of this program
		unix.Wait4(w.pid, nil, 0, nil)
		w.pipe.Close()
		w.pipe = nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		ours.Close()
		return err
	}
	defer null.Close()
	attr := &os.ProcAttr{Dir: "/", Files: []*os.File{null, null, null, theirs}, Env: initEnv, Sys: &syscall.SysProcAttr{Setsid: true}}
	p, err := os.StartProcess("/proc/self/exe", []string{guardianName}, attr)
	if err != nil {
		ours.Close()
		return err
	}
	w.pid, w.pipe = p.Pid, ours
	p.Release()
	return nil
}

// guardianMain reads messages until the program has ended, and cleans up after it.
func guardianMain() {
	// Only the end of the program ends it; see ignoreSignals for why not signal.Ignore.
	signal.Notify(make(chan os.Signal, 1))
	known := map[string]bool{}
	in := bufio.NewReader(os.NewFile(3, "wards"))
	for {
		message, err := in.ReadString(0)
		if err != nil {
			break
		}
		message = strings.TrimSuffix(message, "\x00")
		if rest, ok := strings.CutPrefix(message, string(guardDrop)); ok {
			delete(known, rest)
		} else {
			known[message] = true
		}
	}
	for range 1000 { // gives up after ten seconds
		for message := range known {
			if clearAway(message[0], message[1:]) {
				delete(known, message)
			}
		}
		if len(known) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	unix.Exit(0)
}

// clearAway removes a thing of a kind and reports whether nothing was left.
func clearAway(kind byte, what string) (done bool) {
	switch kind {
	case guardDir:
		os.RemoveAll(what)
		_, err := os.Lstat(what)
		return errors.Is(err, os.ErrNotExist)
	case guardMark:
		return !killMarked(what)
	case guardGroups:
		return !clearGroups(what)
	}
	return true
}

// killMarked ends the processes with a mark and reports whether there were any.
func killMarked(mark string) (found bool) {
	for _, pid := range proc.Marked(mark) {
		found = unix.Kill(pid, unix.SIGKILL) == nil || found
	}
	return found
}

// clearGroups ends the processes in cgroups, removes them, and reports whether there were
// any.
func clearGroups(prefix string) (found bool) {
	dirs, err := filepath.Glob(strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(prefix) + "*")
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		writeFile(filepath.Join(dir, "freezer.state"), "THAWED")
		writeFile(filepath.Join(dir, "cgroup.kill"), "1")
		list, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, f := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		for _, leaf := range []string{"bot", "init", ""} {
			unix.Rmdir(filepath.Join(dir, leaf))
		}
	}
	return len(dirs) > 0
}
