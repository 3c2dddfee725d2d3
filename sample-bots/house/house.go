// Package house has the bots inside the binary: `timba bot NAME` runs one on
// stdin and stdout. A bot is deterministic: the same game, options and seed make
// it play the same moves.
package house

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Player answers turns. It keeps memory between turns, so that each process has
// one of its own.
type Player interface {
	Answer(*protocol.Turn) protocol.Answer
}

// Bot is a house bot as it is listed.
type Bot struct {
	Name    string
	Help    string         // one line
	Options []rules.Option // of NAME:key=value,key=value
	make    func(rules.Settings) Player
}

// List is every house bot, the simplest first.
func List() []Bot {
	return []Bot{
		{"random", "plays any legal move", nil, newRandom},
		{"first", "plays the first move of the list", nil, newFirst},
		{"greedy", "looks one move ahead and takes what is worth most", greedyOptions, newGreedy},
	}
}

// Find makes the player that a spec asks for: NAME or NAME:key=value,key=value.
func Find(spec string) (Player, error) {
	name, given, _ := strings.Cut(spec, ":")
	for _, b := range List() {
		if b.Name != name {
			continue
		}
		settings, err := b.settle(spec, given)
		if err != nil {
			return nil, err
		}
		return b.make(settings), nil
	}
	return nil, fmt.Errorf("house bot %q does not exist: try %s", name, strings.Join(names(), ", "))
}

// Version is what house bots call themselves: it changes with the moves they make.
const Version = "1"

// Run plays on in and out as the bot that spec asks for, under that name.
func Run(spec string, in io.Reader, out io.Writer) error {
	p, err := Find(spec)
	if err != nil {
		return err
	}
	return protocol.Serve(in, out, spec, Version, p.Answer)
}

func names() (n []string) {
	for _, b := range List() {
		n = append(n, b.Name)
	}
	return n
}

// settle reads "key=value,key=value"; options not given have their defaults.
func (b Bot) settle(spec, given string) (rules.Settings, error) {
	settings := make(rules.Settings, len(b.Options))
	for i, o := range b.Options {
		settings[i] = rules.Setting{Name: o.Name, Value: o.DefaultText()}
	}
	if given == "" {
		return settings, nil
	}
	for pair := range strings.SplitSeq(given, ",") {
		key, value, ok := strings.Cut(pair, "=")
		i := slices.IndexFunc(b.Options, func(o rules.Option) bool { return o.Name == key })
		if i < 0 || !ok {
			return nil, fmt.Errorf("house bot %q: there is no option %q: %s", spec, pair, b.tryOptions())
		}
		value, err := b.Options[i].Settle(value)
		if err != nil {
			return nil, fmt.Errorf("house bot %q: %w", spec, err)
		}
		settings[i].Value = value
	}
	return settings, nil
}

// tryOptions says what a bot's options are.
func (b Bot) tryOptions() string {
	if len(b.Options) == 0 {
		return b.Name + " has no options"
	}
	var all []string
	for _, o := range b.Options {
		all = append(all, fmt.Sprintf("%s=%s (%s)", o.Name, o.DefaultText(), o.Allowed()))
	}
	return "try " + strings.Join(all, ", ")
}
