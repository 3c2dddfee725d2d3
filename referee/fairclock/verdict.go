// Package fairclock decides whether an answer of a bot is late. Time that others took from the bot does not count as
// its own. The others are other programs on its cores, a CPU quota, another virtual machine, or whatever stopped the
// referee. The lost time is called a Loss, and the time that the bot gets for it is called its credit.
//
// docs/clock.md has a picture of one turn and three worked examples. Begin with TurnMeter, which measures one turn
// of a bot and returns its Loss. Allowance.Judge turns the Loss into a Verdict. A Monitor reads the kernel's
// counters for the cores of one worker, a thread that plays games. Processes reads those for the processes of one
// bot.
//
// For each turn, the worker makes these calls:
//
//	TurnMeter.Begin                  when the turn begins
//	TurnMeter.Sample, RecordSleep    while it waits for the answer
//	TurnMeter.StopLooking, Loss,     if there is no answer by Allowance.Due
//	Allowance.Judge
//	TurnMeter.ResumeLooking          if the verdict is StillWaits
//	TurnMeter.End                    when the turn ends
//
// The package needs counters of Linux: /proc/stat, schedstat and cgroups. Without them, and on other systems, Open
// returns nil and no bot gets credit. The worker must have called runtime.LockOSThread.
package fairclock

import "time"

// turnCredits and leastCredit limit the credit of a turn. The credit is time that other programs took from the bot
// and that does not count as the bot's own. See MaxCredit.
const (
	turnCredits = 10
	leastCredit = 2 * time.Second
)

// judgeInterval is the shortest time between two decisions about a turn in which the bot has not answered.
const judgeInterval = 10 * time.Millisecond

// Loss says how much time of a turn a bot lost to other programs.
type Loss struct {
	Certain time.Duration // the time that the kernel has counted
	// Possible is an upper bound of the lost time. It is Certain plus the longest time for which the bot may have
	// been waiting for a core until now. The kernel counts a wait only when the wait ends, so that Certain does not
	// have it.
	Possible time.Duration

	stolen time.Duration // the part of Certain that other virtual machines took
}

// Plus returns the loss with d added to both Certain and Possible.
func (l Loss) Plus(d time.Duration) Loss {
	l.Certain, l.Possible = l.Certain+d, l.Possible+d
	return l
}

// followedBy returns the loss of two consecutive periods together. l is the loss in the first period, next that in
// the second. l.Possible is ignored: if the bot was waiting for a core when the first period ended, next has that
// wait.
func (l Loss) followedBy(next Loss) Loss {
	next.stolen += l.stolen
	return next.Plus(l.Certain)
}

func (l Loss) atMost(d time.Duration) Loss {
	l.Certain, l.Possible = min(l.Certain, d), min(l.Possible, d)
	return l
}

// Allowance is the time limit for one answer of a bot, and how far it can be extended.
type Allowance struct {
	Start     time.Time
	Due       time.Time     // when the time of the turn and the margin are over
	MaxCredit time.Duration // by how much Due can be extended for time that other programs took
}

// NewAllowance returns the time limit of a turn that begins at start. left is the remaining time on the bot's clock,
// and margin is how much longer a move may take without a fault.
func NewAllowance(start time.Time, left, margin time.Duration) Allowance {
	return Allowance{Start: start, Due: start.Add(left + margin), MaxCredit: MaxCredit(left)}
}

// MaxCredit returns the largest credit of a turn: the largest amount of time that other programs may take from the
// bot and that does not count. It is ten times left, the remaining time on the bot's clock, but at least two seconds.
// If a bot needs more credit, the game does not count and is played again.
func MaxCredit(left time.Duration) time.Duration { return max(turnCredits*left, leastCredit) }

// VerdictReason is one of the four possible decisions about an answer that did not come by Allowance.Due, with the
// reason. The bot is at fault; the answer is in time because other programs took some of the time; the referee waits
// longer; or the game does not count.
type VerdictReason string

const (
	OwnTimeUsed VerdictReason = "late: the bot has had its own time"
	WithCredit  VerdictReason = "in time with its credit"
	StillWaits  VerdictReason = "not late yet: wait for it until the deadline"
	CreditUsed  VerdictReason = "void: the bot needs more credit than a turn can have"
)

// Verdict is the decision about a turn in which the bot did not answer in time.
type Verdict struct {
	Reason   VerdictReason
	Credit   time.Duration // the certain loss, at most Allowance.MaxCredit
	Deadline time.Time     // when to judge again if no answer comes; zero unless Reason is StillWaits
}

// Late reports whether the bot was too late by its own fault.
func (v Verdict) Late() bool { return v.Reason == OwnTimeUsed }

// Judge decides, at the time now, about a turn whose time is over. loss is what the bot has lost to other programs.
// If answered is true, the answer has come, and only loss.Certain counts. Otherwise loss.Possible counts, because the
// bot may be waiting for a core at this moment.
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
