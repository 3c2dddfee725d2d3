package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
)

// A program without a sandbox is the first of a process group, and its environment has a mark, by
// which the processes are found that it has started, except for those that hide.

func startPlain(s Spec) (*Process, error) {
	cmd, err := s.command()
	if err != nil {
		return nil, err
	}
	p := &Process{pidfd: -1, uid: -1, mark: newMark()}
	cmd.Env = append(cmd.Env, p.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &p.pidfd}
	if err := cmd.Start(); err != nil {
		return nil, wrapStep("program", err)
	}
	p.firstProcess = cmd.Process
	return p, nil
}

// killPlain ends the process group, and the program in case it has left it. The program was not
// waited for, so that nothing else has its number.
func (p *Process) killPlain() {
	unix.Kill(-p.firstProcess.Pid, unix.SIGKILL)
	unix.Kill(p.firstProcess.Pid, unix.SIGKILL)
}

func (p *Process) waitPlain() {
	awaitEnd(p.firstProcess.Pid)
	p.mu.Lock()
	p.killPlain()
	state, err := p.firstProcess.Wait()
	p.isReaped = true
	if err != nil {
		p.status = Status{Reason: NotStarted, Step: "wait", Err: err}
	} else {
		p.status = plainStatus(state, p.isKilled.Load())
	}
	p.mu.Unlock()
	for range 50 { // a process may have started another one meanwhile
		if !killMarked(p.mark) {
			break
		}
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// MarkedProcesses returns the processes that a program without a sandbox has started, and the program itself,
// while they run. Those that hide are missing.
func (p *Process) MarkedProcesses() []int {
	if p.level != LevelNone {
		return nil // no process has a mark
	}
	return proc.FindByEnv(p.mark)
}
