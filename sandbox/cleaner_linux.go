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

// The cleaner is a separate process that cleans up after this program, even if the program is ended by
// SIGKILL. It receives a message for everything that it has to remove, and outlives the program for a short
// time. If the cleaner is killed as well, the next start of timba removes the cgroups.

// cleanerName is the value of os.Args[0] with which this program starts itself as a cleaner. The cleaner is a process
// that removes directories and kills processes after this program has ended.
const cleanerName = "timba-sandbox-cleaner"

// The kinds of messages to the cleaner. A message consists of the kind, the name of what to remove, and a zero
// byte. If the kind is forgetKind, the rest of the message is an earlier message that no longer applies.
const (
	kindDir    = '+' // remove the directory with this path
	kindMark   = 'm' // kill the processes with an environment variable that begins with the name
	kindGroups = 'g' // kill the processes in cgroups whose paths begin with the name, and remove the cgroups
	forgetKind = '-' // the message that follows no longer applies
)

// cleanerConn is this program's connection to its cleaner, a process that removes things after this program has
// ended.
type cleanerConn struct {
	mu       sync.Mutex
	pipe     *os.File // nil if no cleaner runs
	pid      int
	messages map[string]bool // the messages that apply, without the zero byte
}

var cleaner = cleanerConn{messages: map[string]bool{}}

// RemoveAtEnd ensures that the directory dir is removed when this program ends, even if it is killed by SIGKILL. A
// separate process does that. CancelRemoveAtEnd cancels it.
func RemoveAtEnd(dir string) { cleaner.add(string(kindDir) + dir) }

// CancelRemoveAtEnd cancels RemoveAtEnd for a directory that was removed already or is no longer temporary.
func CancelRemoveAtEnd(dir string) { cleaner.forget(string(kindDir) + dir) }

// addGroups makes the cleaner process remove the cgroups that this program creates below the directory base. It
// removes them when this program has ended.
func (c *cleanerConn) addGroups(base string) {
	pid := os.Getpid()
	c.add(fmt.Sprintf("%c%s/%s%d-%s-", kindGroups, base, groupPrefix, pid, startTicks(pid)))
}

// runMark returns the common beginning of environment variables "NAME=VALUE" that mark the programs started without a
// sandbox. After this program has ended, the cleaner process kills all processes with such a variable.
var runMark = sync.OnceValue(func() string {
	m := fmt.Sprintf("TIMBA_RUN=%d-%s-", os.Getpid(), rand.Text()[:8])
	cleaner.add(string(kindMark) + m)
	return m
})

var markCount atomic.Int64

// newMark returns a new environment variable, "NAME=VALUE", for one program that is started without a sandbox. The
// processes of the program can be found by it. No variable that newMark returns is a prefix of another.
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

// cleanerTime is how long a write to the cleaner process may wait because the pipe is full. Then another cleaner is
// started.
var cleanerTime = 10 * time.Second

// send sends a message to the cleaner. If no cleaner runs, or the cleaner does not read the message within
// cleanerTime, send starts a new cleaner and sends it all of c.messages. Errors are ignored: the next call tries
// again. The caller must hold c.mu.
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
		unix.Kill(c.pid, unix.SIGKILL) // it would take the closed pipe for the end of this program
		unix.Wait4(c.pid, nil, 0, nil)
		c.pipe.Close()
		c.pipe = nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		writer.Close()
		return err
	}
	defer null.Close()
	attr := &os.ProcAttr{Dir: "/", Files: []*os.File{null, null, null, reader}, Env: initEnv, Sys: &syscall.SysProcAttr{Setsid: true}}
	p, err := os.StartProcess("/proc/self/exe", []string{cleanerName}, attr)
	if err != nil {
		writer.Close()
		return err
	}
	c.pid, c.pipe = p.Pid, writer
	p.Release()
	return nil
}

// cleanerMain is the main function of the cleaner process. It reads messages until the program that started it
// has ended, and then removes what they name.
func cleanerMain() {
	// Signals must not end the cleaner. For why this is not signal.Ignore, see surviveSignals in package initproc.
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

// cleanUp removes or kills what a message to the cleaner names. kind says whether name is a directory, a mark of
// processes or a prefix of cgroups. done is true if nothing was left to remove.
func cleanUp(kind byte, name string) (done bool) {
	switch kind {
	case kindDir:
		os.RemoveAll(name)
		_, err := os.Lstat(name)
		return errors.Is(err, os.ErrNotExist)
	case kindMark:
		return !killMarked(name)
	case kindGroups:
		return !clearGroups(name)
	}
	return true
}

// killMarked kills all processes with an environment variable that begins with mark. It reports whether it killed
// any.
func killMarked(mark string) (found bool) {
	for _, pid := range proc.FindByEnv(mark) {
		found = unix.Kill(pid, unix.SIGKILL) == nil || found
	}
	return found
}

// clearGroups kills the processes in the cgroups whose paths begin with prefix, and tries to remove the cgroups.
// It reports whether there were any such cgroups.
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
