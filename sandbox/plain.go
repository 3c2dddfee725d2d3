package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// command returns the command that runs the program without a sandbox. Its environment is that of this process with
// s.Env added. If s.Path contains no slash, the program is searched in PATH.
func (s Spec) command() (*exec.Cmd, error) {
	if len(s.Args) == 0 {
		return nil, wrapStep("program", errors.New("there is no command"))
	}
	cmd := exec.Command(s.Path, s.Args[1:]...)
	cmd.Args[0] = s.Args[0]
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), s.Env...)
	if s.Stdin != nil {
		cmd.Stdin = s.Stdin
	}
	if s.Stdout != nil {
		cmd.Stdout = s.Stdout
	}
	if s.Stderr != nil {
		cmd.Stderr = s.Stderr
	}
	return cmd, nil
}

// plainStatus returns how a program without a sandbox ended. killed is true if Kill was called.
func plainStatus(state *os.ProcessState, killed bool) Status {
	s := Status{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		s.Reason, s.Signal = Signalled, w.Signal()
		if killed && s.Signal == syscall.SIGKILL {
			s.Reason = Killed
		}
	}
	return s
}
