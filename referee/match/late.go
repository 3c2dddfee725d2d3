package match

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// StarvedError is the error of a game that is void because other programs used the cores: a late bot lost
// more time to them than can be credited.
type StarvedError struct {
	Bot      string        // name of the late bot
	TurnTime time.Duration // elapsed time of the turn
	LostTime time.Duration // the part of TurnTime that other programs took
}

func (s *StarvedError) Error() string {
	return fmt.Sprintf("the machine is too busy: %q had no core for %d of the %d ms of a turn", s.Bot, s.LostTime.Milliseconds(), s.TurnTime.Milliseconds())
}

// LateError is the fault of a bot that is late even after its credit is subtracted.
type LateError struct {
	fault.Reason
	Credit    time.Duration // see fairclock.Verdict
	Delay     time.Duration // how late the bot is after Credit is subtracted
	TurnStart time.Time     // when the turn began
	ArrivedAt time.Time     // when the answer came; zero if it has not come
}

// Unwrap returns the reason.
func (o LateError) Unwrap() error { return o.Reason }

// allowance returns how long a bot may take for an answer. left is the time on its clock.
func (s *seat) allowance(start time.Time, left, margin time.Duration) fairclock.Allowance {
	a := fairclock.NewAllowance(start, left, margin)
	if s.anyRemote {
		a.MaxCredit = untimed
	}
	return a
}

// anyRemote reports whether a person or a remote bot plays. Their games are never void: the deal cannot be
// played again with somebody who has seen it, and a connection has a time limit of its own.
func (m *Match) anyRemote() bool {
	return slices.ContainsFunc(m.Bots, func(b Contestant) bool { return b.Serve != nil })
}

// judge decides about a turn whose time is over: the answer is late, or has not come yet. The error is a
// LateError with the reason why if the bot is at fault, and a *StarvedError if the game is void. Otherwise
// the verdict says whether the answer is in time with credit, or how long to wait for it.
func (s *seat) judge(a fairclock.Allowance, now time.Time, answered bool, why fault.Reason) (fairclock.Verdict, error) {
	loss := s.conn.Loss(a.Start, now, answered)
	v := a.Judge(now, loss, answered)
	s.reportBusy()
	switch {
	case v.Late():
		late := LateError{Reason: why, Credit: v.Credit, Delay: now.Sub(a.Due) - v.Credit, TurnStart: a.Start}
		if answered {
			late.ArrivedAt = now
		}
		return v, late
	case v.Reason == fairclock.CreditUsed:
		return v, &StarvedError{Bot: s.Name, TurnTime: now.Sub(a.Start), LostTime: loss.Certain}
	}
	return v, nil
}

// LatePatience is the usual value of Match.Patience.
const LatePatience = time.Second

// arrivalNote waits for a late move, and returns the line for the bot's log that says when it came. The error
// is the fault of a bot that exceeds its memory in the meantime, or a failure of the referee.
func (s *seat) arrivalNote(late LateError) (note string, err error) {
	if late.Kind != fault.Late && late.Kind != fault.LateBank {
		return "", nil
	}
	at, err := s.awaitLate(late, s.patience)
	switch r, ended := errors.AsType[fault.Reason](err); {
	case ended && r.Kind != fault.OutOfMemory:
		return "", nil
	case err != nil:
		return "", err
	case at.IsZero():
		return fault.ArrivalNote(false, time.Since(late.TurnStart)) + "\n", nil
	}
	own := at.Sub(late.TurnStart) - s.conn.Loss(late.TurnStart, at, true).Certain
	return fault.ArrivalNote(true, own) + "\n", nil
}

// memoryStep decides when awaitLate starts its wait again: if the memory of the bot has grown by 1/memoryStep
// of its limit.
const memoryStep = 16

// awaitLate waits for a late answer. came is zero if no answer came. The error says why no answer can come
// any more.
//
// The wait lasts for patience of the bot's own time, so that on a busy machine a slow bot is not taken for
// one that never answers. If the memory of the bot grows, the wait starts again: a bot that reaches its
// memory limit is at fault for that, and not for being late.
func (s *seat) awaitLate(late LateError, patience time.Duration) (came time.Time, err error) {
	began, credit := time.Now(), late.Credit
	now, until := began, began.Add(patience)
	used, _ := s.conn.Memory()
	for came = late.ArrivedAt; came.IsZero(); {
		line, read, err := s.conn.Line(now, until)
		now = read
		if errors.Is(err, ErrLate) {
			lost := s.conn.Loss(late.TurnStart, read, false).Certain
			until = began.Add(patience + min(lost-credit, fairclock.MaxCredit(patience)))
			if read.Before(until) {
				continue
			}
			before, limit := used, int64(0)
			if used, limit = s.conn.Memory(); limit == 0 || used-before < limit/memoryStep {
				return came, nil
			}
			began, credit, until = read, lost, read.Add(patience)
			continue
		}
		if err != nil {
			return came, err
		}
		s.trace(s.place, true, read, line)
		if isAnswer(line) {
			came = read
		}
	}
	return came, nil
}
