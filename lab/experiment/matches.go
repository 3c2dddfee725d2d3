package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// nameSeparator separates the names of the bots in the name of a match's row.
const nameSeparator = " - "

// seatColumn is the name of the column for seat 0 in tables of matches in which all bots keep their seats. It
// stands for every bot that has this seat.
const seatColumn = "seat 0"

func (e *Experiment) players() []string {
	names := slices.Sorted(maps.Keys(e.Bots))
	for i := range e.Models {
		names = append(names, e.Models[i].Name)
	}
	return names
}

// completeMatches adds the matches of the experiment's grid. It replaces each match that has Rules by one
// match for each combination of rules. It then checks all matches and bots.
func (e *Experiment) completeMatches() error {
	if (len(e.Grid) > 0) == (len(e.Matches) > 0) {
		return errors.New("it needs either a grid or matches")
	}
	matches := e.Matches
	for _, first := range e.Grid {
		for _, second := range e.Grid {
			matches = append(matches, Matchup{Name: first + nameSeparator + second, Bots: []string{first, second}, Fixed: true})
		}
	}
	e.Matches = nil
	for _, m := range matches {
		list, err := e.resolveMatch(m)
		if err != nil {
			return err
		}
		for i := range list {
			if err := e.addMatch(&list[i]); err != nil {
				return fmt.Errorf("match %q: %w", list[i].Name, err)
			}
		}
	}
	for _, name := range e.players() {
		if !slices.ContainsFunc(e.rows, func(r row) bool { return r.has(name) }) {
			return fmt.Errorf("bot %q plays no match", name)
		}
	}
	return nil
}

// resolveMatch returns copies of m with the field variant set: one copy for each combination of optional rules that
// m.Rules selects or, if m.Rules is empty, only one.
func (e *Experiment) resolveMatch(m Matchup) ([]Matchup, error) {
	m.Game = cmp.Or(m.Game, e.Game)
	g, err := games.Find(m.Game)
	if err != nil {
		return nil, err
	}
	options := map[string]string{}
	maps.Copy(options, e.Options)
	maps.Copy(options, m.Options)
	if m.variant, err = g.Resolve(options); err != nil {
		return nil, err
	}
	if m.Games == 0 {
		m.Games = e.Games
	}
	if m.Rules == "" {
		if m.Name == "" {
			m.Name = strings.Join(slices.Compact(slices.Clone(m.Bots)), nameSeparator)
		}
		return []Matchup{m}, nil
	}
	mode, ok := cards.ModeOf(m.variant)
	if !ok {
		return nil, fmt.Errorf("match %q: rules are for brisca and tute, not for %s", m.Name, m.Game)
	}
	all, err := mode.Combinations(m.Rules)
	if err != nil {
		return nil, err
	}
	name := m.Name
	var list []Matchup
	for _, r := range all {
		m.variant = mode.Variant(r)
		m.Name = strings.TrimSpace(fmt.Sprintf("%s %0*b", name, mode.RuleCount(), cards.RuleBits(r)))
		list = append(list, m)
	}
	return list, nil
}

// maxPermutedSeats is the maximal number of seats of a permuted match.
const maxPermutedSeats = 4

// addMatch checks a match, appends it to e.Matches, and adds its row to the tables.
func (e *Experiment) addMatch(m *Matchup) error {
	switch {
	case slices.ContainsFunc(e.rows, func(r row) bool { return r.name == m.Name }):
		return errors.New("another match has this name")
	case len(e.Grid) > 0 && m.variant.Players != 2:
		return fmt.Errorf("a grid is for two seats, not for %d", m.variant.Players)
	case len(m.Bots) != m.variant.Players:
		return fmt.Errorf("there are %d bots for %d seats", len(m.Bots), m.variant.Players)
	case m.Games < 0:
		return fmt.Errorf("games cannot be %d: try 1 or more", m.Games)
	case m.Permuted && (m.Fixed || len(m.Bots) > maxPermutedSeats):
		return fmt.Errorf("permuted is for at most %d bots that are not fixed", maxPermutedSeats)
	}
	m.seedCount = 1
	for _, name := range m.Bots {
		if spec, ok := e.Bots[name]; ok {
			if err := checkBot(spec, m.Game); err != nil {
				return err
			}
			continue
		}
		model := e.Models.find(name)
		if model == nil {
			return fmt.Errorf("bot %q is not among the bots", name)
		}
		if mode, ok := cards.ModeOf(m.variant); !ok || mode.String() != model.Mode {
			return fmt.Errorf("model %q is for %s, not for %s %s", name, model.Mode, m.Game, m.variant.Settings)
		}
		if n := model.seedCount(); m.seedCount > 1 && n > 1 && n != m.seedCount {
			return fmt.Errorf("model %q has %d seeds, another %d: give them as many", name, n, m.seedCount)
		}
		m.seedCount = max(m.seedCount, model.seedCount())
	}
	plays := func(name string) bool { return slices.Contains(m.Bots, name) }
	e.Matches = append(e.Matches, *m)
	e.rows = append(e.rows, row{name: m.Name, games: m.Games, seedCount: m.seedCount, absent: slices.DeleteFunc(e.players(), plays)})
	return nil
}

// orders returns the orders in which the bots of m take their seats. Each order has, by seat, the index of a bot in
// m.Bots.
func (m *Matchup) orders() (list [][]int) {
	n := len(m.Bots)
	rotations := n
	switch {
	case m.Permuted:
		return allOrders(n)
	case m.Fixed:
		rotations = 1
	}
	for r := range rotations {
		order := make([]int, n)
		for seat := range order {
			order[seat] = rules.BotAt(seat, r, n)
		}
		list = append(list, order)
	}
	return list
}

// allOrders returns all permutations of the numbers in [0, n).
func allOrders(n int) (list [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range allOrders(n - 1) {
		for at := range n {
			list = append(list, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return list
}

// checkBot returns an error unless spec names a house bot (part of timba) that can play the game. If the bot has
// an option for its time for a move, spec must set it.
func checkBot(spec, game string) error {
	given, ok := strings.CutPrefix(spec, "@")
	if !ok {
		return fmt.Errorf("bot %q is not a house bot: write @NAME", spec)
	}
	if _, err := house.NewPlayer(given); err != nil {
		return err
	}
	name, _, _ := strings.Cut(given, ":")
	for _, b := range house.Bots() {
		if b.Name != name {
			continue
		}
		if b.Games != nil && !slices.Contains(b.Games, game) {
			return fmt.Errorf("bot %q does not play %s", spec, game)
		}
		for _, o := range b.Options() {
			if o.Name == "time" && o.DefaultText() != "0s" && !timeOption.MatchString(spec) {
				return fmt.Errorf("bot %q does not say its time, which --time-scale changes: write time=%s", spec, o.DefaultText())
			}
		}
	}
	return nil
}

// timeOption matches, in the spec of a bot, the option that sets its time for a move.
var timeOption = regexp.MustCompile(`\btime=([^,]+)`)

// moveTime returns the time for a move that the spec of a bot sets, or 0 if it sets none.
func moveTime(spec string) time.Duration {
	found := timeOption.FindStringSubmatch(spec)
	if found == nil {
		return 0
	}
	d, _ := time.ParseDuration(found[1]) // house.NewPlayer has checked it
	return d
}

// scaleTime returns spec (the name and options of a bot) with another limit for a move. If rate is 0, the time for
// a move is multiplied by factor, but is at least a millisecond. Otherwise a number of search nodes replaces the
// time: rate for each second of the multiplied time, but at least one node.
func scaleTime(spec string, factor float64, rate int) string {
	d := moveTime(spec)
	if d == 0 || factor == 1 && rate == 0 {
		return spec
	}
	given := "time=" + max(time.Duration(float64(d)*factor), time.Millisecond).String()
	if rate > 0 {
		given = fmt.Sprintf("time=0s,nodes=%d", max(1, int(math.Round(d.Seconds()*factor*float64(rate)))))
	}
	return timeOption.ReplaceAllString(spec, given)
}

// Timed reports whether any bot is limited by time. If so, games differ from run to run unless
// Options.NodeRate is set.
func (e *Experiment) Timed() bool {
	for _, spec := range e.Bots {
		if moveTime(spec) > 0 {
			return true
		}
	}
	return false
}
