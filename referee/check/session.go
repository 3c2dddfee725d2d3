package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
)

// session is one process of the bot, and the last lines through its pipes.
type session struct {
	run   *run
	proc  process
	now   fault.Circumstances // of a fault at this moment
	where string              // the game in progress
	last  string              // what the bot was sent or did last, in words
	tail  []Line
	log   []byte // the end of its stderr
	wrote int    // bytes on stderr in this game
}

// process is what a session needs of a *referee.Process.
type process interface {
	Begin(now time.Time, left time.Duration) error
	Limit(since time.Time, left, margin time.Duration) referee.Limit
	Send(lines []byte, l referee.Limit) error
	Line(deadline time.Time) (line []byte, at time.Time, err error)
	Answer(l referee.Limit) (line []byte, at time.Time, credit time.Duration, err error)
	Rest() []byte
	Late(l referee.Limit, now time.Time, answered bool) (credit time.Duration, until time.Time, err error)
	Lost(since, now time.Time, answered bool) cores.Lost
	Answered()
	Stderr() []byte
	CloseInput()
	Wait(deadline time.Time) (end referee.End, ok bool)
	Close()
}

// start is Options.start, except in tests.
func start(ctx context.Context, b referee.Bot) (process, error) {
	p, err := referee.Start(ctx, b)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// How much a failure shows: lines of both sides, bytes and lines of stderr.
const (
	tailLines = 10
	tailLog   = 4 << 10
	logLines  = 8
)

// launch starts a process and greets it. The error is a *Failure if it is the bot's
// fault.
func (k *run) launch() (*session, error) {
	s := &session{run: k, last: "it was started"}
	began := time.Now()
	var err error
	if s.proc, err = k.Options.start(k.ctx, k.program.Bot); err != nil {
		return nil, s.blame(err, "")
	}
	limit := s.proc.Limit(began, k.Clock.Startup, 0)
	if err := s.send(protocol.AppendGreeting(nil), limit); err != nil {
		s.close()
		return nil, err
	}
	if err := s.greet(began, limit); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) greet(began time.Time, limit referee.Limit) error {
	for {
		msg, line, at, credit, err := s.answer(limit, "\"ready\"")
		if errors.Is(err, referee.ErrLate) {
			limit := s.run.Clock.Startup.Milliseconds()
			return s.silence(line, at.Sub(began)-credit-s.run.Clock.Startup, fault.Reason{Kind: fault.NoReady, Limit: limit}, fmt.Sprintf("no \"ready\" within %d ms", limit))
		}
		if err != nil {
			return err
		}
		switch msg.Verb {
		case protocol.Ready:
			took := s.own(began, at, credit)
			s.proc.Answered()
			s.did("its \"ready\"", 0)
			s.run.started(took, msg)
			return nil
		case protocol.Move:
			return s.fault(about(fault.MoveBeforeReady, line), fmt.Sprintf("%s came before \"ready\"", protocol.Quote(line)))
		}
	}
}

// did records what the bot was sent or did last.
func (s *session) did(last string, did fault.Did) { s.last, s.now.Did = last, did }

// send writes lines. The next read reports a bot that has ended.
func (s *session) send(lines []byte, l referee.Limit) error {
	if err := s.run.ctx.Err(); err != nil {
		return err // a bot that always answers never makes the referee wait, and look
	}
	if yield := s.run.Yield; yield != nil {
		if err := yield(s.run.own()); err != nil {
			return err
		}
	}
	for line := range bytes.Lines(lines) {
		s.keep(false, bytes.TrimSuffix(line, []byte("\n")))
	}
	if err := s.proc.Send(lines, l); err != nil {
		return s.blame(err, "")
	}
	return nil
}

// answer reads and parses a line of the bot, which has so much time for its answer; want is the
// expected one, for the text of a failure. The credit is that of a late line. The error is ErrLate,
// *referee.Starved, a *Failure if it is the bot's fault, or internal.
func (s *session) answer(l referee.Limit, want string) (msg protocol.BotLine, line []byte, at time.Time, credit time.Duration, err error) {
	line, at, credit, err = s.proc.Answer(l)
	if errors.Is(err, referee.ErrLate) {
		s.run.credit += credit
	}
	msg, err = s.parse(line, err, want)
	return msg, line, at, credit, err
}

// parse parses a line of the bot, unless reading it failed with err; want is as in answer.
func (s *session) parse(line []byte, err error, want string) (msg protocol.BotLine, _ error) {
	if err != nil {
		if !errors.Is(err, referee.ErrLate) {
			err = s.blame(err, want)
		}
		return msg, err
	}
	s.keep(true, line)
	msg, err = protocol.ParseBot(line)
	if err != nil {
		return msg, s.garbled(err)
	}
	s.run.extras.line(msg, line)
	return msg, nil
}

// own returns the bot's own time of an answer that has come now; the credit is known where it was late.
func (s *session) own(since, at time.Time, credit time.Duration) time.Duration {
	took := at.Sub(since)
	if credit == 0 && took > referee.LeastPaid {
		credit = s.proc.Lost(since, at, true).Known
	}
	s.run.credit += credit
	return took - credit
}

// keep records a line, for failures to show.
func (s *session) keep(fromBot bool, line []byte) {
	text := strconv.QuoteToASCII(string(line))
	text = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text[1 : len(text)-1])
	s.tail = append(s.tail, Line{fromBot, text})
	if n := len(s.tail); n > tailLines {
		s.tail = append(s.tail[:0], s.tail[n-tailLines:]...)
	}
}

// listen reads what is on stderr now.
func (s *session) listen() {
	data := s.proc.Stderr()
	s.wrote += len(data)
	s.run.extras.stderr(data, s.wrote)
	s.log = append(s.log, data...)
	if n := len(s.log); n > tailLog {
		s.log = append(s.log[:0], s.log[n-tailLog:]...)
	}
}

// fail makes a failure from what happened and what to change.
func (s *session) fail(text, change string) *Failure {
	f := &Failure{Text: text, Where: s.where, Lines: append([]Line{}, s.tail...), Stderr: []string{}, Change: change}
	if s.proc == nil {
		return f
	}
	s.listen()
	f.Stderr = logEnd(string(s.log))
	return f
}

// logEnd returns the part of a log that describes a crash.
func logEnd(log string) []string {
	shown := []string{}
	for _, line := range fault.LogEnd(fault.Lines([]byte(strings.TrimSpace(log))), logLines) {
		quoted := strconv.QuoteToASCII(strings.TrimRight(line, "\r "))
		quoted = strings.NewReplacer(`\"`, `"`, `\t`, "  ", `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
		if quoted != "" {
			shown = append(shown, quoted)
		}
	}
	return shown
}

// close ends the process without "bye".
func (s *session) close() {
	s.listen()
	s.proc.Close()
}
