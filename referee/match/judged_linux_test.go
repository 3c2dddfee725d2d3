package match

import (
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

// Clocks: to judge a bot that has not answered in time may take the referee seconds on a busy machine. An answer
// that comes meanwhile is as late as it was when the referee looked for one before.
func TestClocksAnswerWhileJudged(t *testing.T) {
	const took = 5 * time.Second
	p := piped(t.Context(), func(in io.Reader, out, _ io.Writer) {
		in.Read(make([]byte, 1))
		io.WriteString(out, "move 12o\n")
		io.Copy(io.Discard, in)
	})
	defer p.Close(0)
	now := time.Now()
	kit.Must(t, p.BeginTurn(now, time.Second))
	if line, at, err := p.Line(now, now); !errors.Is(err, ErrLate) || !at.Equal(now) {
		t.Fatalf("before it has answered: %q, %v", line, err)
	}
	if n := p.turn.Absence(false); n != 0 {
		t.Errorf("the referee was away for %v before it judged", n)
	}
	kit.Get[int](t)(p.Send([]byte("\n"), now))
	unix.Poll([]unix.PollFd{{Fd: int32(p.stdout), Events: unix.POLLIN}}, -1)
	line, at, err := p.Line(now.Add(took), now)
	if string(line) != "move 12o" || !at.Equal(now.Add(took)) || err != nil {
		t.Fatalf("%q, %v, %v", line, at, err)
	}
	if answered, silent := p.turn.Absence(true), p.turn.Absence(false); answered != took || silent != 0 {
		t.Errorf("the referee was away for %v where the bot has answered, %v where not; want %v, 0", answered, silent, took)
	}
}
