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
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a program of ours leaves when it is ended by SIGKILL a guardian clears away:
// a process of its own, which is told what there is and outlives the program for
// as long as that takes. One that is gone, too, leaves only what the next start
// sweeps up.

// guardianName is the name under which this program is started as a guardian.
const guardianName = "timba-sandbox-guardian"

// The kinds of what is cleared away; each message is a kind or drop, what it is
// about and a zero byte.
const (
	guardFolder = '+' // a temporary folder
	guardMark   = 'm' // a variable in the environment of processes, with its value
	guardGroups = 'g' // what the paths of cgroups begin with
	guardDrop   = '-' // nothing of that kind and name any more: both follow
)

// ward is a guardian as its program sees it.
type ward struct {
	mu    sync.Mutex
	pipe  int // -1 while there is none
	pid   int
	known map[string]bool // messages
}

func init() {
	if len(os.Args) > 0 && os.Args[0] == guardianName {
		guardianMain()
	}
}

var guardian = ward{pipe: -1, known: map[string]bool{}}

// Guard has a temporary folder removed when this program ends without Unguard.
func Guard(folder string) { guardian.add(string(guardFolder) + folder) }

// Unguard is for a folder that is removed already, or that stays.
func Unguard(folder string) { guardian.drop(string(guardFolder) + folder) }

// Mark is a variable for the environment of processes without a sandbox: those
// that have it end with this program at the latest.
func Mark() string { return mark() }

// groups has the cgroups of this program below a folder removed.
func (w *ward) groups(base string) {
	pid := os.Getpid()
	w.add(fmt.Sprintf("%c%s/%s%d-%s-", guardGroups, base, groupPrefix, pid, startOf(pid)))
}

var mark = sync.OnceValue(func() string {
	m := fmt.Sprintf("TIMBA_RUN=%d-%s", os.Getpid(), rand.Text()[:8])
	guardian.add(string(guardMark) + m)
	return m
})

func (w *ward) add(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !called.Load() || w.known[message] {
		return
	}
	w.known[message] = true
	if w.tell(message) {
		return
	}
	if w.start() == nil { // it hears of everything again
		for m := range w.known {
			w.tell(m)
		}
	}
}

func (w *ward) drop(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[message] {
		delete(w.known, message)
		w.tell(string(guardDrop) + message)
	}
}

// tell does without a guardian that does not listen.
func (w *ward) tell(message string) bool {
	if w.pipe < 0 {
		return false
	}
	_, err := unix.Write(w.pipe, append([]byte(message), 0))
	return !errors.Is(err, unix.EPIPE)
}

func (w *ward) start() error {
	if w.pipe >= 0 {
		unix.Close(w.pipe)
		unix.Wait4(w.pid, nil, unix.WNOHANG, nil)
	}
	w.pipe = -1
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	theirs := os.NewFile(uintptr(fds[0]), "wards")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		unix.Close(fds[1])
		return err
	}
	defer null.Close()
	attr := &os.ProcAttr{Dir: "/", Files: []*os.File{null, null, null, theirs}, Env: initEnv, Sys: &syscall.SysProcAttr{Setsid: true}}
	p, err := os.StartProcess("/proc/self/exe", []string{guardianName}, attr)
	if err != nil {
		unix.Close(fds[1])
		return err
	}
	w.pid = p.Pid
	p.Release()
	w.pipe = fds[1]
	return unix.SetNonblock(w.pipe, true)
}

// guardianMain listens until its program has ended, and clears up after it.
func guardianMain() {
	// Only the end of the program is its own; see initMain for why not Ignore.
	signal.Notify(make(chan os.Signal, 1))
	known := map[string]bool{}
	in := bufio.NewReader(os.NewFile(lifeline, "wards"))
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
	for range 1000 { // what cannot be removed in ten seconds stays
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

// clearAway takes away what there is of a kind and tells whether nothing was left.
func clearAway(kind byte, what string) (done bool) {
	switch kind {
	case guardFolder:
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

// killMarked ends the processes that have a variable and tells whether there were
// any.
func killMarked(mark string) (found bool) {
	want := []byte("\x00" + mark + "\x00")
	for _, pid := range processes("/proc") {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && pid != os.Getpid() && bytes.Contains(append([]byte{0}, env...), want) {
			found = true
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	return found
}

// clearGroups ends what runs in cgroups and removes them, and tells whether there
// were any.
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
