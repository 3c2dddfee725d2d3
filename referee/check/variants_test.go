package check

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Every allowed pair of values of two options is in one of the variants that are played, every value in one
// of those of a quick check, and the defaults come first; SPEC.md, "Games".
func TestGamesCovered(t *testing.T) {
	for _, g := range games.All() {
		want := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		for _, pairs := range []bool{false, true} {
			list := coveringVariants(allVariants(g, nil), pairs)
			if got := list[0].Settings.String(); got != want.Settings.String() {
				t.Errorf("%s begins with %s, want the defaults", g.Name, got)
			}
			have := map[string]bool{}
			for _, v := range list {
				for _, a := range v.Settings {
					for _, b := range v.Settings {
						have[fmt.Sprint(a, b)] = true
					}
				}
			}
			for _, v := range allVariants(g, nil) {
				for _, a := range v.Settings {
					for _, b := range v.Settings {
						if (pairs || a == b) && !have[fmt.Sprint(a, b)] {
							t.Errorf("%s: no variant has %v and %v", g.Name, a, b)
						}
					}
				}
			}
		}
	}
}

// Only what the bot claims and the user has set is played.
func TestGamesClaimed(t *testing.T) {
	for _, c := range []struct {
		claims []string
		set    map[string]string
		want   map[string]int // variants by "players teams"
	}{
		{[]string{"brisca players=2"}, nil, map[string]int{"2 no": 16}},
		{[]string{"brisca players=2", "brisca players=4 teams=yes", "teeko"}, nil, map[string]int{"2 no": 16, "4 yes": 8}},
		{nil, map[string]string{"players": "2", "hunt3": "yes"}, map[string]int{"2 no": 8}},
		{[]string{"brisca players=2"}, map[string]string{"players": "4"}, map[string]int{}},
		{nil, map[string]string{"size": "4"}, map[string]int{}},
	} {
		got := map[string]int{}
		for _, v := range claimedVariants(oneGame(t, "brisca")[0], c.claims, c.set) {
			got[v.Settings.Get("players")+" "+v.Settings.Get("teams")]++
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%q, %v: %v, want %v", c.claims, c.set, got, c.want)
		}
	}
}

func TestSamples(t *testing.T) {
	for _, c := range []struct {
		option rules.Option
		want   string
	}{
		{rules.Option{Name: "teams", Values: []string{"no", "yes"}}, "[no yes]"},
		{rules.Option{Name: "players", Min: 2, Max: 5, Default: 3}, "[3 2 4 5]"},
		{rules.Option{Name: "limit", Max: 1000, Default: 400}, "[400 40 0]"},
		{rules.Option{Name: "size", Min: 5, Max: 9, Default: 5}, "[5]"},
	} {
		if got := fmt.Sprint(samples(c.option)); got != c.want {
			t.Errorf("%s: %s, want %s", c.option.Name, got, c.want)
		}
	}
}

// A process plays dozens of games, with changing games and from several seats.
func TestManyGamesPlan(t *testing.T) {
	for _, c := range []struct {
		quick bool
		games []*rules.Game
		least int
	}{{false, games.All(), someGames}, {false, oneGame(t, "teeko"), someGames}, {true, oneGame(t, "teeko"), fewGames}} {
		k := &run{Options: Options{Games: c.games, Quick: c.quick}, gameResults: map[string]*gameResult{}, variants: map[string][]*rules.Variant{}}
		for _, g := range c.games {
			k.gameResults[g.Name] = new(gameResult)
			k.variants[g.Name] = allVariants(g, nil)
		}
		k.planMany()
		if n := len(k.marathon.plan); n < c.least {
			t.Errorf("%d games, want %d", n, c.least)
		}
		seats := map[string]map[int]bool{}
		changes := 0
		for i, g := range k.marathon.plan {
			name := g.variant.Game.Name
			if seats[name] == nil {
				seats[name] = map[int]bool{}
			}
			seats[name][g.seat] = true
			if g.seat < 0 || g.seat >= g.variant.Players {
				t.Fatalf("seat %d of %d", g.seat, g.variant.Players)
			}
			if i > 0 && k.marathon.plan[i-1].variant.Game != g.variant.Game {
				changes++
			}
		}
		for name, s := range seats {
			if len(s) < 2 {
				t.Errorf("%s is played from one seat only", name)
			}
		}
		if len(c.games) > 1 && changes < len(c.games)*3 {
			t.Errorf("the game changes %d times", changes)
		}
	}
}

// The lines of variations are valid lines of the protocol; SPEC.md, "Shape".
func TestShapeOfVariations(t *testing.T) {
	lines := []string{
		"timba 1",
		"game brisca players=2 seat=0 seed=5 movetime=1000",
		"event draw 1 ?",
		"view hand=12c,1o trick=- played=-",
		"turn 3 1000 12c 1o",
		"end ranks=1,2 points=61,59",
	}
	for _, d := range variations {
		if d.style.rewriteLine == nil {
			continue
		}
		changed := false
		for _, line := range lines {
			before := kit.Get[protocol.RefLine](t)(protocol.ParseReferee([]byte(line)))
			found := false
			for got := range strings.SplitSeq(d.style.rewriteLine(line), "\n") {
				l, err := protocol.ParseReferee([]byte(got))
				if err != nil || len(got) > protocol.MaxLine {
					t.Errorf("%s: %v, %d bytes", d.name, err, len(got))
				}
				changed = changed || got != line
				if l.Verb == before.Verb && string(l.Name) == string(before.Name) {
					found = true
					for key, value := range before.Pairs.All() {
						if l.Pairs.Get(string(key)) != string(value) {
							t.Errorf("%s: %s has lost %s", d.name, got, key)
						}
					}
				}
			}
			if !found {
				t.Errorf("%s: %q is not sent", d.name, line)
			}
		}
		if !changed {
			t.Errorf("%s changes nothing", d.name)
		}
	}
}

// The clock of the check "bank" is valid for a match, and the bot is told all of it.
func TestBankOfAnyTime(t *testing.T) {
	for _, move := range []time.Duration{1, 5, 19, 1000, 24 * 3600 * 1000} {
		c := referee.DefaultClock
		c.Move = move * time.Millisecond
		if c = withBank(c); c.Check() != nil || c.Inc == 0 || c.Bank < move*time.Millisecond {
			t.Errorf("for %v ms a move it is %v: %v", int(move), c, c.Check())
		}
	}
}
