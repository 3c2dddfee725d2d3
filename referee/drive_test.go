package referee

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/referee/fault"
)

// slowReader is a bot outside a match that is slowed, and until a time reads its input byte by byte, and too
// slowly.
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
		return n, notReading
	}
	time.Sleep(time.Until(c.reads))
	c.got += string(lines)
	return len(lines), nil
}

func (c *slowReader) closeInput()                    {}
func (c *slowReader) awaitEnd(time.Time) (End, bool) { return End{}, false }

// Clocks: a bot outside a match is waited for as in one, for its answer and where it does not read.
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
		{name: "in time with credit", takes: 440 * ms, share: .75, credit: 330 * ms}, // 110 of its own
		{name: "late", takes: time.Hour, share: .75, credit: 330 * ms, late: true},
		{name: "without a core", takes: time.Hour, share: .9999, void: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn := &slowReader{slowed: slowed{talker: talker{lines: [][]byte{[]byte("move 1o")}}, share: func() float64 { return c.share }}}
			p := drive(Bot{Name: "mine"}, conn, nil)
			limit := func() Limit { return p.Limit(time.Now(), 100*ms, 10*ms) }
			void := func(err error) bool {
				s, ok := errors.AsType[*Starved](err)
				return ok && s.Bot == "mine" && s.Lost >= leastCredit && s.Turn < leastCredit+time.Second
			}
			conn.answer = time.Now().Add(c.takes)
			line, _, credit, err := p.Answer(limit())
			if !c.void && (credit-c.credit).Abs() > ms || errors.Is(err, ErrLate) != c.late || void(err) != c.void ||
				err == nil && string(line) != "move 1o" {
				t.Errorf("%s: it answers %q with a credit of %v, %v", c.name, line, credit, err)
			}
			conn.reads = time.Now().Add(c.takes)
			err = p.Send([]byte("lines\n"), limit())
			f, late := errors.AsType[fault.Reason](err)
			if late != c.late || late && f.Kind != fault.NotReading || void(err) != c.void || err == nil && conn.got != "lines\n" {
				t.Errorf("%s: it has read %q, %v", c.name, conn.got, err)
			}
		})
	}
}
