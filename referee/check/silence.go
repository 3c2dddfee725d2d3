package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// silence finds out why no line came in time, unless one is there now, late by so much: it waits a
// little longer, then closes the bot's input and waits again. The process cannot be used afterwards.
func (s *session) silence(line []byte, by time.Duration, r fault.Reason, text string) *Failure {
	late := time.Now()
	because := func(l fault.Later, why string) *Failure {
		s.now.Later = l
		return s.fault(r, text+why)
	}
	answer, err := s.came(line), error(nil)
	if !answer {
		answer, err = s.await(late.Add(s.run.Patience))
		by = time.Since(late)
	}
	if answer {
		return because(fault.Came, fmt.Sprintf(": it came %d ms later", max(1, by.Milliseconds())))
	}
	if r, ok := errors.AsType[fault.Reason](err); ok {
		failure := because(fault.NeverCame, "")
		later := fault.New(0, 0, r)
		failure.Text += "; later " + later.TextIn(failure.circumstances)
		failure.Change = r.Advice(failure.circumstances)[0]
		return failure
	}
	if err != nil {
		return because(fault.NeverCame, "; later "+err.Error())
	}
	if rest := s.proc.Rest(); len(rest) > 0 {
		r = r.After(rest)
		return because(0, fmt.Sprintf(": the line %s does not end with a line feed", protocol.Quote(rest)))
	}
	if answer, _ = s.await(s.closed()); answer {
		return because(fault.CameAtEnd, ": it came only after the bot's input was closed, so it was stuck in a buffer")
	}
	return because(fault.NeverCame, ": it did not come later either, not even after the bot's input was closed")
}

// closed closes the bot's input and returns until when to wait for what it does then.
func (s *session) closed() time.Time {
	s.proc.CloseInput()
	return time.Now().Add(max(s.run.Patience, s.run.Grace))
}

// await reads lines until one is "ready" or a move, and ignores others. The error is
// why no more lines can come.
func (s *session) await(deadline time.Time) (answer bool, err error) {
	for {
		line, _, err := s.proc.Line(deadline)
		if errors.Is(err, referee.ErrLate) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if s.came(line) {
			return true, nil
		}
	}
}

// came keeps a late line, if there is one, and reports whether it is "ready" or a move.
func (s *session) came(line []byte) bool {
	if line == nil {
		return false
	}
	s.keep(true, line)
	msg, err := protocol.ParseBot(line)
	return err == nil && (msg.Verb == protocol.Move || msg.Verb == protocol.Ready)
}
