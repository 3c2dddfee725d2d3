package fairclock

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

const ms = time.Millisecond

// The verdicts on answers after Allowance.Due.
func TestJudge(t *testing.T) {
	start := time.Unix(0, 0)
	allowance := NewAllowance(start, 950*ms, 50*ms)
	allowance.MaxCredit = 10000 * ms
	for _, c := range []struct {
		name              string
		at                time.Duration
		certain, possible time.Duration // loss
		answered          bool
		reason            VerdictReason
		credit            time.Duration
		deadline          time.Duration // if it is waited for
	}{
		{"it lost nothing", 1000 * ms, 0, 0, false, OwnTimeUsed, 0, 0},
		{"it lost nothing and answered", 1001 * ms, 0, 0, true, OwnTimeUsed, 0, 0},
		{"it answered as late as others made it", 1400 * ms, 400 * ms, 400 * ms, true, WithCredit, 400 * ms, 0},
		{"it answered later than others made it", 1401 * ms, 400 * ms, 400 * ms, true, OwnTimeUsed, 400 * ms, 0},
		{"it has not had its time", 1000 * ms, 400 * ms, 400 * ms, false, StillWaits, 400 * ms, 1125 * ms},
		{"it has not had its time by a little", 1000 * ms, 40 * ms, 40 * ms, false, StillWaits, 40 * ms, 1040 * ms},
		{"it has not had its time by very little", 1000 * ms, ms, ms, false, StillWaits, ms, 1010 * ms},
		{"the referee looked a little too early", 999 * ms, 40 * ms, 40 * ms, false, StillWaits, 40 * ms, 1040 * ms},
		{"it has had its time", 1400 * ms, 400 * ms, 400 * ms, false, OwnTimeUsed, 400 * ms, 0},
		{"it may wait for a core since its turn began", 1000 * ms, 0, 1000 * ms, false, StillWaits, 0, 1125 * ms},
		{"what may be lost is not credit of an answer", 1500 * ms, 0, 1000 * ms, true, OwnTimeUsed, 0, 0},
		{"it has had all the credit there is", 11000 * ms, 10000 * ms, 10000 * ms, false, OwnTimeUsed, 10000 * ms, 0},
		{"it needs more credit than there is", 11000 * ms, 10500 * ms, 10500 * ms, false, CreditUsed, 10000 * ms, 0},
		{"it answered when there was no more credit", 11200 * ms, 10500 * ms, 10500 * ms, true, CreditUsed, 10000 * ms, 0},
		{"it answered even later", 11501 * ms, 10500 * ms, 10500 * ms, true, OwnTimeUsed, 10000 * ms, 0},
	} {
		want := Verdict{Reason: c.reason, Credit: c.credit}
		if c.deadline > 0 {
			want.Deadline = start.Add(c.deadline)
		}
		got := allowance.Judge(start.Add(c.at), Loss{Certain: c.certain, Possible: c.possible}, c.answered)
		if got != want || got.Late() != (c.reason == OwnTimeUsed) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// The largest credit of a turn is ten times its time, and at least two seconds.
func TestMaxCredit(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{0: 2 * time.Second, 199 * ms: 2 * time.Second, 300 * ms: 3 * time.Second, time.Minute: 10 * time.Minute} {
		if got := NewAllowance(time.Unix(0, 0), left, 50*ms).MaxCredit; got != want {
			t.Errorf("a turn of %v has a credit of %v, want %v", left, got, want)
		}
	}
}

// An answer that is there when the referee wakes up late from the last wait of a turn is in time, because it
// may have come in time. After a wait that is as long as usual on an idle machine it is late.
func TestRefereeOverslept(t *testing.T) {
	const left = 30 * ms
	for took, want := range map[time.Duration]VerdictReason{
		left + 900*time.Microsecond:  OwnTimeUsed,
		left + 1100*time.Microsecond: WithCredit,
		left + 9613*time.Microsecond: WithCredit,
		34 * left:                    WithCredit,
	} {
		start := time.Unix(0, 0)
		loss := Loss{}.Plus(Overslept(start, start.Add(took), left))
		if got := NewAllowance(start, left, 0).Judge(start.Add(took), loss, true); got.Reason != want {
			t.Errorf("%s after the question: %+v, want %s", took, got, want)
		}
	}
}

// example is a column of the table of docs/clock.md: row names with milliseconds or texts.
type example map[string]string

func (e example) ms(t *testing.T, row string) time.Duration {
	t.Helper()
	if e[row] == "" {
		t.Fatalf("the table has no row %q", row)
	}
	return time.Duration(kit.Get[int](t)(strconv.Atoi(e[row]))) * ms
}

// examples returns the columns of the first table of docs/clock.md, with their headings in the row "".
func examples(t *testing.T) (columns []example) {
	t.Helper()
	page := string(kit.Get[[]byte](t)(os.ReadFile("../../docs/clock.md")))
	_, table, _ := strings.Cut(page, "\n| ms |")
	table, _, _ = strings.Cut("| |"+table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i, cell := range cells[1:] {
			if len(columns) == i {
				columns = append(columns, example{})
			}
			columns[i][strings.TrimSpace(cells[0])] = strings.TrimSpace(cell)
		}
	}
	if len(columns) != 4 {
		t.Fatalf("the table of docs/clock.md has %d columns", len(columns))
	}
	return columns
}

// The examples of docs/clock.md agree with the code.
func TestExamplesOfPage(t *testing.T) {
	for _, e := range examples(t) {
		counters, bot, start := &counted{}, &player{}, time.Unix(0, 0)
		turn := NewTurn(newMonitor(counters, 1, new(Players)), start)
		turn.Attach(bot)
		left, now := e.ms(t, "time of the turn"), start.Add(e.ms(t, "now"))
		turn.Begin(start, left)
		first := e.ms(t, "first reading")
		if next := turn.Sample(start); next != first {
			t.Errorf("%s: the first reading comes after %v, want %v", e[""], next, first)
		}
		turn.Sample(start.Add(first))
		ran, others := e.ms(t, "the bot ran"), e.ms(t, "others ran")
		counters.IdleTime = now.Sub(start) - first - ran - others
		bot.usage = Usage{CPU: ran, AliveCPU: ran, Wait: e.ms(t, "its threads waited")}
		if e["a thread runs or waits now"] == "yes" {
			bot.ready = Threads{"1": ran}
		}
		answered := e["it has answered"] == "yes"
		loss := turn.Loss(start, now, answered)
		if loss.Certain != e.ms(t, "certain loss") || loss.Possible != e.ms(t, "possible loss") {
			t.Errorf("%s: the loss is %+v, the page has %s and %s", e[""], loss, e["certain loss"], e["possible loss"])
		}
		allowance := NewAllowance(start, left, e.ms(t, "margin"))
		v := allowance.Judge(now, loss, answered)
		if v.Credit != e.ms(t, "credit") || string(v.Reason) != e["verdict"] {
			t.Errorf("%s: the verdict is %+v, the page has %s with %s", e[""], v, e["verdict"], e["credit"])
		}
		if v.Reason != StillWaits {
			v.Deadline = start
		}
		if got := strconv.FormatInt(v.Deadline.Sub(start).Milliseconds(), 10); got != e["deadline"] && (got != "0" || e["deadline"] != "-") {
			t.Errorf("%s: it is waited for until %v, the page has %s", e[""], v.Deadline.Sub(start), e["deadline"])
		}
	}
}
