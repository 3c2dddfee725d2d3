package match

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
)

// Starved is the error of a void game: other programs held the cores for longer than the referee waits
// for a bot that is late.
type Starved struct {
	Bot  string        // who was late
	Turn time.Duration // how long the bot had by the clock on the wall
	Lost time.Duration // of that, to others
}

func (s *Starved) Error() string {
	return fmt.Sprintf("the machine is too busy: %q had no core for %d of the %d ms of a turn", s.Bot, s.Lost.Milliseconds(), s.Turn.Milliseconds())
}

// A late bot is given at most creditTurns times the time of its turn, and leastCredit at least.
const (
	creditTurns = 10
	leastCredit = 2 * time.Second
)

// answerTime is the time that a bot has for one answer.
type answerTime struct {
	since, due time.Time
	credit     time.Duration // that it gets at most
}

// given returns the time for an answer where the bot has so much left.
func (s *seat) given(since time.Time, left, margin time.Duration) answerTime {
	t := answerTime{since, since.Add(left + margin), max(creditTurns*left, leastCredit)}
	if s.anyRemote {
		t.credit = untimed
	}
	return t
}

// overslept returns how much too long a sleep of the referee was. One that is at most a millisecond too long is
// that of an idle machine: the kernel is asked for whole ones. Of a longer one all that is too much counts, as an
// answer may have been there when it should have ended.
func overslept(from, to time.Time, asked time.Duration) time.Duration {
	if late := to.Sub(from) - asked; late > time.Millisecond {
		return late
	}
	return 0
}

// anyRemote reports whether somebody plays who is no process: a person or a remote bot. They have seen
// the deal, so that the game is not played again, and a connection has a limit of its own.
func (m *Match) anyRemote() bool {
	return slices.ContainsFunc(m.Bots, func(b Bot) bool { return b.Serve != nil })
}

// verdict is what follows from a late answer.
type verdict uint8

const (
	blamed  verdict = iota // it is the bot's fault
	inTime                 // with its credit
	waiting                // it may still come in time
	void                   // the bot would need more credit than it can get
)

// judge judges an answer that is not there now, or that has come now, after the time was due, of a
// bot that has lost some time to others. It returns the credit, and until when to wait.
func (t answerTime) judge(now time.Time, lost cores.Lost, answered bool) (v verdict, credit time.Duration, until time.Time) {
	taken := lost.Most
	if answered {
		taken = lost.Known
	} else if now.Before(t.due) {
		now = t.due // which the Conn says has passed
	}
	late := now.Sub(t.due)
	enough := func(credit time.Duration) bool { return late < credit || answered && late == credit }
	credit = min(lost.Known, t.credit)
	switch {
	case !enough(taken):
		return blamed, credit, now
	case !enough(min(taken, t.credit)):
		return void, credit, now
	case answered:
		return inTime, credit, now
	}
	// The kernel may tell more before all of that is over.
	wait := min(min(taken, t.credit)-late, now.Sub(t.since)/8)
	return waiting, credit, now.Add(max(wait, waitStep))
}

// waitStep is how long a bot that is late is waited for at least before it is judged again.
const waitStep = 10 * time.Millisecond

// LateError is the fault of a bot that is late, also without the time that others took from it.
type LateError struct {
	fault.Reason
	Credit time.Duration // what others have taken from it
	By     time.Duration // how late it is
	Since  time.Time     // when its time began
	Came   time.Time     // when the answer came; zero: it did not
}

// Unwrap returns the reason.
func (o LateError) Unwrap() error { return o.Reason }

// late handles an answer that has not come in time, or has come after it. It returns the credit of an
// answer that is in time with it, or until when to wait; the error is a LateError, or Starved if the
// game is void.
func (s *seat) late(t answerTime, now time.Time, answered bool, why fault.Reason) (credit time.Duration, until time.Time, err error) {
	lost := s.conn.Lost(t.since, now, answered)
	v, credit, until := t.judge(now, lost, answered)
	s.told()
	switch v {
	case void:
		return 0, now, &Starved{Bot: s.Name, Turn: now.Sub(t.since), Lost: lost.Known}
	case blamed:
		late := LateError{Reason: why, Credit: credit, By: now.Sub(t.due) - credit, Since: t.since}
		if answered {
			late.Came = now
		}
		return 0, now, late
	}
	return credit, until, nil
}

// LatePatience is how long a move that is late is waited for, by the bot's own time, to say in the bot's log
// how late it was.
const LatePatience = time.Second

// later waits for a move that is late, and returns the line for the bot's log that says when it came. The
// error is the fault of a bot that goes beyond its memory meanwhile, or of the referee.
func (s *seat) later(late LateError) (note string, err error) {
	if late.Kind != fault.Late && late.Kind != fault.LateBank {
		return "", nil
	}
	at, err := s.await(late, s.patience)
	switch r, ended := errors.AsType[fault.Reason](err); {
	case ended && r.Kind != fault.OutOfMemory:
		return "", nil
	case err != nil:
		return "", err
	case at.IsZero():
		return fault.LaterNote(false, time.Since(late.Since)) + "\n", nil
	}
	own := at.Sub(late.Since) - s.conn.Lost(late.Since, at, true).Known
	return fault.LaterNote(true, own) + "\n", nil
}

// filling is by which part of its limit the memory of a bot has to grow for the wait to begin again.
const filling = 16

// await waits for a late answer for some of the bot's own time, so that a busy machine does not turn a slow
// bot into one that never answers, and for as long again while the bot fills its memory: beyond the limit that
// is its fault, not the time. It returns when the answer came, zero if it did not; the error is why no more
// lines can come.
func (s *seat) await(late LateError, patience time.Duration) (came time.Time, err error) {
	began, credit := time.Now(), late.Credit
	now, until := began, began.Add(patience)
	used, _ := s.conn.Memory()
	for came = late.Came; came.IsZero(); {
		line, read, err := s.conn.Line(now, until)
		now = read
		if errors.Is(err, ErrLate) {
			known := s.conn.Lost(late.Since, read, false).Known
			until = began.Add(patience + min(known-credit, creditTurns*patience))
			if read.Before(until) {
				continue
			}
			before, limit := used, int64(0)
			if used, limit = s.conn.Memory(); limit == 0 || used-before < limit/filling {
				return came, nil
			}
			began, credit, until = read, known, read.Add(patience)
			continue
		}
		if err != nil {
			return came, err
		}
		s.trace(true, read, line)
		if isAnswer(line) {
			came = read
		}
	}
	return came, nil
}
