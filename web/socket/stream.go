package socket

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
)

// Frame is one message between the two ends of a stream. The first frame that an end sends on a
// connection has only Ack, from which the other end knows with which line to begin. Lines follow in
// later frames.
type Frame struct {
	Number int      `json:"n,omitempty"` // of the first of Lines, from 0
	Lines  []string `json:"lines,omitempty"`
	Ack    int      `json:"ack"`           // how many lines of the other end have come
	End    string   `json:"end,omitempty"` // why no more lines come; after the last of them
}

// Wire is one connection. At most one goroutine sends and one receives; Close may be called by any
// and ends both with errors.
type Wire interface {
	Send(Frame) error // in bounded time
	Receive() (Frame, error)
	Close(why string)
}

// StreamOptions are those of a stream. Zero values stand for the defaults.
type StreamOptions struct {
	ReturnTime time.Duration // for the other end to come, and to come back; 0: DefaultBack
	// RetainAll keeps all lines, acknowledged or not, for another end that begins anew: the page of
	// a game that was loaded again.
	RetainAll bool
	// SlowAfter, if not 0, makes the clock of the bot stand still while there is no connection, and
	// while a line waits for longer than that to be acknowledged. Back is then the time for
	// all of that together, after which the connection counts as lost.
	SlowAfter time.Duration
}

// DefaultReturnTime is enough for a page that is loaded again.
const DefaultReturnTime = 60 * time.Second

// The bounds of what waits, in bytes: MaxKept for the other end; MaxUnread from the other end, to be
// read. What comes above it is dropped. It is more than the referee allows between two turns: dropped
// lines are those of a seat that has already forfeited.
const (
	MaxUnacked = 4 << 20
	MaxUnread  = protocol.MaxOutput + 2*protocol.MaxLine
)

// lingerTime is that for the last lines to arrive.
const lingerTime = 5 * time.Second

// Errors of Attach.
var (
	ErrReplaced = errors.New("socket: another connection has taken over")
	ErrEnded    = errors.New("socket: the game has ended")
)

// Stream is one end of the lines of one bot, for one call of Serve: on the server it is a match.Bot's
// Serve, at the other end of the wire it stands between a process and the connection, or is the
// script of a page. Both ends number their lines and keep them until the other end has acknowledged
// them, so that a new connection goes on where the last one broke: no line is lost, and none comes
// twice.
type Stream struct {
	StreamOptions
	mu           sync.Mutex
	changeSignal chan struct{} // closed and replaced at every change
	outbox       outbox
	inbox        inbox
	conn         *attachment // nil while there is no connection
	lostTimer    *time.Timer // until the other end counts as lost, nil if Slow is set
	pause        pause
	endErr       error // what Serve returns
	closed       bool  // Serve returns, or has returned
}

// outbox holds the lines for the other end until it has acknowledged them.
type outbox struct {
	lines    []string
	base     int    // the number of the first of lines
	ackCount int    // how many lines the other end has, counted from line 0
	bytes    int    // of lines
	end      string // why no more lines follow; "" before the stream is closed
}

// count returns how many lines were ever added.
func (o *outbox) count() int { return o.base + len(o.lines) }

// acknowledge notes that the other end has the first n lines, and drops them if drop is set.
func (o *outbox) acknowledge(n int, drop bool) {
	o.ackCount = n
	if !drop {
		return
	}
	for _, line := range o.lines[:n-o.base] {
		o.bytes -= len(line)
	}
	o.lines = slices.Delete(o.lines, 0, n-o.base)
	o.base = n
}

// inbox holds the lines of the other end until Serve has written them.
type inbox struct {
	lines   []string
	count   int   // how many lines have come, counted from line 0
	bytes   int   // of lines, with their line feeds
	flooded bool  // a line was dropped, and so is each that follows
	end     error // why the other end sends no more lines; nil before it says so
}

// attachment is the state of one connection.
type attachment struct {
	Wire
	next    int  // the number of the next line to send
	lastAck int  // the last Ack sent, -1 before the first
	greeted bool // the first frame of the other end has come
	endSent bool // the frame with the end has been sent
}

// NewStream returns a stream that waits for a connection.
func NewStream(o StreamOptions) *Stream {
	o.ReturnTime = cmp.Or(o.ReturnTime, DefaultReturnTime)
	return &Stream{StreamOptions: o, changeSignal: make(chan struct{})}
}

// signalChange tells all waiters, under the lock.
func (s *Stream) signalChange() {
	close(s.changeSignal)
	s.changeSignal = make(chan struct{})
}

// Serve sends lines to the other end, and writes what it answers, until the lines end, the other
// end stays away for longer than Back, or Close is called. It may be called once.
func (s *Stream) Serve(lines io.Reader, answers io.Writer) error {
	s.mu.Lock()
	s.pause.clock, _ = answers.(match.Holder)
	if s.conn == nil && !s.closed {
		s.awaitReturn()
	}
	s.updateClock()
	s.mu.Unlock()
	read := make(chan error, 1)
	go func() { read <- s.read(lines) }()
	wrote := make(chan error, 1)
	go func() { wrote <- s.write(answers) }()
	var err error
	select {
	case err = <-read:
	case err = <-wrote:
		if errors.Is(err, io.ErrClosedPipe) { // the lines end, too
			err = <-read
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endErr == nil {
		s.endErr = err
	}
	s.finish()
	return s.endErr
}

// finish ends the stream, under the lock.
func (s *Stream) finish() {
	s.closed = true
	if s.outbox.end == "" {
		s.outbox.end = "the lines have ended"
		if s.endErr != nil {
			s.outbox.end = s.endErr.Error()
		}
	}
	s.stopTimer()
	s.updateClock()
	s.signalChange()
}

func (s *Stream) stopTimer() {
	if s.lostTimer != nil {
		s.lostTimer.Stop()
		s.lostTimer = nil
	}
}

// awaitReturn begins the time to come back, under the lock.
func (s *Stream) awaitReturn() {
	s.stopTimer()
	if s.SlowAfter > 0 {
		return // check has the time
	}
	s.lostTimer = time.AfterFunc(s.ReturnTime, func() {
		s.Close(LostReason(s.ReturnTime))
	})
}

// LostReason returns the reason of a stream whose other end has stayed away for so long.
func LostReason(back time.Duration) fault.Reason {
	return fault.Reason{Kind: fault.ConnectionLost, Limit: int64(back / time.Second)}
}

// Close makes Serve return an error: a fault.Reason for a forfeit. The other end is told why.
func (s *Stream) Close(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.endErr = why
	s.finish()
}

// read takes lines up to their end. What a process writes behind its last LF is no line.
func (s *Stream) read(lines io.Reader) error {
	r := bufio.NewReaderSize(lines, protocol.MaxOutput)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("socket: a line is longer than %d bytes", protocol.MaxOutput)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := s.add(string(line[:len(line)-1])); err != nil {
			return err
		}
	}
}

// add adds a line for the other end.
func (s *Stream) add(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outbox.bytes+len(line) > MaxUnacked {
		return fault.Reason{Kind: fault.NotReading}
	}
	if s.closed {
		return nil
	}
	s.outbox.lines = append(s.outbox.lines, line)
	s.outbox.bytes += len(line)
	s.updateClock()
	s.signalChange()
	return nil
}

// write writes what comes from the other end, until the stream ends.
func (s *Stream) write(answers io.Writer) error {
	for {
		s.mu.Lock()
		for len(s.inbox.lines) == 0 && !s.closed && s.inbox.end == nil {
			changed := s.changeSignal
			s.mu.Unlock()
			<-changed
			s.mu.Lock()
		}
		if s.closed || len(s.inbox.lines) == 0 {
			defer s.mu.Unlock()
			return s.inbox.end
		}
		line := s.inbox.lines[0] + "\n"
		s.inbox.lines = s.inbox.lines[1:]
		s.mu.Unlock()
		if _, err := io.WriteString(answers, line); err != nil {
			return err
		}
		s.mu.Lock()
		s.inbox.bytes -= len(line)
		s.mu.Unlock()
	}
}

// Attach carries the lines over a connection until that breaks, another one takes over, or the
// other end has all lines of a stream that has ended. The error is then ErrEnded. The connection is
// closed when Attach returns.
func (s *Stream) Attach(c Wire) error {
	a := &attachment{Wire: c, lastAck: -1}
	s.mu.Lock()
	before := s.conn
	s.conn = a
	s.stopTimer()
	s.updateClock()
	s.signalChange()
	s.mu.Unlock()
	if before != nil {
		before.Close(ErrReplaced.Error())
	}
	received := make(chan error, 1)
	go func() { received <- s.receive(a) }()
	err := s.send(a, received)
	why := ""
	if err != nil {
		why = err.Error()
	}
	a.Close(why)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != a {
		return ErrReplaced
	}
	s.conn = nil
	if !s.closed {
		s.awaitReturn()
		s.updateClock()
	}
	return err
}

// HasHeard reports whether the other end has acknowledged or sent a line.
func (s *Stream) HasHeard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inbox.count > 0 || s.outbox.ackCount > 0
}

// maxBatch is the number of bytes of lines above which a frame gets no more.
const maxBatch = 16 << 10

// send sends frames over a connection until another connection takes over, the connection breaks,
// or the other end has all lines of a closed stream.
func (s *Stream) send(a *attachment, received <-chan error) error {
	var over <-chan time.Time
	for {
		s.mu.Lock()
		if s.conn != a { // another one has gone on, and has forgotten what it sent
			s.mu.Unlock()
			return ErrReplaced
		}
		changed := s.changeSignal
		frame, any := s.next(a)
		closed := s.closed
		done := a.endSent && s.outbox.ackCount == s.outbox.count()
		s.mu.Unlock()
		switch {
		case any:
			if err := a.Send(frame); err != nil {
				return err
			}
			continue
		case done:
			return ErrEnded
		}
		if closed && over == nil {
			timer := time.NewTimer(lingerTime)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-changed:
		case err := <-received:
			return err
		case <-over:
			return ErrEnded
		}
	}
}

// next returns the next frame for a connection, under the lock.
func (s *Stream) next(a *attachment) (f Frame, any bool) {
	f.Ack = s.inbox.count
	if !a.greeted {
		if any = a.lastAck < 0; any {
			a.lastAck = f.Ack
		}
		return f, any
	}
	f.Number = a.next
	for size := 0; a.next < s.outbox.count() && size < maxBatch; a.next++ {
		line := s.outbox.lines[a.next-s.outbox.base]
		f.Lines = append(f.Lines, line)
		size += len(line)
	}
	if s.closed && !a.endSent && a.next == s.outbox.count() {
		a.endSent, f.End = true, s.outbox.end
	}
	any = f.Lines != nil || f.End != "" || f.Ack != a.lastAck
	a.lastAck = f.Ack
	return f, any
}

func (s *Stream) receive(a *attachment) error {
	for {
		f, err := a.Receive()
		if err == nil {
			err = s.receiveFrame(a, f)
		}
		if err != nil {
			return err
		}
	}
}

// maxEnd is how many characters of what the other end says of its end are kept.
const maxEnd = 80

// receiveEnd notes why the other end sends no more lines, under the lock. Serve returns when the
// last lines are written.
func (s *Stream) receiveEnd(end string) {
	if end == "" || s.inbox.end != nil {
		return
	}
	detail := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, end)
	if len(detail) > maxEnd {
		detail = detail[:maxEnd] + "..."
	}
	s.inbox.end = fault.Reason{Kind: fault.Ended, Detail: detail}
	s.signalChange()
}

// receiveFrame handles a frame of the other end.
func (s *Stream) receiveFrame(a *attachment, f Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != a {
		return ErrReplaced
	}
	first, last := s.outbox.base, s.outbox.count()
	if f.Ack < first || f.Ack > last || a.greeted && f.Ack < s.outbox.ackCount {
		return fmt.Errorf("socket: line %d cannot be acknowledged: lines %d to %d wait for that", f.Ack, first, last)
	}
	defer s.updateClock()
	if !a.greeted {
		a.greeted, a.next = true, f.Ack
	}
	s.outbox.acknowledge(f.Ack, !s.RetainAll)
	s.signalChange()
	defer s.receiveEnd(f.End)
	if len(f.Lines) == 0 {
		return nil
	}
	if f.Number > s.inbox.count || f.Number < 0 {
		return fmt.Errorf("socket: line %d came, but line %d is the next", f.Number, s.inbox.count)
	}
	return s.receiveLines(f.Lines[min(s.inbox.count-f.Number, len(f.Lines)):])
}

// receiveLines adds new lines of the other end, under the lock.
func (s *Stream) receiveLines(lines []string) error {
	in := &s.inbox
	for _, line := range lines {
		if strings.Contains(line, "\n") {
			return errors.New("socket: a line has a line feed")
		}
		in.count++
		if in.flooded = in.flooded || in.bytes+len(line) >= MaxUnread; !in.flooded && !s.closed {
			in.lines = append(in.lines, line)
			in.bytes += len(line) + 1
		}
	}
	return nil
}
