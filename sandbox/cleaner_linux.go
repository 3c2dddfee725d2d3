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

// A cleaner is a separate process that cleans up after this program if it is ended by
// SIGKILL: it receives a message for everything to clean up, and briefly outlives the
// program. If it is killed, too, the next start removes the cgroups.

// cleanerName is the name under which this program is started as a cleaner.
const cleanerName = "timba-sandbox-cleaner"

// The kinds of what is cleaned up. A message is a kind, or forgetKind and a kind, then the
// name and a zero byte.
const (
	kindDir    = '+' // a temporary directory
	kindMark   = 'm' // the beginning of a variable in the environment of processes
	kindGroups = 'g' // the common prefix of the paths of cgroups
	forgetKind = '-' // forget the kind and name that follow
)

// cleanerConn is the program's connection to its cleaner.
type cleanerConn struct {
	mu       sync.Mutex
	pipe     *os.File // nil while no cleaner runs
	pid      int
	messages map[string]bool // messages
}

var cleaner = cleanerConn{messages: map[string]bool{}}

// RemoveAtEnd has a temporary directory removed if this program ends before Forget, even by SIGKILL.
func RemoveAtEnd(dir string) { cleaner.add(string(kindDir) + dir) }

// CancelRemoveAtEnd undoes RemoveAtEnd, for a directory that is removed or kept.
func CancelRemoveAtEnd(dir string) { cleaner.forget(string(kindDir) + dir) }

// addGroups makes the cleaner remove the cgroups of this program below a directory.
func (c *cleanerConn) addGroups(base string) {
	pid := os.Getpid()
	c.add(fmt.Sprintf("%c%s/%s%d-%s-", kindGroups, base, groupPrefix, pid, startTicks(pid)))
}

// runMark begins all marks of this program. The cleaner ends the processes that have one when this
// program ends.
var runMark = sync.OnceValue(func() string {
	m := fmt.Sprintf("TIMBA_RUN=%d-%s-", os.Getpid(), rand.Text()[:8])
	cleaner.add(string(kindMark) + m)
	return m
})

var markCount atomic.Int64

// newMark returns a variable for the environment of a process without a sandbox. None begins with
// another one.
func newMark() string { return fmt.Sprintf("%s%d-", runMark(), markCount.Add(1)) }

func (c *cleanerConn) add(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.messages[message] {
		return
	}
	c.messages[message] = true
	c.send(message)
}

func (c *cleanerConn) forget(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.messages[message] {
		delete(c.messages, message)
		c.send(string(forgetKind) + message)
	}
}

// cleanerTime is how long a cleaner may leave its pipe full before another one is started.
var cleanerTime = 10 * time.Second

// send sends a message, or starts a cleaner that knows everything. It replaces one that has
// ended or does not read.
func (c *cleanerConn) send(message string) {
	if c.pipe != nil && c.write(message) == nil {
		return
	}
	if c.start() != nil {
		return
	}
	for m := range c.messages {
		if c.write(m) != nil {
			return // the next message finds the pipe broken or full again
		}
	}
}

func (c *cleanerConn) write(message string) error {
	if err := c.pipe.SetWriteDeadline(time.Now().Add(cleanerTime)); err != nil {
		return err
	}
	_, err := c.pipe.Write(append([]byte(message), 0))
	return err
}

func (c *cleanerConn) start() error {
	if c.pipe != nil {
		unix.Kill(c.pid, unix.SIGKILL) // before it takes the end of the pipe for that of this program
		unix.Wait4(c.pid, nil, 0, nil)
		c.pipe.Close()
		c.pipe = nil
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
	p, err := os.StartProcess("/proc/self/exe", []string{cleanerName}, attr)
	if err != nil {
		ours.Close()
		return err
	}
	c.pid, c.pipe = p.Pid, ours
	p.Release()
	return nil
}

// cleanerMain reads messages until the program has ended, and cleans up after it.
func cleanerMain() {
	// Only the end of the program ends it; see ignoreSignals for why not signal.Ignore.
	signal.Notify(make(chan os.Signal, 1))
	known := map[string]bool{}
	in := bufio.NewReader(os.NewFile(3, "messages"))
	for {
		message, err := in.ReadString(0)
		if err != nil {
			break
		}
		message = strings.TrimSuffix(message, "\x00")
		if rest, ok := strings.CutPrefix(message, string(forgetKind)); ok {
			delete(known, rest)
		} else {
			known[message] = true
		}
	}
	for range 1000 { // gives up after ten seconds
		for message := range known {
			if cleanUp(message[0], message[1:]) {
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

// cleanUp removes a thing of a kind and reports whether nothing was left.
func cleanUp(kind byte, what string) (done bool) {
	switch kind {
	case kindDir:
		os.RemoveAll(what)
		_, err := os.Lstat(what)
		return errors.Is(err, os.ErrNotExist)
	case kindMark:
		return !killMarked(what)
	case kindGroups:
		return !clearGroups(what)
	}
	return true
}

// killMarked ends the processes with a mark and reports whether it has ended any.
func killMarked(mark string) (found bool) {
	for _, pid := range proc.FindByEnv(mark) {
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
