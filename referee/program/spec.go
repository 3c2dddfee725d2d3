package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Spec is what a user writes for a bot of a match: which bot, and what it has of its own.
type Spec struct {
	Bot  string `json:"bot"`  // a house bot, a directory or a command
	Name string `json:"name"` // "" for the bot's own
	Own
}

// Specs returns the specs of bots that have nothing of their own.
func Specs(bots []string) []Spec {
	specs := make([]Spec, len(bots))
	for i, b := range bots {
		specs[i].Bot = b
	}
	return specs
}

// specKeys are the keys of ParseSpec, in the order of its errors.
var specKeys = slices.Concat([]string{"name", "cmd", "args"}, ownKeys)

// MaxName is the longest name of a bot that a user gives it for a match, in bytes.
const MaxName = 64

// ParseSpec reads what stands for a bot of a match: a house bot, a directory or a command as it is,
// or pairs of key and value with quotes as in a shell, such as name=new cmd="./bot -c 2" movetime=50,
// where the first word has one of the keys. SPEC.md, "Bots of a local match", has the keys.
func ParseSpec(bot string) (Spec, error) {
	if key, _, _ := strings.Cut(bot, "="); key == bot || !slices.Contains(specKeys, key) {
		return Spec{Bot: bot}, nil
	}
	s, err := parsePairs(bot)
	if err != nil {
		return s, fmt.Errorf("bot %q: %w", bot, err)
	}
	return s, nil
}

func parsePairs(line string) (s Spec, err error) {
	if !utf8.ValidString(line) {
		return s, errors.New("it is not UTF-8: write it in UTF-8")
	}
	pairs, err := words(line)
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

func (s *Spec) set(key, value string) (err error) {
	switch key {
	case "name":
		s.Name = value
		return checkName(value)
	case "cmd":
		if s.Bot = value; value == "" {
			err = errors.New("cmd is empty: name a house bot, a directory or a command, as in cmd=./mybot")
		}
	case "args":
		if s.Args, err = words(value); err != nil {
			err = fmt.Errorf("args: %w", err)
		}
	default:
		err = s.Own.set(key, value)
	}
	return err
}

// checkName returns an error unless a name fits into tables.
func checkName(name string) error {
	if name == "" || len(name) > MaxName || printable(name) != name {
		return fmt.Errorf("name cannot be %q: give 1 to %d printable ASCII characters without spaces", name, MaxName)
	}
	return nil
}
