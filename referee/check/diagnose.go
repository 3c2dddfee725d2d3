package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
)

// fault makes a failure with the reason that a match would give; the text adds what
// the bot had to do.
func (s *session) fault(r fault.Reason, text string) *Failure {
	f := s.fail(text, "")
	f.Reason, f.circumstances = r, s.now
	f.circumstances = s.run.program.Describe(f.circumstances, !s.run.Served)
	f.circumstances.Fixed, f.circumstances.Stderr = s.run.Served, fault.Lines(s.log)
	f.Change = r.Advice(f.circumstances)[0]
	return f
}

// blame makes a failure of a process's fault; want is the answer that was expected,
// "" for none. Errors that are not the bot's fault are returned unchanged.
func (s *session) blame(err error, want string) error {
	r, ok := errors.AsType[fault.Reason](err)
	if !ok {
		return err
	}
	text := r.Text()
	switch {
	case r.Code() != protocol.Exit || r.Unfinished != "":
	case want != "":
		text += fmt.Sprintf(" instead of sending %s", want)
	default:
		text += ", after " + s.last
	}
	failure := s.fault(r, text)
	failure.exit = !slices.Contains([]protocol.Code{protocol.Startup, protocol.Timeout, protocol.Output, protocol.Garbled}, r.Code())
	if saw := r.Saw(failure.circumstances); saw != "" {
		failure.Text += ": " + saw
	}
	return failure
}

// leftOver changes a failure that a fresh process does not repeat: its cause is left
// over from earlier games.
func (f *Failure) leftOver() {
	f.Text += "; a fresh process plays the same game without a fault"
	f.circumstances.LeftOver = true
	f.Change = f.Reason.Advice(f.circumstances)[0]
}

// unasked returns the failure of a move without a turn.
func (s *session) unasked(line []byte) *Failure {
	text := fmt.Sprintf("%s came when no move was asked for, after %s", protocol.Quote(line), s.last)
	if s.now.Did == fault.Moved {
		text += ": one turn was answered twice"
	}
	return s.fault(about(fault.MoveUnasked, line), text)
}

func (s *session) readyAgain(line []byte) *Failure {
	return s.fault(about(fault.ReadyAgain, line),
		fmt.Sprintf("%s came again, after %s: only the line \"timba 1\" asks for it", protocol.Quote(line), s.last))
}

func about(k fault.Kind, line []byte) fault.Reason {
	return fault.Reason{Kind: k, Line: fault.Raw(protocol.Clip(line))}
}

// garbled returns the failure of a line that is not part of the protocol.
func (s *session) garbled(err error) *Failure {
	var e *protocol.LineError
	errors.As(err, &e)
	return s.fault(fault.OfLine(err), e.Seen())
}

// illegal returns the failure of a move that is not in the list of its turn. Other errors are returned
// unchanged.
func (t *table) illegal(err error) error {
	r, ok := errors.AsType[fault.Reason](err)
	if !ok {
		return err
	}
	why, prefixed := strings.CutPrefix(r.Detail, t.variant.Game().Name()+": ")
	if !prefixed {
		why = "it is not spelled as in the list"
	}
	r.Detail = why
	return t.fault(r, fmt.Sprintf("the move %q is not in the list of its turn: %s", string(r.Move), why))
}
