package sandbox

import (
	"os"
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

// Usage returns what the sandbox has used so far; after Wait, that of its Status. Without
// a cgroup it covers only the running processes.
func (p *Process) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gone:
		return p.status.Usage
	case p.group != nil:
		p.noteOwn()
		return p.spent()
	case p.init == nil:
		return Usage{}
	}
	return usageBelow(p.init.Pid)
}

// spent returns what the program has used, without what init has in a cgroup that counts both.
func (p *Process) spent() Usage {
	u := p.group.usage()
	if p.group.cloneInto() >= 0 {
		u.Memory = min(max(0, u.Memory-p.own), p.limit.Memory)
	}
	return u
}

// noteOwn notes how much memory init has while it runs.
func (p *Process) noteOwn() {
	if p.init != nil {
		p.own = max(p.own, proc.Anonymous(strconv.Itoa(p.init.Pid)))
	}
}

// usageBelow returns what the descendants of a process use.
func usageBelow(pid int) (u Usage) {
	for _, child := range proc.Children(pid) {
		u.add(UsageOf(child))
	}
	return u
}

// UsageOf returns what a process and its descendants have used: the CPU time of the
// running ones and of those that were waited for, and the sum of the running ones' peak
// memory, in which shared memory counts several times.
func UsageOf(pid int) Usage {
	dir := "/proc/" + strconv.Itoa(pid)
	u := Usage{CPU: proc.CPU(dir), Processes: 1}
	if status, err := os.ReadFile(dir + "/status"); err == nil {
		u.Memory = proc.Kilobytes(status, "\nVmHWM:") << 10
	}
	u.add(usageBelow(pid))
	return u
}

// add adds the usage of a process that runs at the same time.
func (u *Usage) add(o Usage) {
	u.Memory += o.Memory
	u.CPU += o.CPU
	u.Processes += o.Processes
}

// Pid returns the number of the first process, 0 if it has ended.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.init == nil {
		return 0
	}
	return p.init.Pid
}

// Threads returns the file that lists the threads of all processes; "" without a cgroup.
func (p *Process) Threads() string {
	if p.group == nil {
		return ""
	}
	return p.group.threads()
}

// CPU returns the CPU time of all processes, also ended ones; without a cgroup only after Wait.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.group == nil {
		return p.status.Usage.CPU
	}
	return p.group.cpu()
}
