package match

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// slowReader is a slowed bot outside a match that reads its input byte by byte, and too slowly, until a given time.
type slowReader struct {
	slowed
	reads time.Time
	got   string
}

func (c *slowReader) Send(lines []byte, deadline time.Time) (int, error) {
	if deadline.Before(c.reads) {
		time.Sleep(time.Until(deadline))
		n := min(1, len(lines))
		c.got += string(lines[:n])
		return n, fault.Reason{Kind: fault.NotReading}
	}
	time.Sleep(time.Until(c.reads))
	all := c.got + string(lines)
	c.got = ""
	_, err := c.slowed.Send([]byte(all), deadline)
	return len(lines), err
}

func (c *slowReader) CloseInput()                {}
func (c *slowReader) Wait(time.Time) (End, bool) { return End{}, false }

// A bot outside a match gets the same credit as in one, for its answer and for reading its input. SPEC.md,
// "Clocks".
func TestClocksOutsideAMatch(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		takes  time.Duration
		share  float64 // that others have of it
		credit time.Duration
		late   bool
		void   bool
	}{
		{name: "in time", takes: 110 * ms, share: .75},
		{name: "in time with credit", takes: 436 * ms, share: .75, credit: 327 * ms}, // 109 of its own
		{name: "late", takes: time.Hour, share: .75, credit: 330 * ms, late: true},
		{name: "without a core", takes: time.Hour, share: .9999, void: true},
	} {
		for kind, think := range map[fault.Kind]time.Duration{fault.Late: c.takes, fault.NotReading: 0} {
			synctest.Test(t, func(t *testing.T) {
				clock := referee.Clock{Move: 100 * ms, Margin: 10 * ms, Startup: 100 * ms}
				bot := &slowReader{slowed: slowed{
					talker: talker{answer: firstMove},
					think:  func(int) time.Duration { return think },
					share:  func() float64 { return c.share },
				}}
				start := func(context.Context, Contestant, *fairclock.Monitor) (BotConn, error) { return bot, nil }
				p := kit.Get[*BotProcess](t)(newProcess(t.Context(), Contestant{Name: "mine"}, clock, nil, start))
				defer p.Close()
				kit.Get[string](t)(p.Greet())
				v := variant(t, "brisca", "")
				g := referee.NewGame(v, referee.Replay{Clock: clock.InReplay(), Seats: make([]referee.ReplaySeat, v.Players)}, rules.AllSeats)
				g.Begin()
				bot.reads = time.Now().Add(c.takes - think)
				err := p.PlayTurn(g)
				late, isLate := errors.AsType[LateError](err)
				starved, void := errors.AsType[*StarvedError](err)
				if isLate != c.late || isLate && (late.Kind != kind || late.Delay < 0) {
					t.Errorf("%s, %s: it is late as %+v, %v", c.name, kind, late, err)
				}
				if void != c.void || void && (starved.Bot != "mine" || starved.LostTime < fairclock.MaxCredit(0) || starved.TurnTime >= fairclock.MaxCredit(0)+time.Second) {
					t.Errorf("%s, %s: it has no core as %+v, %v", c.name, kind, starved, err)
				}
				credit := late.Credit
				if err == nil {
					credit = time.Duration(g.Record.Moves[0].Credit * float64(ms))
				}
				if (credit - c.credit).Abs() > ms {
					t.Errorf("%s, %s: it has a credit of %v", c.name, kind, credit)
				}
			})
		}
	}
}
