package sandbox

import (
	"bytes"
	"os"
	"strconv"
)

// Usage is what the sandbox has used so far: after Wait as its Status has it.
// Without a cgroup it is that of the processes that run now.
func (p *Process) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gone:
		return p.status.Usage
	case p.group != nil:
		return p.group.usage()
	case p.init == nil:
		return Usage{}
	}
	return usageBelow(p.init.Pid)
}

// usageBelow is what the processes below one use, without itself.
func usageBelow(pid int) (u Usage) {
	for _, child := range childrenOf(pid) {
		u.add(UsageOf(child))
	}
	return u
}

// UsageOf is what a process and all below it have used: the CPU time of those
// that run and of those that were waited for, and the sum of the most memory that
// each of those that run has had at a time, in which what several share counts
// several times.
func UsageOf(pid int) Usage {
	folder := "/proc/" + strconv.Itoa(pid)
	u := Usage{CPU: cpuOf(folder), Processes: 1}
	if status, err := os.ReadFile(folder + "/status"); err == nil {
		u.Memory = kilobytes(status, "\nVmHWM:") << 10
	}
	u.add(usageBelow(pid))
	return u
}

// add adds what another has used at the same time.
func (u *Usage) add(o Usage) {
	u.Memory += o.Memory
	u.CPU += o.CPU
	u.Processes += o.Processes
}

// childrenOf are the processes that a process has started, all its threads'.
func childrenOf(pid int) (pids []int) {
	folder := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, tid := range processes(folder) {
		list, err := os.ReadFile(folder + strconv.Itoa(tid) + "/children")
		if err != nil {
			continue
		}
		for _, f := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
