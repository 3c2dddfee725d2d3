package program

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

// BotSpec is a bot of a match as the user writes it, with the settings that apply only to this bot.
type BotSpec struct {
	Bot  string `json:"bot"`  // a house bot, a directory, a file or a command
	Name string `json:"name"` // its name in the match; "" means the name of the bot
	Overrides
}

// specKeys are the keys that ParseSpec accepts, in the order in which error messages list them.
var specKeys = slices.Concat([]string{"name", "cmd", "args"}, overrideKeys)

// maxName is the largest length, in bytes, of a name that a user gives to a bot.
const maxName = 64

// ParseSpec parses what a user has written as a bot of a match. If its first word is key=value with a known key, the
// whole text is a list of such pairs, such as name=new cmd="./bot -c 2" movetime=50. docs/matches.md, "Bots of a
// local match", explains the keys. Otherwise the whole text names the bot.
func ParseSpec(bot string) (BotSpec, error) {
	if key, _, _ := strings.Cut(bot, "="); key == bot || !slices.Contains(specKeys, key) {
		return BotSpec{Bot: bot}, nil
	}
	s, err := parsePairs(bot)
	if err != nil {
		return s, fmt.Errorf("bot %q: %w", bot, err)
	}
	return s, nil
}

func parsePairs(line string) (s BotSpec, err error) {
	if !utf8.ValidString(line) {
		return s, errors.New("it is not UTF-8: write it in UTF-8")
	}
	pairs, err := splitWords(line)
	if err != nil {
		return s, err
	}
	given := map[string]bool{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			return s, fmt.Errorf(`%q is not key=value: quote values with spaces, as in cmd="./bot -c 2"`, pair)
		case !slices.Contains(specKeys, key):
			last := len(specKeys) - 1
			return s, fmt.Errorf("unknown key %q: try %s or %s", key, strings.Join(specKeys[:last], ", "), specKeys[last])
		case given[key]:
			return s, fmt.Errorf("%s is set twice: choose one", key)
		}
		given[key] = true
		if err := s.set(key, value); err != nil {
			return s, err
		}
	}
	if s.Bot == "" {
		return s, errors.New("cmd is missing: name a house bot, a directory or a command, as in cmd=./mybot")
	}
	return s, s.check()
}

func (s *BotSpec) set(key, value string) (err error) {
	switch key {
	case "name":
		s.Name = value
		return checkName(value)
	case "cmd":
		if s.Bot = value; value == "" {
			err = errors.New("cmd is empty: name a house bot, a directory or a command, as in cmd=./mybot")
		}
	case "args":
		if s.Args, err = splitWords(value); err != nil {
			err = fmt.Errorf("args: %w", err)
		}
	default:
		err = s.Overrides.set(key, value)
	}
	return err
}

func checkName(name string) error {
	if name == "" || len(name) > maxName || printable(name) != name {
		return fmt.Errorf("name cannot be %q: give 1 to %d printable ASCII characters without spaces", name, maxName)
	}
	return nil
}

// Overrides are settings of one bot in a local match. A setting that is not zero replaces that of the match.
type Overrides struct {
	Args      []string   `json:"args,omitempty"`     // appended to the arguments of its command
	Movetime  int64      `json:"movetime,omitempty"` // in milliseconds, like Bank and Inc
	Bank      int64      `json:"bank,omitempty"`
	Inc       int64      `json:"inc,omitempty"`
	Memory    size.Bytes `json:"memory,omitempty"`
	Processes int        `json:"processes,omitempty"`
}

// overrideKeys are the keys of Overrides that a manifest can have: all except args.
var overrideKeys = []string{"movetime", "bank", "inc", "memory", "processes"}

// maxProcesses is the largest limit of processes that a user can set. No machine reaches it.
const maxProcesses = 1 << 22

// set parses value and stores it under the given key. It panics if the key is not one of overrideKeys.
func (o *Overrides) set(key, value string) (err error) {
	day := (24 * time.Hour).Milliseconds()
	switch key {
	case "movetime":
		o.Movetime, err = number(key, value, 1, day, "milliseconds")
	case "bank":
		o.Bank, err = number(key, value, 1, day, "milliseconds")
	case "inc":
		o.Inc, err = number(key, value, 0, day, "milliseconds")
	case "processes":
		var n int64
		n, err = number(key, value, 1, maxProcesses, "processes")
		o.Processes = int(n)
	case "memory":
		if o.Memory, err = size.Parse(value); err != nil {
			return fmt.Errorf("memory %w", err)
		}
		if _, err := (sandbox.Limit{Memory: int64(o.Memory)}).Check(); err != nil {
			return fmt.Errorf("memory cannot be %q: %w", value, err)
		}
	default:
		panic("program: no key of a bot: " + key)
	}
	return err
}

func number(key, value string, least, most int64, unit string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s cannot be %q: give a whole number of %s, %d to %d", key, value, unit, least, most)
	}
	return n, nil
}

// check returns an error if movetime and bank are both set, or inc without bank.
func (o *Overrides) check() error {
	switch {
	case o.Movetime != 0 && o.Bank != 0:
		return fmt.Errorf("movetime and bank exclude each other: choose one")
	case o.Inc != 0 && o.Bank == 0:
		return fmt.Errorf("inc goes with bank: set bank as well")
	}
	return nil
}

// withDefaults returns o with its missing settings taken from m, the settings in the bot's manifest.
func (o Overrides) withDefaults(m Overrides) Overrides {
	if o.Movetime == 0 && o.Bank == 0 {
		o.Movetime, o.Bank, o.Inc = m.Movetime, m.Bank, m.Inc
	}
	o.Memory = cmp.Or(o.Memory, m.Memory)
	o.Processes = cmp.Or(o.Processes, m.Processes)
	return o
}

// Clock returns the clock of the bot if it has settings of its own for that, and otherwise nil, which means that the
// bot uses the match's clock. c is the match's clock, from which the margin and the start-up time are taken.
func (o Overrides) Clock(c referee.Clock) *referee.Clock {
	if o.Movetime == 0 && o.Bank == 0 {
		return nil
	}
	ms := referee.ClockMS{Movetime: o.Movetime, Bank: o.Bank, Inc: &o.Inc}.Clock()
	ms.Margin, ms.Startup = c.Margin, c.Startup
	return &ms
}

// Limit returns the limits of the bot's sandbox. They are the limits in o or, where o has none, those in l, the
// limits of the match.
func (o Overrides) Limit(l sandbox.Limit) sandbox.Limit {
	l.Memory = cmp.Or(int64(o.Memory), l.Memory)
	l.Processes = cmp.Or(o.Processes, l.Processes)
	return l
}
