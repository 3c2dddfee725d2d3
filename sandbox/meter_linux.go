package sandbox

import "time"

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
		return p.status.CPU
	}
	return p.group.cpu()
}
