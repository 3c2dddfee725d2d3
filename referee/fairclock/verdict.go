// Package fairclock decides whether an answer of a bot is late, and credits the bot with the time that others
// took from it: other programs on its cores, a quota, another virtual machine, or whatever stopped the
// referee.
//
// docs/clock.md has a picture of one turn and three worked examples. Begin with TurnMeter, which measures a turn
// and returns its Loss; Allowance.Judge turns that into a Verdict. A Monitor reads the counters of one
// worker's cores, and Processes those of one bot.
//
// The package relies on counters of Linux (/proc/stat, schedstat, cgroups). If they are missing, and on other
// systems, Open returns nil, and no bot gets credit. The worker's goroutine must stay on its thread.
package fairclock

import "time"

// The largest credit of a turn is turnCredits times its time, or leastCredit if that is more; see MaxCredit.
const (
	turnCredits = 10
	leastCredit = 2 * time.Second
)

// judgeInterval is the shortest wait for a late answer between two verdicts.
const judgeInterval = 10 * time.Millisecond

// Loss is how much of its turn a bot lost to other programs.
type Loss struct {
	Certain time.Duration // counted by the kernel
	// Possible is Certain plus a wait for a core that may still go on: the kernel counts a wait when it ends.
	Possible time.Duration

	stolen time.Duration // the part of Certain that other virtual machines took
}

// Plus returns the loss with d added to it.
func (l Loss) Plus(d time.Duration) Loss {
	l.Certain, l.Possible = l.Certain+d, l.Possible+d
	return l
}

// then returns the loss of two consecutive periods. If a wait was open at the end of the first, the second
// has counted it, so the possible loss of the first does not count.
func (l Loss) then(next Loss) Loss {
	next.stolen += l.stolen
	return next.Plus(l.Certain)
}

func (l Loss) atMost(d time.Duration) Loss {
	l.Certain, l.Possible = min(l.Certain, d), min(l.Possible, d)
	return l
}

// Allowance is how long a bot may take for one answer.
type Allowance struct {
	Start     time.Time
	Due       time.Time     // end of the time of the turn and of the margin
	MaxCredit time.Duration // largest credit, which extends Due
}

// NewAllowance returns the allowance of a turn that begins at start: the time left on the bot's clock, and the
// margin.
func NewAllowance(start time.Time, left, margin time.Duration) Allowance {
	return Allowance{Start: start, Due: start.Add(left + margin), MaxCredit: MaxCredit(left)}
}

// MaxCredit returns the largest credit of a turn for which a bot has the time left. If a bot needs more, the
// game is void.
func MaxCredit(left time.Duration) time.Duration { return max(turnCredits*left, leastCredit) }

// VerdictReason says why an answer that came after its allowance is, or is not, a fault.
type VerdictReason string

const (
	OwnTimeUsed VerdictReason = "late: the bot has had its own time"
	WithCredit  VerdictReason = "in time with its credit"
	StillWaits  VerdictReason = "not late yet: wait for it until the deadline"
	CreditUsed  VerdictReason = "void: the bot needs more credit than a turn can have"
)

// Verdict is the decision about a turn in which no answer came by Allowance.Due.
type Verdict struct {
	Reason   VerdictReason
	Credit   time.Duration // the certain loss, limited to Allowance.MaxCredit
	Deadline time.Time     // when to judge again if no answer comes; zero unless Reason is StillWaits
}

// Late reports whether the bot is at fault.
func (v Verdict) Late() bool { return v.Reason == OwnTimeUsed }

// Judge decides about a turn at the time now. answered says whether the answer has come. If it has, only a
// certain loss counts. If it has not, the bot may be waiting for a core at this moment, so that a possible
// loss counts, too.
func (a Allowance) Judge(now time.Time, loss Loss, answered bool) Verdict {
	lost := loss.Certain
	if !answered {
		lost = loss.Possible
		if now.Before(a.Due) {
			now = a.Due // the caller's clock has reached Due
		}
	}
	late := now.Sub(a.Due)
	covers := func(credit time.Duration) bool { return late < credit || answered && late == credit }
	v := Verdict{Credit: min(loss.Certain, a.MaxCredit)}
	switch {
	case !covers(lost):
		v.Reason = OwnTimeUsed
	case !covers(min(lost, a.MaxCredit)):
		v.Reason = CreditUsed
	case answered:
		v.Reason = WithCredit
	default:
		v.Reason = StillWaits
		// Judge again before the credit is used up, because by then the kernel may have counted more.
		wait := min(min(lost, a.MaxCredit)-late, now.Sub(a.Start)/8)
		v.Deadline = now.Add(max(wait, judgeInterval))
	}
	return v
}
