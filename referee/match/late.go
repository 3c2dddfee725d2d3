package match

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// StarvedError is the error of a game in which a bot was late because other programs used its core for too long:
// longer than can be subtracted from the time of one turn. The game does not count and is played again.
type StarvedError struct {
	Bot      string        // name of the late bot
	TurnTime time.Duration // elapsed time of the turn
	LostTime time.Duration // the part of TurnTime that other programs took, by which the game was judged
	Possible bool          // LostTime has a wait for a core that the kernel has not counted yet, because it goes on
}

func (s *StarvedError) Error() string {
	if s.Possible {
		return fmt.Sprintf("the machine is too busy: %q may have had no core for %d of the %d ms of a turn", s.Bot, s.LostTime.Milliseconds(), s.TurnTime.Milliseconds())
	}
	return fmt.Sprintf("the machine is too busy: %q had no core for %d of the %d ms of a turn", s.Bot, s.LostTime.Milliseconds(), s.TurnTime.Milliseconds())
}

// LateError is the fault of a bot that is late, even after the time that other programs took (its credit) is
// subtracted.
type LateError struct {
	fault.Reason
	Credit    time.Duration // time that other programs took from the bot; see fairclock.Verdict
	Delay     time.Duration // how late the bot is after Credit is subtracted
	TurnStart time.Time     // when the turn began
	ArrivedAt time.Time     // when the answer came; zero if it has not come
}

func (o LateError) Unwrap() error { return o.Reason }

// allowance returns the time limit of a turn that began at start. left is the remaining time on the bot's clock, and
// margin is how much longer the turn may take. The limit can be extended for time that other programs take. If a
// person or a remote bot plays in the match, that extension is not limited.
func (s *seat) allowance(start time.Time, left, margin time.Duration) fairclock.Allowance {
	a := fairclock.NewAllowance(start, left, margin)
	if s.anyRemote {
		a.MaxCredit = untimed
	}
	return a
}

// anyRemote reports whether a person, or a bot on another machine that connects over the network, plays in the match.
// Games of such a match must always count: the person or the author of the bot has seen the deal and cannot play it
// again.
func (m *Match) anyRemote() bool {
	return slices.ContainsFunc(m.Bots, func(b Contestant) bool { return b.Serve != nil })
}

// judge decides about a turn whose time limit a is over. answered is true if the answer has come. If the bot is late,
// the error is a LateError with the reason why. If other programs kept the machine too busy to tell, it is a
// *StarvedError, and the game must be played again. Without an error, either the answer is in time because other
// programs took some of the time, or the verdict has the new deadline until which to wait.
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
		starved := &StarvedError{Bot: s.Name, TurnTime: now.Sub(a.Start), LostTime: loss.Certain}
		if !answered && loss.Possible > loss.Certain { // what Judge has counted
			starved.LostTime, starved.Possible = min(loss.Possible, starved.TurnTime), true
		}
		return v, starved
	}
	return v, nil
}

// LatePatience is the usual value of Match.Patience: how long the referee waits for an answer that is already late.
const LatePatience = time.Second

// arrivalNote waits for the move of a late bot, and returns a line for the bot's log that says when the move came. It
// returns "" if the bot was late with something other than a move, or if the bot's process ends. The error is a
// fault.Reason if the bot exceeds its memory limit during the wait, and otherwise a failure of the referee.
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

// memoryStep says by how much the bot's memory must grow so that awaitLate waits again: by 1/memoryStep of the memory
// limit.
const memoryStep = 16

// awaitLate waits for an answer that is already late. It returns the time at which the answer came, or the zero time
// if none came. The error says why no answer can come any more; it is a fault.Reason if the process has ended.
//
// patience is how long to wait, not counting time that other programs take. Therefore a slow bot on a busy machine is
// not mistaken for a bot that never answers. If the memory of the bot grows, the wait starts again: a bot that
// reaches its memory limit is charged with that, and not with being late.
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
