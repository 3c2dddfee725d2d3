package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// silence finds out why there was no line in time: it waits for the answer some
// more, then ends the bot's input and looks whether that brings it out. The
// process is of no use after that.
func (s *session) silence(want string, limit time.Duration) *Failure {
	late := time.Now()
	text := fmt.Sprintf("no %s within %d ms and the margin", noun(want), limit.Milliseconds())
	if want == "\"ready\"" {
		text = fmt.Sprintf("no \"ready\" within %d ms", limit.Milliseconds())
	}
	answer, err := s.await(late.Add(s.kit.Patience))
	if answer {
		return s.fail(fmt.Sprintf("%s: it came %d ms after that", text, max(1, time.Since(late).Milliseconds())), s.lateAdvice(want))
	}
	if err != nil {
		return s.silent(text+"; later "+err.Error(), want)
	}
	if rest := s.proc.Rest(); len(rest) > 0 {
		return s.fail(fmt.Sprintf("%s: the line %s is not ended by a line feed", text, protocol.Quote(rest)),
			"end every line with a line feed (\"\\n\") and flush it")
	}
	s.proc.CloseInput()
	if answer, _ = s.await(time.Now().Add(s.kit.Patience)); answer {
		return s.fail(text+": it came out only when the bot's input was closed, so it was stuck in a buffer",
			"flush the output after every line: "+flushIn(s.kit.report.Bot.Language)+". Or does the bot wait for more input before it answers? Then read line by line, not up to the end of stdin")
	}
	return s.silent(text+": it did not come later either, nor when the bot's input was closed", want)
}

// noun makes "the move of ply 3" fit behind "no".
func noun(want string) string {
	if len(want) > 4 && want[:4] == "the " {
		return want[4:]
	}
	return want
}

// await reads lines until one is an answer or a move; what else comes is of no
// matter here. The error is why no more can come.
func (s *session) await(deadline time.Time) (answer bool, err error) {
	for {
		line, _, err := s.proc.Line(deadline)
		if errors.Is(err, referee.ErrLate) {
			return false, nil
		}
		if err != nil {
			var f *referee.Fault
			if errors.As(err, &f) {
				err = errors.New(f.Text)
			}
			return false, err
		}
		s.keep(true, line)
		if msg, err := protocol.ParseBot(line); err == nil && (msg.Verb == protocol.Move || msg.Verb == protocol.Ready) {
			return true, nil
		}
	}
}

// silent is the failure of a bot that has nothing to say at all.
func (s *session) silent(text, want string) *Failure {
	if want == "\"ready\"" {
		return s.fail(text, "answer the line \"timba 1\" with \"ready\" and flush the output: "+flushIn(s.kit.report.Bot.Language))
	}
	return s.fail(text, "look for a turn that the bot forgets to answer, an endless loop, or output in a buffer that is never flushed: "+flushIn(s.kit.report.Bot.Language))
}

func (s *session) lateAdvice(want string) string {
	if want == "\"ready\"" {
		return "answer \"timba 1\" sooner and load less before it, or allow more time with --startup"
	}
	return "think for less than the milliseconds that the turn line gives (its third word): measure from when the line was read, and leave some for the answer to arrive"
}
