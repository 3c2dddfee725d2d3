package check

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
)

// failure converts err to a *Failure with an explanation if it is a fault of the bot. Otherwise it returns err
// unchanged, which may be nil.
func (s *session) failure(err error) error {
	r, ok := errors.AsType[fault.Reason](err)
	if !ok {
		return err
	}
	late, _ := errors.AsType[match.LateError](err)
	s.run.timer.credit += late.Credit
	switch r.Kind {
	case fault.Late, fault.LateBank:
		text := phrase.New("no move of ply %d within %d ms and the margin", s.game.state.State.Ply(), s.game.state.TimeLeft(s.game.seat).Milliseconds())
		return s.explainLate(late, text)
	case fault.NoReady:
		return s.explainLate(late, phrase.New("no \"ready\" within %d ms", r.Limit))
	}
	return s.fault(r, s.text(r), fault.LateAnswer{})
}

// fault returns the failure for a fault of the bot, with advice. r is the reason that would be recorded in a match.
// text says what happened and what the bot should have done. late says when a late answer came, if there was one.
func (s *session) fault(r fault.Reason, text phrase.Text, late fault.LateAnswer) *Failure {
	f := s.newFailure(text, phrase.Text{})
	var c fault.Circumstances
	if s.game != nil { // the error is always nil: the record is that of a possible game
		state := s.game.state
		c, _ = state.Record.Circumstances(s.game.variant.Game, fault.New(s.game.seat, state.State.Ply(), r), nil)
	}
	c.History.Games, c.History.Act, c.Answer = s.games, s.last.act, late
	c.Fixed, c.Log.Lines = s.run.OnServer, fault.Lines(s.tail.stderr.Bytes())
	f.Reason, f.circumstances = r, s.run.program.Describe(c, !s.run.OnServer)
	if saw := r.Evidence(f.circumstances); !saw.IsZero() {
		f.Text = phrase.New("%s: %s", f.Text, saw)
	}
	f.Change = r.Advice(f.circumstances)[0]
	return f
}

// markLeftOver changes the text and the advice of a failure that does not happen again when a new process of the bot
// plays the same game. The cause is then something that earlier games left in the old process.
func (f *Failure) markLeftOver() {
	f.Text = phrase.New("%s; a fresh process plays the same game without a fault", f.Text)
	f.circumstances.LeftOver = true
	f.Change = f.Reason.Advice(f.circumstances)[0]
}

// text describes the fault with the reason r. If the bot should have given an answer instead, it also describes that
// answer.
func (s *session) text(r fault.Reason) phrase.Text {
	r.BeforeReady = false // the text says which answer was awaited
	line := protocol.Quote([]byte(r.Line))
	switch r.Kind {
	case fault.MoveBeforeReady:
		return phrase.New("%s came before \"ready\"", line)
	case fault.ReadyAgain:
		return phrase.New("%s came again, after %s: only the line \"timba 1\" asks for it", line, s.last.text)
	case fault.MoveUnasked:
		if s.last.act == fault.Moved {
			return phrase.New("%s came when no move was asked for, after %s: one turn was answered twice", line, s.last.text)
		}
		return phrase.New("%s came when no move was asked for, after %s", line, s.last.text)
	case fault.IllegalMove:
		why := phrase.New("it is not spelled as in the list")
		if strings.HasPrefix(r.Detail, strconv.Quote(string(r.Move))) {
			why = phrase.Plain(r.Detail)
		}
		return phrase.New("the move %q is not in the list of its turn: %s", string(r.Move), why)
	}
	text := r.Short()
	switch {
	case r.Code() != protocol.Exit || r.UnfinishedLine != "":
		return text
	case !s.expectedAnswer.IsZero():
		return phrase.New("%s instead of sending %s", text, s.expectedAnswer)
	}
	return phrase.New("%s, after %s", text, s.last.text)
}

// explainLate finds out why an answer is late and returns the failure, whose text begins with text. First it waits a
// little longer for the answer. Then it closes the bot's input and waits again. The bot's process cannot be used
// afterwards.
func (s *session) explainLate(late match.LateError, text phrase.Text) *Failure {
	r := late.Reason
	r.UnfinishedLine = ""
	began, by, never := time.Now(), late.Delay, fault.LateAnswer{Arrival: fault.NeverCame}
	came, err := s.proc.AwaitLate(late, s.run.Waits.Patience)
	if late.ArrivedAt.IsZero() {
		by = time.Since(began)
	}
	if !came.IsZero() {
		took := came.Sub(late.TurnStart) - late.Credit
		return s.fault(r, phrase.New("%s: it came %d ms later", text, max(1, by.Milliseconds())), fault.LateAnswer{Arrival: fault.Came, Took: took.Milliseconds()})
	}
	if then, ok := errors.AsType[fault.Reason](err); ok {
		failure := s.fault(r, text, never)
		later := fault.New(0, 0, then)
		failure.Text = phrase.New("%s; later %s", text, later.TextIn(failure.circumstances))
		failure.Change = then.Advice(failure.circumstances)[0]
		return failure
	}
	if err != nil {
		return s.fault(r, phrase.New("%s; later %s", text, err), never)
	}
	if rest := s.Rest(); len(rest) > 0 {
		return s.fault(r.WithUnfinishedLine(rest), phrase.New("%s: the line %s does not end with a line feed", text, protocol.Quote(rest)), fault.LateAnswer{})
	}
	if came, _ := s.proc.AwaitLate(late, time.Until(s.closeInput())); !came.IsZero() {
		return s.fault(r, phrase.New("%s: it came only after the bot's input was closed, so it was stuck in a buffer", text), fault.LateAnswer{Arrival: fault.CameAtEnd})
	}
	return s.fault(r, phrase.New("%s: it did not come later either, not even after the bot's input was closed", text), never)
}

// closeInput closes the bot's input. It returns the time until which to wait for the bot to react.
func (s *session) closeInput() time.Time {
	s.proc.CloseInput()
	return time.Now().Add(max(s.run.Waits.Patience, s.run.Waits.Grace))
}
