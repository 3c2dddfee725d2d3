package referee

import (
	"fmt"
	"time"
)

// Starved is the error of a game that is void because a bot was late without having had the
// processor.
type Starved struct {
	Bot  string        // who was late
	Core int           // of the match; AnyCore if it was not bound to one
	Turn time.Duration // how long the bot had by the clock on the wall
	Lost Lost          // of that
}

func (s *Starved) Error() string {
	where := "the cores were"
	if s.Core != AnyCore {
		where = fmt.Sprintf("core %d was", s.Core)
	}
	return fmt.Sprintf("%s not there for %q for %d of the %d ms that it took: %s", where, s.Bot, s.Lost.Sum().Milliseconds(), s.Turn.Milliseconds(), s.Lost)
}

// Lost is the time of a turn in which a bot wanted to run, or had answered, and what kept
// it from being in time was neither its own doing nor its opponents'.
type Lost struct {
	Others  time.Duration // other programs ran instead, or the kernel held back all of this one's
	Stolen  time.Duration // the hypervisor ran another machine instead
	Stopped time.Duration // the referee itself was stopped
}

// Sum returns the whole time.
func (l Lost) Sum() time.Duration { return l.Others + l.Stolen + l.Stopped }

func (l Lost) String() string {
	return fmt.Sprintf("other programs or a quota took %d ms, other virtual machines %d ms, and the referee was stopped for %d ms", l.Others.Milliseconds(), l.Stolen.Milliseconds(), l.Stopped.Milliseconds())
}

// leastLost is the least time that counts as lost: the kernel tells in steps of 10 ms who
// used a core.
const leastLost = 20 * time.Millisecond

// verdict is what follows from a late answer.
type verdict uint8

const (
	blamed  verdict = iota // it is the bot's fault
	waiting                // the bot has not had its time yet, and gets it
	void                   // it is nobody's fault
)

// judgeLate judges an answer that is late: the bot has had turn by the clock on the wall,
// its limit is that of the turn with the margin, and lost is what it lost of it. It is the
// bot's fault if that is no more than the margin, or if what remains is more than the limit.
// A bot that has not answered is waited for as long as that may still come true, but at most
// as long again as its limit.
func judgeLate(turn, limit, margin, lost time.Duration, answered bool) verdict {
	switch {
	case lost <= max(margin, leastLost), turn-lost > limit:
		return blamed
	case answered, turn >= 2*limit:
		return void
	}
	return waiting
}

// late handles an answer of a seat that has not come by due, or has come after it. It returns
// until when to wait instead, or an error: Starved if the game is void, or the fault.
func (g *game) late(seat int, since, due, now time.Time, answered bool, f *Fault) (until time.Time, err error) {
	c := g.chairs[seat]
	limit, turn := due.Sub(since), now.Sub(since)
	lost := g.account.lost(c.conn, since, now, answered)
	switch judgeLate(turn, limit, g.timers[seat].clock.Margin, lost.Sum(), answered) {
	case void:
		return now, &Starved{Bot: g.match.Bots[c.bot].Name, Core: g.account.where(), Turn: turn, Lost: lost}
	case waiting:
		until = since.Add(min(limit+lost.Sum(), 2*limit))
		if next := now.Add(waitStep); until.Before(next) {
			until = next
		}
		return until, nil
	}
	return now, f
}

// waitStep is how long a bot that is late is waited for at least before it is judged again.
const waitStep = 10 * time.Millisecond
