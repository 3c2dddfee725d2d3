package referee

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
)

// Clock says how much time a bot has in a game. Either Move is set, the time for each move, or Bank, the time for all
// moves of the game together. Inc is added to the Bank after each move.
type Clock struct {
	Move, Bank, Inc time.Duration
	Margin          time.Duration // how much longer than its time a move may take without a fault
	Startup         time.Duration // time that a bot has to answer "ready" after the start of its process
}

// DefaultClock allows one second for each move. The other times have their usual values.
var DefaultClock = Clock{Move: time.Second, Margin: 50 * time.Millisecond, Startup: 10 * time.Second}

// Check returns an error if the clock is not valid. Exactly one of Move and Bank must be set, Inc only with Bank, and
// Startup always. Every time must be a whole number of milliseconds and at most a day.
func (c Clock) Check() error {
	switch {
	case c.Move != 0 && c.Bank != 0:
		return fmt.Errorf("clock: movetime and bank cannot both be set: choose one")
	case c.Move == 0 && c.Bank == 0:
		return fmt.Errorf("clock: neither movetime nor bank is set: set one, such as a movetime of %d ms", DefaultClock.Move.Milliseconds())
	case c.Inc != 0 && c.Bank == 0:
		return fmt.Errorf("clock: inc goes with bank: set bank as well")
	}
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"movetime", c.Move}, {"bank", c.Bank}, {"inc", c.Inc}, {"margin", c.Margin}, {"start-up", c.Startup}} {
		if t.d < 0 || t.d > 24*time.Hour || t.d%time.Millisecond != 0 {
			return fmt.Errorf("clock: %s cannot be %v: give whole milliseconds, at most a day", t.name, t.d)
		}
	}
	if c.Startup == 0 {
		return fmt.Errorf("clock: start-up is not set: set it, such as to %d ms", DefaultClock.Startup.Milliseconds())
	}
	return nil
}

// Longest returns the longest time that the bots may use for all moves of a game together. plies is the number of
// moves in the game, and seats the number of seats. The result includes neither the margins, by which a move may be
// late without a fault, nor time that other programs take from the bots.
func (c Clock) Longest(plies, seats int) time.Duration {
	if c.Bank == 0 {
		return time.Duration(plies) * c.Move
	}
	return time.Duration(seats)*c.Bank + time.Duration(plies)*c.Inc
}

// String describes the clock in English.
func (c Clock) String() string { return c.Phrase().String() }

// Phrase returns the same description as String, in a form that can be translated.
func (c Clock) Phrase() phrase.Text {
	switch {
	case c.Bank == 0:
		return phrase.New("%s a move", span(c.Move))
	case c.Inc == 0:
		return phrase.New("%s a game", span(c.Bank))
	}
	return phrase.New("%s a game and %s more after each move", span(c.Bank), span(c.Inc))
}

// span returns a duration as text. It is in seconds if it is a whole number of seconds, and otherwise in
// milliseconds.
func span(d time.Duration) string {
	if d >= time.Second && d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// Pairs returns the keys and values by which the protocol line "game" tells a bot its clock. The values are in
// milliseconds.
func (c Clock) Pairs() []protocol.KeyValue {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	if c.Bank == 0 {
		return []protocol.KeyValue{{Name: "movetime", Value: ms(c.Move)}}
	}
	return []protocol.KeyValue{{Name: "bank", Value: ms(c.Bank)}, {Name: "inc", Value: ms(c.Inc)}}
}

// ClockMS is a Clock with times in milliseconds, in the form of JSON documents and configuration files.
type ClockMS struct {
	Movetime int64  `json:"movetime,omitempty" toml:"movetime"`
	Bank     int64  `json:"bank,omitempty" toml:"bank"`
	Inc      *int64 `json:"inc,omitempty" toml:"inc"` // nil means 0
	Margin   int64  `json:"margin" toml:"margin"`
	Startup  int64  `json:"startup,omitempty" toml:"startup"` // replays do not have it
}

// Milliseconds returns the clock in the form of JSON documents and configuration files. Inc is nil if it is 0.
func (c Clock) Milliseconds() ClockMS {
	m := ClockMS{Movetime: c.Move.Milliseconds(), Bank: c.Bank.Milliseconds(), Margin: c.Margin.Milliseconds(), Startup: c.Startup.Milliseconds()}
	if c.Inc != 0 {
		m.Inc = new(c.Inc.Milliseconds())
	}
	return m
}

// InReplay returns the clock as replays contain it: in milliseconds and without the start-up time. Inc is set, even
// if it is 0, if the clock has a Bank, and otherwise nil.
func (c Clock) InReplay() ClockMS {
	m := c.Milliseconds()
	if m.Startup = 0; c.Bank != 0 {
		m.Inc = new(c.Inc.Milliseconds())
	}
	return m
}

// Clock converts m to a Clock. A value that is negative or too large is limited so that it cannot overflow;
// Clock.Check then returns an error for it.
func (m ClockMS) Clock() Clock {
	ms := func(n int64) time.Duration { return time.Duration(max(-1, min(n, 1<<40))) * time.Millisecond }
	c := Clock{Move: ms(m.Movetime), Bank: ms(m.Bank), Margin: ms(m.Margin), Startup: ms(m.Startup)}
	if m.Inc != nil {
		c.Inc = ms(*m.Inc)
	}
	return c
}

// MarshalJSON encodes the clock in milliseconds; see ClockMS.
func (c Clock) MarshalJSON() ([]byte, error) { return json.Marshal(c.Milliseconds()) }

// UnmarshalJSON decodes a clock in milliseconds; see ClockMS.
func (c *Clock) UnmarshalJSON(data []byte) error {
	var m ClockMS
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*c = m.Clock()
	return nil
}

// checkReplay returns an error if m, a clock in a replay, is not valid. It makes the same checks as Clock.Check with
// two exceptions: it ignores the start-up time, and it requires Inc to be set exactly if Bank is.
func (m ClockMS) checkReplay() error {
	if (m.Inc != nil) != (m.Bank != 0) {
		return fmt.Errorf("clock: bank and inc go together")
	}
	c := m.Clock()
	c.Startup = DefaultClock.Startup // replays do not have it
	return c.Check()
}

// timer is the clock of one seat during one game.
type timer struct {
	clock Clock
	bank  time.Duration
}

func (t *timer) timeLeft() time.Duration {
	if t.clock.Bank == 0 {
		return t.clock.Move
	}
	return t.bank
}

func (t *timer) spend(d time.Duration) {
	if t.clock.Bank != 0 {
		t.bank = max(0, t.bank-d) + t.clock.Inc
	}
}

// milliseconds converts the time of a move to milliseconds with three decimals, rounded up and at least 0.001. The
// replay records this rounded value, and the same value is subtracted from the bot's bank, so that the bank can be
// computed from the replay.
func milliseconds(d time.Duration) float64 {
	return float64(max(1, (d+time.Microsecond-1)/time.Microsecond)) / 1e3
}

// creditMilliseconds converts a bot's credit (time of a turn that other programs took) to milliseconds with three
// decimals, rounded down.
func creditMilliseconds(d time.Duration) float64 { return float64(d/time.Microsecond) / 1e3 }

// creditDuration converts a time in milliseconds, as replays record it, to a duration. It rounds to whole
// microseconds.
func creditDuration(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1e3)) * time.Microsecond
}

// checkTime returns an error if the recorded time of a bot's move is not positive. It also returns an error if the
// bot's credit (time that other programs took) is negative or longer than that time.
func (m *ReplayMove) checkTime() error {
	switch {
	case m.MS <= 0:
		return fmt.Errorf("it took %v ms: every move takes more than 0 ms", m.MS)
	case m.Credit < 0 || m.Credit > m.MS:
		return fmt.Errorf("it took %v ms: others cannot have taken %v ms of that", m.MS, m.Credit)
	}
	return nil
}

// OwnTime returns the part of the move's time that counts on the bot's clock. It is the elapsed time minus the bot's
// credit, the time that other programs took.
func (m *ReplayMove) OwnTime() time.Duration { return creditDuration(min(m.MS-m.Credit, 1e12)) }
