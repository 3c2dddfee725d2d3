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

// Frame is one message between the two ends of a LineStream. Each end numbers its lines from 0. The first
// frame from each end on a new connection has only Ack: it says which line the other end has to send next.
// Later frames have lines.
type Frame struct {
	Number int      `json:"n,omitempty"` // number of the first of Lines
	Lines  []string `json:"lines,omitempty"`
	Ack    int      `json:"ack"`           // how many lines of the other end have arrived in total
	End    string   `json:"end,omitempty"` // why no more lines follow; sent after the last line
}

// Wire is a connection under a LineStream. Send and Receive may each be called by one goroutine at a time. Any
// goroutine may call Close, which makes pending calls of Send and Receive fail, and sends the reason why to the other
// end.
type Wire interface {
	Send(Frame) error // returns in bounded time
	Receive() (Frame, error)
	Close(why string)
}

// LineStreamOptions are the options of a stream.
type LineStreamOptions struct {
	ReturnTime time.Duration // how long the other end may take to connect, and to connect again; 0 means DefaultReturnTime
	// RetainAll makes the stream retain acknowledged lines, too. A page that is loaded again in the middle of
	// a game then gets all lines from the beginning.
	RetainAll bool
	// SlowAfter, if not 0, makes the stream stop the bot's clock while there is no connection, or while a line has
	// waited for its acknowledgement for longer than SlowAfter. When the clock has been stopped for ReturnTime in
	// total, the bot's connection counts as lost. It counts as too slow instead if a connection existed for at least
	// half of that time.
	SlowAfter time.Duration
}

// DefaultReturnTime is the usual time to connect again. It is enough to load a page again.
const DefaultReturnTime = 60 * time.Second

// MaxUnacked and MaxUnread limit the lines that a stream holds, in bytes. If the other end has not acknowledged
// more than MaxUnacked, Serve fails with fault.NotReading. If the lines from the other end that Serve has not yet
// written exceed MaxUnread, further lines are dropped. The referee allows less output between two turns, so the
// seat has already forfeited by then.
const (
	MaxUnacked = 4 << 20
	MaxUnread  = protocol.MaxOutput + 2*protocol.MaxLine
)

// lingerTime is how long a closed stream waits for the other end to acknowledge its last lines.
const lingerTime = 5 * time.Second

// ErrReplaced and ErrEnded are errors with which Attach returns although its connection still works.
var (
	ErrReplaced = errors.New("socket: another connection has taken over")
	ErrEnded    = errors.New("socket: the game has ended")
)

// LineStream is one end of a stream of the protocol lines of one bot. The stream goes over connections that may
// break. Both ends number their lines and retain them until the other end acknowledges them. So a new connection
// continues where the last one broke, and no line is lost or delivered twice.
//
// On the server, the method Serve of a LineStream serves as match.Contestant.Serve. At the other end, a LineStream is
// between the bot's process and the connection; in a browser, a script does the same.
type LineStream struct {
	LineStreamOptions
	mu           sync.Mutex
	changeSignal chan struct{} // closed and replaced at every change
	outbox       outbox
	inbox        inbox
	conn         *attachment // nil while there is no connection
	lostTimer    *time.Timer // fires when the other end has been away for ReturnTime; nil while it is connected or if SlowAfter is set
	pause        pause
	endErr       error // the error that Serve returns
	closed       bool  // Close was called or Serve has ended
}

// outbox holds the lines for the other end until it has acknowledged them.
type outbox struct {
	lines    []string
	base     int    // number of the first of lines
	ackCount int    // how many lines the other end has, counted from line 0
	bytes    int    // total size of lines
	end      string // why no more lines follow; "" before the stream is closed
}

func (o *outbox) count() int { return o.base + len(o.lines) }

// acknowledge records that the other end has received all lines with numbers below n. If drop is true, these lines
// are removed from the outbox.
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

// inbox holds the lines from the other end until Serve has written them.
type inbox struct {
	lines   []string
	count   int   // how many lines have arrived, counted from line 0
	bytes   int   // total size of lines with their line feeds
	flooded bool  // a line was dropped because too much waits; all later lines are dropped, too
	end     error // why the other end sends no more lines; nil before it says so
}

type attachment struct {
	Wire
	next    int  // number of the next line to send
	lastAck int  // last Ack sent; -1 before the first
	greeted bool // the first frame of the other end has arrived
	endSent bool // the frame with Frame.End has been sent
}

// NewLineStream returns a stream without a connection. Attach gives it one.
func NewLineStream(o LineStreamOptions) *LineStream {
	o.ReturnTime = cmp.Or(o.ReturnTime, DefaultReturnTime)
	return &LineStream{LineStreamOptions: o, changeSignal: make(chan struct{})}
}

// signalChange wakes all goroutines that wait for a change of the stream. The caller holds s.mu.
func (s *LineStream) signalChange() {
	close(s.changeSignal)
	s.changeSignal = make(chan struct{})
}

// Serve sends lines to the other end, and writes the lines that come from the other end to answers. It returns nil
// when the reader lines ends. Otherwise it returns an error: Close was called, the other end has ended the stream or
// was away for longer than ReturnTime, or reading lines or writing answers failed. It may be called once.
func (s *LineStream) Serve(lines io.Reader, answers io.Writer) error {
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

// finish marks the stream as closed and lets its goroutines end. The caller holds s.mu.
func (s *LineStream) finish() {
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

func (s *LineStream) stopTimer() {
	if s.lostTimer != nil {
		s.lostTimer.Stop()
		s.lostTimer = nil
	}
}

// awaitReturn starts the timer that ends the stream unless the other end connects within ReturnTime. The
// caller holds s.mu.
func (s *LineStream) awaitReturn() {
	s.stopTimer()
	if s.SlowAfter > 0 {
		return // updateClock measures the time
	}
	s.lostTimer = time.AfterFunc(s.ReturnTime, func() {
		s.Close(LostReason(s.ReturnTime))
	})
}

// LostReason returns the fault of a bot whose connection was away for longer than returnTime.
func LostReason(returnTime time.Duration) fault.Reason {
	return fault.Reason{Kind: fault.ConnectionLost, Limit: int64(returnTime / time.Second)}
}

// Close ends the stream. It makes Serve return why, and sends the text of this error to the other end. If why is a
// fault.Reason, the bot forfeits its game.
func (s *LineStream) Close(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.endErr = why
	s.finish()
}

// read adds the lines that it reads from lines to the outbox, until the reader ends. It ignores text after the last
// line feed. It returns an error if a line is longer than protocol.MaxOutput, or if the other end does not read the
// lines.
func (s *LineStream) read(lines io.Reader) error {
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

func (s *LineStream) add(line string) error {
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

// write writes the lines that arrive from the other end to answers until the stream ends. If the other end
// sends no more lines, write returns the reason.
func (s *LineStream) write(answers io.Writer) error {
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

// Attach exchanges the lines over connection c. It returns when c breaks, when another call of Attach replaces c
// (ErrReplaced), or when the stream has ended (ErrEnded). After the end of the stream, it first waits up to
// lingerTime for the other end to acknowledge all lines. It closes c before it returns.
func (s *LineStream) Attach(c Wire) error {
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

// HasHeard reports whether the other end has ever sent or acknowledged a line.
func (s *LineStream) HasHeard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inbox.count > 0 || s.outbox.ackCount > 0
}

// maxBatch limits how many lines go into one frame: once they have this many bytes together, further lines go into
// the next frame.
const maxBatch = 16 << 10

// send sends frames over connection a. It returns an error when a breaks, when another connection replaces a
// (ErrReplaced), or when the stream has ended (ErrEnded). The channel received gets the error with which reading from
// a fails.
func (s *LineStream) send(a *attachment, received <-chan error) error {
	var over <-chan time.Time
	for {
		s.mu.Lock()
		if s.conn != a { // another connection has taken over
			s.mu.Unlock()
			return ErrReplaced
		}
		changed := s.changeSignal
		frame, any := s.nextFrame(a)
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

// nextFrame returns the next frame to send over connection a, and records it as sent. If there is nothing to send,
// any is false. The caller holds s.mu.
func (s *LineStream) nextFrame(a *attachment) (f Frame, any bool) {
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

func (s *LineStream) receive(a *attachment) error {
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

// maxEnd is the largest number of characters that the stream keeps of the other end's reason for ending.
const maxEnd = 80

// receiveEnd records end, the reason why the other end sends no more lines, or "" if it sends more. After such a
// reason, Serve writes the lines that have arrived and returns. The caller holds s.mu.
func (s *LineStream) receiveEnd(end string) {
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

func (s *LineStream) receiveFrame(a *attachment, f Frame) error {
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

// receiveLines adds lines that the other end has sent to the inbox. It drops them if more than MaxUnread
// bytes wait there. The caller holds s.mu.
func (s *LineStream) receiveLines(lines []string) error {
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
