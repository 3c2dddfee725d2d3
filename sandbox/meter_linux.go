package sandbox

import (
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/proc"
)

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
	if p.first != nil {
		p.own = max(p.own, proc.Anonymous(strconv.Itoa(p.first.Pid)))
	}
}

// Pid returns the number of the first process, 0 if it has ended.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.first == nil {
		return 0
	}
	return p.first.Pid
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
