package remote

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/socket"
)

// program is the process of the bot that a client runs for one session.
type program struct {
	Opening
	seat    *socket.LineStream
	running sync.WaitGroup
}

// endTime is how long a process may run after its input has ended. Then it is killed.
const endTime = 2 * time.Second

// run starts command, and passes lines between the process and the server until the process has ended. What the
// process writes to standard error goes to stderr. If the command cannot be started, run sends the reason to the
// server.
func (p *program) run(command []string, stderr io.Writer) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = stderr
	setProcessGroup(cmd)
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		if r, ok := match.ObstacleReason(command[0], "."); ok {
			err = r
		} else {
			err = fmt.Errorf("could not be started: %s", strings.TrimPrefix(err.Error(), "fork/exec "))
		}
		fmt.Fprintf(stderr, "%s %v\n", command[0], err)
		p.seat.Close(err)
		p.seat.Serve(strings.NewReader(""), io.Discard)
		return
	}
	wait := sync.OnceValue(cmd.Wait)
	p.seat.Serve(&untilExit{out, cmd, wait}, in)
	in.Close()
	kill := time.AfterFunc(endTime, func() { killAll(cmd) })
	defer kill.Stop()
	io.Copy(io.Discard, out)
	wait()
	killAll(cmd) // also ends what the process has started
}

// serve calls play in place of a process of the bot, and passes lines between play and the server until the session
// ends.
func (p *program) serve(play func(io.Reader, io.Writer) error) {
	answers, write := io.Pipe()
	lines, feed := io.Pipe()
	go func() {
		err := play(lines, write)
		lines.CloseWithError(io.ErrClosedPipe)
		write.CloseWithError(err)
	}()
	p.seat.Serve(answers, feed)
	feed.Close()
	answers.Close()
}

// untilExit reads the output of a process. At the end of the output it waits for the process, and Read
// returns an error that says how the process ended, instead of io.EOF.
type untilExit struct {
	io.Reader
	cmd  *exec.Cmd
	wait func() error
}

// Read implements io.Reader.
func (u *untilExit) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if n > 0 || err == nil {
		return n, nil
	}
	kill := time.AfterFunc(endTime, func() { killAll(u.cmd) })
	defer kill.Stop()
	u.wait()
	return 0, errors.New(u.cmd.ProcessState.String())
}
