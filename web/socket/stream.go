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

// Frame is one message between two ends. The first frame of each end on a connection tells with
// Ack where it goes on; lines follow after the other end's first frame.
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
	Back time.Duration // for the other end to come, and to come back; 0: DefaultBack
	// Replay keeps all lines, acknowledged or not, for another end that begins anew: the page of
	// a game that was loaded again.
	Replay bool
	// Slow, if not 0, makes the clock of the bot stand still while there is no connection, and
	// while a line waits for longer than that to be acknowledged. Back is then the time for
	// all of that together, after which the connection counts as lost.
	Slow time.Duration
}

// DefaultBack is enough for a page that is loaded again.
const DefaultBack = 60 * time.Second

// The bounds of what waits, in bytes: MaxKept for the other end; MaxUnread from the other end, to be
// read. What comes above it is dropped. It is more than the referee allows between two turns: dropped
// lines are those of a seat that has already forfeited.
const (
	MaxKept   = 4 << 20
	MaxUnread = protocol.MaxOutput + 2*protocol.MaxLine
)

// lingerTime is that for the last lines to arrive.
const lingerTime = 5 * time.Second

// Errors of Attach.
var (
	ErrTaken = errors.New("socket: another connection has taken over")
	ErrEnded = errors.New("socket: the game has ended")
)

// Stream is one end of the lines of one bot, for one call of Serve: on the server it is a match.Bot's
// Serve, at the other end of the wire it stands between a process and the connection, or is the
// script of a page. Both ends number their lines and keep them until the other end has acknowledged
// them, so that a new connection goes on where the last one broke: no line is lost, and none comes
// twice.
type Stream struct {
	StreamOptions
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	sent    []string      // lines for the other end, from number base
	base    int
	acked   int // lines that the other end has
	kept    int // bytes of sent
	got     int // lines that have come
	unread  []string
	waiting int // bytes of unread
	conn    *attached
	lost    *time.Timer
	why     error // why Serve returns before its lines end
	closed  bool  // Serve returns, or has returned
	flooded bool  // lines were dropped
	gone    error // the other end has ended, and sends no more lines
	still   still
	end     string // for the other end, after the last line
	ended   bool   // no more lines for the other end
}

// attached is what one connection knows.
type attached struct {
	Wire
	next  int  // number of the next line to send
	told  int  // the last Ack that was sent
	heard bool // the first frame of the other end has come
	over  bool // End was sent
}

// NewStream returns a stream that waits for a connection.
func NewStream(o StreamOptions) *Stream {
	o.Back = cmp.Or(o.Back, DefaultBack)
	return &Stream{StreamOptions: o, changed: make(chan struct{})}
}

// change tells all waiters, under the lock.
func (s *Stream) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Serve sends lines to the other end, and writes what it answers, until the lines end, the other
// end stays away for longer than Back, or Close is called. It may be called once.
func (s *Stream) Serve(lines io.Reader, answers io.Writer) error {
	s.mu.Lock()
	s.still.clock, _ = answers.(match.Holder)
	if s.conn == nil && !s.closed {
		s.awaitReturn()
	}
	s.check()
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
	if s.why == nil {
		s.why = err
	}
	s.finish()
	return s.why
}

// finish ends the stream, under the lock.
func (s *Stream) finish() {
	s.closed, s.ended = true, true
	if s.end == "" {
		s.end = "the lines have ended"
		if s.why != nil {
			s.end = s.why.Error()
		}
	}
	s.stopTimer()
	s.check()
	s.change()
}

func (s *Stream) stopTimer() {
	if s.lost != nil {
		s.lost.Stop()
		s.lost = nil
	}
}

// awaitReturn begins the time to come back, under the lock.
func (s *Stream) awaitReturn() {
	s.stopTimer()
	if s.Slow > 0 {
		return // check has the time
	}
	s.lost = time.AfterFunc(s.Back, func() {
		s.Close(Lost(s.Back))
	})
}

// Lost returns the reason of a stream whose other end has stayed away for so long.
func Lost(back time.Duration) fault.Reason {
	return fault.Reason{Kind: fault.ConnectionLost, Limit: int64(back / time.Second)}
}

// Close makes Serve return an error: a fault.Reason for a forfeit. The other end is told why.
func (s *Stream) Close(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.why = why
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
	if s.kept+len(line) > MaxKept {
		return fault.Reason{Kind: fault.NotReading}
	}
	if s.ended {
		return nil
	}
	s.sent = append(s.sent, line)
	s.kept += len(line)
	s.check()
	s.change()
	return nil
}

// write writes what comes from the other end, until the stream ends.
func (s *Stream) write(answers io.Writer) error {
	for {
		s.mu.Lock()
		for len(s.unread) == 0 && !s.closed && s.gone == nil {
			changed := s.changed
			s.mu.Unlock()
			<-changed
			s.mu.Lock()
		}
		if s.closed || len(s.unread) == 0 {
			defer s.mu.Unlock()
			return s.gone
		}
		line := s.unread[0] + "\n"
		s.unread = s.unread[1:]
		s.mu.Unlock()
		if _, err := io.WriteString(answers, line); err != nil {
			return err
		}
		s.mu.Lock()
		s.waiting -= len(line)
		s.mu.Unlock()
	}
}

// Attach carries the lines over a connection until that breaks, another one takes over, or the
// other end has all lines of a stream that has ended. The error is then ErrEnded. The connection is
// closed when Attach returns.
func (s *Stream) Attach(c Wire) error {
	a := &attached{Wire: c, told: -1}
	s.mu.Lock()
	before := s.conn
	s.conn = a
	s.stopTimer()
	s.check()
	s.change()
	s.mu.Unlock()
	if before != nil {
		before.Close(ErrTaken.Error())
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
		return ErrTaken
	}
	s.conn = nil
	if !s.closed {
		s.awaitReturn()
		s.check()
	}
	return err
}

// Heard reports whether the other end has acknowledged or sent a line.
func (s *Stream) Heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got > 0 || s.acked > 0
}

// maxBatch is the number of bytes of lines above which a frame gets no more.
const maxBatch = 16 << 10

// send sends what there is to send, until the connection is no longer the stream's.
func (s *Stream) send(a *attached, received <-chan error) error {
	var over <-chan time.Time
	for {
		s.mu.Lock()
		if s.conn != a { // another one has gone on, and has forgotten what it sent
			s.mu.Unlock()
			return ErrTaken
		}
		changed := s.changed
		frame, any := s.next(a)
		ended := s.ended
		done := a.over && s.acked == s.base+len(s.sent)
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
		if ended && over == nil {
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
func (s *Stream) next(a *attached) (f Frame, any bool) {
	f.Ack = s.got
	if !a.heard {
		if any = a.told < 0; any {
			a.told = s.got
		}
		return f, any
	}
	f.Number = a.next
	for size := 0; a.next < s.base+len(s.sent) && size < maxBatch; a.next++ {
		line := s.sent[a.next-s.base]
		f.Lines = append(f.Lines, line)
		size += len(line)
	}
	if s.ended && !a.over && a.next == s.base+len(s.sent) {
		a.over, f.End = true, s.end
	}
	any = f.Lines != nil || f.End != "" || s.got != a.told
	a.told = s.got
	return f, any
}

func (s *Stream) receive(a *attached) error {
	for {
		f, err := a.Receive()
		if err == nil {
			err = s.take(a, f)
		}
		if err != nil {
			return err
		}
	}
}

// maxEnd is how many characters of what the other end says of its end are kept.
const maxEnd = 80

// farewell notes that the other end has ended, under the lock. Serve returns when its last lines
// are read.
func (s *Stream) farewell(end string) {
	if end == "" || s.gone != nil {
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
	s.gone = fault.Reason{Kind: fault.Ended, Detail: detail}
	s.change()
}

// take takes a frame of the other end.
func (s *Stream) take(a *attached, f Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != a {
		return ErrTaken
	}
	last := s.base + len(s.sent)
	if f.Ack < s.base || f.Ack > last || a.heard && f.Ack < s.acked {
		return fmt.Errorf("socket: line %d cannot be acknowledged: lines %d to %d wait for that", f.Ack, s.base, last)
	}
	s.acked = f.Ack
	defer s.check()
	if !a.heard {
		a.heard, a.next = true, f.Ack
	}
	if !s.Replay {
		for _, line := range s.sent[:f.Ack-s.base] {
			s.kept -= len(line)
		}
		s.sent = slices.Delete(s.sent, 0, f.Ack-s.base)
		s.base = f.Ack
	}
	s.change()
	defer s.farewell(f.End)
	if len(f.Lines) == 0 {
		return nil
	}
	if f.Number > s.got || f.Number < 0 {
		return fmt.Errorf("socket: line %d came, but line %d is the next", f.Number, s.got)
	}
	return s.keep(f.Lines[min(s.got-f.Number, len(f.Lines)):])
}

// keep keeps new lines until they are read, under the lock.
func (s *Stream) keep(lines []string) error {
	for _, line := range lines {
		if strings.Contains(line, "\n") {
			return errors.New("socket: a line has a line feed")
		}
		s.got++
		if s.flooded = s.flooded || s.waiting+len(line) >= MaxUnread; !s.flooded && !s.closed {
			s.unread = append(s.unread, line)
			s.waiting += len(line) + 1
		}
	}
	return nil
}
