package socket_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/bubble"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/socket"
)

// half is one end of a connection in memory. It breaks after it has sent a number of frames. The last frame
// is lost, or arrives although Send returns an error.
type half struct {
	out, in chan socket.Frame
	left    *int
	arrives bool
	broken  chan struct{}
	once    *sync.Once
}

var errBroken = errors.New("the connection is broken")

// connect returns the ends of a connection that breaks after a number of frames of either end. If the number
// is negative, it never breaks.
func connect(frames [2]int, arrives bool) (a, b *half) {
	x, y := make(chan socket.Frame, 64), make(chan socket.Frame, 64)
	broken, once := make(chan struct{}), new(sync.Once)
	return &half{x, y, &frames[0], arrives, broken, once}, &half{y, x, &frames[1], arrives, broken, once}
}

func (h *half) Send(f socket.Frame) error {
	*h.left--
	if *h.left == -1 {
		if h.arrives {
			h.out <- f
		}
		h.Close("")
		return errBroken
	}
	select {
	case h.out <- f:
		return nil
	case <-h.broken:
		return errBroken
	}
}

func (h *half) Receive() (socket.Frame, error) {
	select {
	case f := <-h.in:
		return f, nil
	default:
	}
	select {
	case f := <-h.in:
		return f, nil
	case <-h.broken:
		return socket.Frame{}, errBroken
	}
}

func (h *half) Close(string) { h.once.Do(func() { close(h.broken) }) }

// lines is a writer that lets a test wait for its lines.
type lines struct {
	mu   sync.Mutex
	data bytes.Buffer
	want int
	full chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.data.Write(p)
	if bytes.Count(l.data.Bytes(), []byte("\n")) == l.want {
		close(l.full)
	}
	return n, err
}

func expect(n int) *lines {
	l := &lines{want: n, full: make(chan struct{})}
	if n == 0 {
		close(l.full)
	}
	return l
}

// slow is an end that sends lines once its gate is open, and discards what it receives.
type slow struct {
	*half
	sends chan struct{}
	gate  chan struct{}
}

func (s slow) Send(f socket.Frame) error {
	if f.Lines == nil {
		return s.half.Send(f)
	}
	close(s.sends)
	<-s.gate
	return nil
}

// A connection that was replaced while it sent ends, although the other end has received the next lines on
// the new connection.
func TestTakenWhileSending(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{})
		r, w := io.Pipe()
		var served sync.WaitGroup
		served.Go(func() { s.Serve(r, io.Discard) })
		io.WriteString(w, "one\n")
		a, far := connect([2]int{1 << 20, 1 << 20}, true)
		old := slow{a, make(chan struct{}), make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- s.Attach(old) }()
		far.Send(socket.Frame{})
		<-old.sends
		io.WriteString(w, "two\nthree\n")
		a, far = connect([2]int{1 << 20, 1 << 20}, true)
		attached := make(chan error, 1)
		go func() { attached <- s.Attach(a) }()
		far.Send(socket.Frame{})
		for n := 0; n < 3; {
			f := kit.Get[socket.Frame](t)(far.Receive())
			n += len(f.Lines)
		}
		far.Send(socket.Frame{Ack: 3})
		bubble.Settle() // the lines are acknowledged
		close(old.gate)
		if err := <-ended; !errors.Is(err, socket.ErrReplaced) {
			t.Errorf("the old connection ends with %v", err)
		}
		w.Close()
		s.Close(nil)
		served.Wait()
		far.Close("")
		<-attached
	})
}

// No line is lost or delivered twice, wherever the connections break.
func TestDrops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		texts := [2][]string{}
		for i := range texts {
			for n := range rapid.IntRange(0, 30).Draw(r, "lines") {
				texts[i] = append(texts[i], fmt.Sprintf("end %d line %d", i, n))
			}
		}
		replay := rapid.Bool().Draw(r, "replay")
		drops := rapid.SliceOfN(rapid.IntRange(0, 6), 0, 12).Draw(r, "drops")
		var got [2]*lines
		bubble.Run(t, func(*testing.T) { got = carry(texts, replay, drops) })
		for i := range got {
			if have := strings.Split(strings.TrimSuffix(got[i].data.String(), "\n"), "\n"); len(texts[1-i]) > 0 && !slices.Equal(have, texts[1-i]) {
				r.Fatalf("end %d got %q, want %q", i, have, texts[1-i])
			}
		}
	})
}

// carry carries lines between two ends over connections that break after a number of frames, and returns what
// each end has received.
func carry(texts [2][]string, replay bool, drops []int) (got [2]*lines) {
	ends := [2]*socket.LineStream{socket.NewLineStream(socket.LineStreamOptions{}), socket.NewLineStream(socket.LineStreamOptions{RetainAll: replay})}
	var in [2]*io.PipeWriter
	var served sync.WaitGroup
	for i, s := range ends {
		r, w := io.Pipe()
		in[i], got[i] = w, expect(len(texts[1-i]))
		served.Go(func() { s.Serve(r, got[i]) })
		served.Go(func() {
			for _, line := range texts[i] {
				io.WriteString(w, line+"\n")
			}
		})
	}
	for i := range len(drops) / 2 {
		a, b := connect([2]int{drops[2*i], drops[2*i+1]}, i%2 == 0)
		served.Go(func() { ends[0].Attach(a) })
		served.Go(func() { ends[1].Attach(b) })
		if drops[2*i] > 4 { // the next connection takes over
			continue
		}
		bubble.Settle() // neither end sends more than it has by now
		a.Close("")
		bubble.Settle()
	}
	bubble.Settle() // no earlier connection takes over late
	a, b := connect([2]int{1 << 20, 1 << 20}, true)
	served.Go(func() { ends[0].Attach(a) })
	served.Go(func() { ends[1].Attach(b) })
	for i := range got {
		<-got[i].full
	}
	for i := range in {
		in[i].Close()
	}
	served.Wait()
	return got
}

// hand is the other end of a seat, driven by a test.
func hand(t *testing.T, s *socket.LineStream) (h *half, attached chan error) {
	a, b := connect([2]int{1 << 20, 1 << 20}, true)
	attached = make(chan error, 1)
	go func() { attached <- s.Attach(a) }()
	t.Cleanup(func() { a.Close("") })
	return b, attached
}

// await receives frames until one satisfies a condition.
func await(t *testing.T, h *half, what string, ok func(socket.Frame) bool) socket.Frame {
	t.Helper()
	for {
		f, err := h.Receive()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ok(f) {
			return f
		}
	}
}

// serve runs Serve of a seat until the end of the test at most.
func serve(t *testing.T, s *socket.LineStream) (in *io.PipeWriter, out *io.PipeReader, served chan error) {
	r, in := io.Pipe()
	out, w := io.Pipe()
	served = make(chan error, 1)
	go func() { served <- s.Serve(r, w); w.Close() }()
	t.Cleanup(func() {
		in.Close()
		out.Close()
		s.Close(nil)
	})
	return in, out, served
}

// A seat to which nobody connects, or connects again, ends with the fault of a lost connection.
func TestLost(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		for _, came := range []bool{false, true} {
			began := time.Now()
			s := socket.NewLineStream(socket.LineStreamOptions{ReturnTime: time.Minute})
			if came {
				h, attached := hand(t, s)
				h.Close("")
				<-attached
			}
			_, _, served := serve(t, s)
			var f fault.Reason
			if err := <-served; !errors.As(err, &f) || f.Kind != fault.ConnectionLost {
				t.Errorf("came %v: the error is %v, want a fault of a lost connection", came, err)
			}
			if took := time.Since(began); took != time.Minute {
				t.Errorf("came %v: it is lost after %v", came, took)
			}
		}
	})
}

// A later connection replaces an earlier one, and a page that starts anew gets all lines again.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{RetainAll: true})
		in, _, served := serve(t, s)
		first, left := hand(t, s)
		io.WriteString(in, "timba 1\ngame x\n")
		first.Send(socket.Frame{})
		all := 0
		await(t, first, "lines", func(f socket.Frame) bool { all += len(f.Lines); return all == 2 })
		first.Send(socket.Frame{Ack: 2})
		second, ended := hand(t, s)
		if err := <-left; !errors.Is(err, socket.ErrReplaced) {
			t.Fatalf("the first connection ends with %v, want %v", err, socket.ErrReplaced)
		}
		second.Send(socket.Frame{})
		f := await(t, second, "lines again", func(f socket.Frame) bool { return len(f.Lines) == 2 })
		if f.Number != 0 || f.Lines[0] != "timba 1" {
			t.Fatalf("the second connection gets %+v, want both lines", f)
		}
		in.Close()
		await(t, second, "the end", func(f socket.Frame) bool { return f.End != "" })
		second.Send(socket.Frame{Ack: 2})
		if err := <-ended; !errors.Is(err, socket.ErrEnded) {
			t.Fatalf("the second connection ends with %v, want %v", err, socket.ErrEnded)
		}
		kit.Must(t, <-served)
	})
}

// Frames that no client sends close the connection and do not affect the seat.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		for name, f := range map[string]socket.Frame{
			"acknowledges too much":   {Ack: 1},
			"acknowledges a negative": {Ack: -1},
			"skips a line":            {Number: 1, Lines: []string{"x"}},
			"negative number":         {Number: -1, Lines: []string{"x"}},
			"a line feed":             {Lines: []string{"x\ny"}},
		} {
			s := socket.NewLineStream(socket.LineStreamOptions{})
			in, out, _ := serve(t, s)
			h, attached := hand(t, s)
			h.Send(f)
			if err := <-attached; err == nil || errors.Is(err, socket.ErrEnded) {
				t.Errorf("%s: the error is %v", name, err)
			}
			h, _ = hand(t, s)
			h.Send(socket.Frame{Number: 0, Lines: []string{"# y"}})
			buf := make([]byte, 10)
			if n, err := out.Read(buf); err != nil || strings.TrimSpace(string(buf[:n])) != "# y" {
				t.Errorf("%s: then %q comes, %v", name, buf[:n], err)
			}
			in.Close()
		}
	})
}

// The lines that wait to be read are limited, but the limit is large enough for the referee to notice too
// much output. The lines that wait to be sent are limited too.
func TestBytesWaiting(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{})
		in, out, _ := serve(t, s)
		h, _ := hand(t, s)
		line := strings.Repeat("#", 1000)
		for i := range 200 {
			h.Send(socket.Frame{Number: i, Lines: []string{line}})
		}
		await(t, h, "all acknowledged", func(f socket.Frame) bool { return f.Ack == 200 })
		in.Close()
		data, _ := io.ReadAll(out)
		if len(data) > socket.MaxUnread+2000 {
			t.Errorf("%d bytes wait", len(data))
		}

		s = socket.NewLineStream(socket.LineStreamOptions{})
		in, _, served := serve(t, s)
		go func() {
			for range socket.MaxUnacked/len(line) + 1 {
				io.WriteString(in, line+"\n")
			}
		}()
		var f fault.Reason
		if err := <-served; !errors.As(err, &f) || f.Code() != protocol.Timeout {
			t.Errorf("the error is %v, want a fault of a seat that does not read", err)
		}
	})
}

// The last lines before an end are read before the seat ends.
func TestFarewell(t *testing.T) {
	t.Parallel()
	bubble.Run(t, func(t *testing.T) {
		s := socket.NewLineStream(socket.LineStreamOptions{})
		_, out, served := serve(t, s)
		h, _ := hand(t, s)
		h.Send(socket.Frame{Lines: []string{"move 1"}, End: "exit status \x1b3"})
		data, _ := io.ReadAll(out)
		var f fault.Reason
		if err := <-served; string(data) != "move 1\n" || !errors.As(err, &f) || f.Text() != "the process ended: exit status ?3" {
			t.Errorf("%q came, then %v", data, err)
		}
	})
}
