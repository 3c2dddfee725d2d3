package sandbox

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/proc"
)

// A program without a sandbox leads its own process group, and its environment has a variable, the mark.
// The processes that it starts inherit both, so that they can be found and ended, unless they hide.

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

// killPlain kills a program without a sandbox, and all processes in the process group that was created for it. The
// caller must not have waited for the program yet; otherwise its PID could be that of another process.
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
	for range 50 { // a process may start another one meanwhile
		if !killMarked(p.mark) {
			break
		}
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// MarkedProcesses returns the PIDs of all running processes of a program without a sandbox. It finds them by an
// environment variable; a process that has removed the variable is not found. For a program in a sandbox it returns
// nil.
func (p *Process) MarkedProcesses() []int {
	if p.level != LevelNone {
		return nil // no process has a mark
	}
	return proc.FindByEnv(p.mark)
}
