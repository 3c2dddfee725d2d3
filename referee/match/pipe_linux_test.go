package match

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/referee/internal/script"
)

// piped returns a process without a process: the code of a real one on real pipes, with drive at their other
// end. The process has ended when drive returns.
func piped(ctx context.Context, drive func(in io.Reader, out, err io.Writer)) *process {
	p := &process{ctx: ctx}
	var theirs [4]*os.File
	for i, mine := range []*int{&p.stdin, &p.stdout, &p.stderr, &p.pidfd} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			panic(err)
		}
		if i == 0 {
			fds[0], fds[1] = fds[1], fds[0]
		}
		*mine, theirs[i] = fds[0], os.NewFile(uintptr(fds[1]), "pipe")
	}
	go func() {
		drive(theirs[0], theirs[1], theirs[2])
		for _, f := range theirs {
			f.Close()
		}
	}()
	return p
}

// hasty is a connection whose time is over as soon as its script has nothing more to write, so that a silent
// bot costs no time.
type hasty struct {
	BotConn
	handled chan struct{}
	asked   int
}

func (c *hasty) Send(lines []byte, deadline time.Time) (int, error) {
	sent, err := c.BotConn.Send(lines, deadline)
	if err != nil {
		return sent, err
	}
	for line := range bytes.Lines(lines) {
		if script.Asks(line) {
			c.asked++
		}
	}
	return sent, nil
}

func (c *hasty) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	for ; c.asked > 0; c.asked-- {
		<-c.handled
	}
	return c.BotConn.Line(now, now)
}

// overdue is a process whose time is over as soon as it has said so on stderr, so that a silent bot costs no
// time and no bot is late because of the machine. Other programs on the cores do not count.
type overdue struct {
	*process
	word   string // what it says
	each   bool   // for each question; else once is enough
	asked  int
	said   int    // in what was read from stderr earlier
	unread []byte // what was read from stderr and not returned by Stderr
}

func (c *overdue) Send(lines []byte, deadline time.Time) (int, error) {
	for line := range bytes.Lines(lines) {
		if script.Asks(line) {
			c.asked++
		}
	}
	return c.process.Send(lines, deadline)
}

func (c *overdue) Stderr() []byte {
	data := append(c.unread, c.process.Stderr()...)
	c.unread = nil
	c.said += bytes.Count(data, []byte(c.word))
	return data
}

func (c *overdue) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	for now.Before(deadline) {
		step := now.Add(10 * time.Millisecond)
		line, at, err := c.process.Line(now, step)
		if !errors.Is(err, ErrLate) {
			return line, at, err
		}
		c.unread = append(c.unread, c.process.Stderr()...)
		said := c.said + bytes.Count(c.unread, []byte(c.word))
		if said > 0 && (!c.each || said >= c.asked) {
			return c.process.Line(at, at) // what it had written before
		}
		now = time.Now()
	}
	return c.process.Line(now, deadline)
}
