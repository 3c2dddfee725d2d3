package fairclock

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/sandbox"
)

// kernel reads the counters of CPU time that Linux has in /proc. It implements the interface counters.
type kernel struct {
	cores  []int
	stat   *os.File // /proc/stat
	thread *os.File // /proc/self/task/ID/schedstat of the worker's thread
	buf    []byte
}

// Check returns an error if the kernel does not provide the CPU time counters that Monitor needs.
func Check() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := Open(cores.Any, new(Players))
	if w == nil {
		return fmt.Errorf("this kernel does not tell for whom the cores worked: /proc/stat or schedstat is missing")
	}
	w.Close()
	return nil
}

// Open returns the Monitor of a worker, a thread that plays games. The calling goroutine must be locked to its
// thread. core is the number of the core to which the thread is bound, or cores.Any if it is not bound. players has
// the bots of the match; if the thread is bound to a core, Open uses only players.Low. Open returns nil if the kernel
// does not provide the counters.
func Open(core int, players *Players) *Monitor {
	k := &kernel{cores: cores.All()}
	if core != cores.Any {
		k.cores, players = []int{core}, &Players{Low: players.Low}
	}
	if len(k.cores) == 0 {
		return nil
	}
	var err error
	if k.stat, err = os.Open("/proc/stat"); err != nil {
		return nil
	}
	if k.thread, err = os.Open(fmt.Sprintf("/proc/self/task/%d/schedstat", unix.Gettid())); err != nil {
		k.stat.Close()
		return nil
	}
	k.buf = make([]byte, 128*(2+slices.Max(k.cores)))
	if c, err := k.read(); err != nil || c.WorkerCPU == 0 { // a kernel may have the files without counting
		k.close()
		return nil
	}
	return &Monitor{counters: k, cores: len(k.cores), players: players}
}

func (k *kernel) close() {
	k.stat.Close()
	k.thread.Close()
}

func (k *kernel) read() (c counts, err error) {
	n, err := unix.Pread(int(k.stat.Fd()), k.buf, 0)
	if err != nil {
		return c, err
	}
	found := 0
	for line := range bytes.Lines(k.buf[:n]) {
		name, ok := bytes.CutPrefix(line, []byte("cpu"))
		if !ok {
			break
		}
		f := bytes.Fields(name)
		if name[0] == ' ' || len(f) < 9 || !slices.Contains(k.cores, int(number(f[0]))) {
			continue
		}
		found++
		c.IdleTime += time.Duration(number(f[4])+number(f[5])) * proc.Tick // idle and iowait
		c.StolenTime += time.Duration(number(f[8])) * proc.Tick
	}
	if found != len(k.cores) {
		return c, fmt.Errorf("fairclock: /proc/stat has %d of the %d cores %v", found, len(k.cores), k.cores)
	}
	n, err = unix.Pread(int(k.thread.Fd()), k.buf, 0)
	if err != nil {
		return c, err
	}
	if f := bytes.Fields(k.buf[:n]); len(f) > 1 {
		c.WorkerCPU, c.WorkerWait = time.Duration(number(f[0])), time.Duration(number(f[1]))
	}
	c.ThrottledTime = sandbox.ThrottledTime()
	return c, nil
}

func (k *kernel) running() int {
	load, err := proc.Read("/proc/loadavg")
	f := bytes.Fields(load)
	if err != nil || len(f) < 4 {
		return 0
	}
	running, _, _ := bytes.Cut(f[3], []byte("/"))
	return int(number(running))
}

func number(text []byte) int64 {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	return n
}
