//go:build !race || slowrace

package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/ga"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/stats"
)

// TestNameHasTheVersion checks that the cache does not return a model of an older version of the method.
func TestNameHasTheVersion(t *testing.T) {
	e := parsed(t, learned)
	for i := range e.Models {
		p := kit.Get[*TrainedModel](t)(e.Models[i].plan(mended, 1, 1))
		before := p.hashedName()
		p.method.Version++
		after := p.hashedName()
		p.method.Version--
		if before == after || p.hashedName() != before {
			t.Errorf("%s: version 1 has the name %s, version 2 %s", p.method.Name, before, after)
		}
	}
}

// TestStudyRules checks that models of the methods rl and ga learn without optional rules, as in the study.
func TestStudyRules(t *testing.T) {
	n := 0
	for _, e := range kit.Get[[]*Experiment](t)(List()) {
		for i := range e.Models {
			m, got := &e.Models[i], cards.NoRules
			switch c := kit.Get[*TrainedModel](t)(m.plan(e.ways()[0], 1, 1)).settings.(type) {
			case *rl.Config:
				got = c.Rules
				n++
			case *ga.Config:
				got = c.Rules
				n++
			}
			if got != cards.NoRules {
				t.Errorf("%s: model %q learns with the rules %q", e.Name, m.Name, got)
			}
		}
	}
	if n == 0 {
		t.Error("no model learns so")
	}
}

// learned is an experiment in which models of every method play, in both ways.
const learned = `
title = "Learned"
study = "nobody"
cost = "1 s"
both = true
games = 8
game = "brisca"
[bots]
random = "@random"
[[model]]
name = "SL"
method = "sl"
mode = "brisca2"
layers = "8"
[[model]]
name = "RL"
method = "rl"
mode = "brisca2"
[[model]]
name = "GA"
method = "ga"
mode = "brisca2"
population = 8
games = 4
[[match]]
bots = ["SL", "RL"]
[[match]]
bots = ["GA", "random"]
options = {last10 = "yes"}
[[table]]
number = "1"
title = "won"
measure = "first"
of = ["SL", "RL", "GA", "random"]
published = [[60, 40, nan, nan], [nan, nan, 50, 50]]
plot = true
`

// nets is an experiment in which a single net plays, in both ways.
const nets = `
title = "Nets"
study = "nobody"
cost = "1 s"
both = true
games = 8
game = "brisca"
[bots]
random = "@random"
[[model]]
name = "SL"
method = "sl"
mode = "brisca2"
layers = "8"
epochs = 4
[[match]]
bots = ["SL", "random"]
[[table]]
number = "1"
title = "won"
measure = "first"
of = ["SL", "random"]
`

// timed is an experiment whose rows are the training times of models.
const timed = `
title = "Times"
study = "nobody"
cost = "1 s"
[[model]]
name = "data"
method = "data"
mode = "tute3"
each = 1000
[[model]]
name = "net"
method = "sl"
mode = "brisca2"
layers = "8"
[[model]]
name = "search"
method = "ga"
mode = "brisca2"
generations = 4
population = 8
workers = 1
[[table]]
number = "1"
title = "seconds"
measure = "learning"
published = [[100, nan, nan], [100, 100, 100], [nan, nan, 100]]
`

func TestParseRefusesModels(t *testing.T) {
	for _, text := range []string{learned, timed} {
		if _, err := Parse("learned", text); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, from, to, want string }{
		{learned, `method = "rl"`, `method = "xl"`, `model "RL": method "xl" does not exist: try data, sl, rl, ga, net`},
		{learned, `method = "rl"`, `method = "data"`, `a data set plays no match`},
		{learned, `method = "sl"`, "method = \"sl\"\nrules = \"none\"", `rules is not for method sl: try variant, encoding, layers, batch, epochs, rate`},
		{learned, `method = "ga"`, "method = \"ga\"\nrules = \"some\"", `rules "some" do not exist in mode brisca2: try all, none, or 4 digits`},
		{learned, `method = "ga"`, "method = \"ga\"\nuntried = \"zero\"", `untried is not for variant xn: leave it out`},
		{learned, `method = "rl"`, "method = \"rl\"\nuntried = \"one\"", `untried cannot be "one": try zero, ignored`},
		{learned, `mode = "brisca2"`, `mode = "chess2"`, `model "SL": mode cannot be "chess2": try brisca2, `},
		{learned, `mode = "brisca2"`, `mode = "brisca3"`, `match "SL - RL": model "SL" is for brisca3, not for brisca`},
		{learned, `layers = "8"`, `layers = "wide"`, `layers cannot be "wide"`},
		{learned, `layers = "8"`, `episodes = 5`, `episodes is not for method sl: try variant, encoding`},
		{learned, `layers = "8"`, `variant = "os"`, `variant cannot be "os": try wl, p, ph, p-negative, rest`},
		{learned, `layers = "8"`, `defects = "truncated"`, `defects are for an experiment that does not play both ways`},
		{strings.Replace(learned, "both = true", "", 1), `layers = "8"`, `defects = "late"`, `defect "late" does not exist`},
		{learned, `population = 8`, `population = 1`, `population cannot be "1"`},
		{learned, `population = 8`, `workers = 1000`, `workers cannot be "1000": try 1 to 256`},
		{learned, `layers = "8"`, `seeds = 3`, `model "SL": seeds cannot be 3: try a list of different numbers`},
		{learned, `layers = "8"`, `seeds = [1, 1]`, `seeds cannot be [1 1]`},
		{learned, `layers = "8"`, `seeds = [-1]`, `seeds cannot be [-1]`},
		{learned, `layers = "8"`, `seeds = []`, `seeds cannot be []`},
		{strings.Replace(learned, `layers = "8"`, `seeds = [1, 2]`, 1), `method = "rl"`, "method = \"rl\"\nseeds = [1, 2, 3]",
			`match "SL - RL": model "RL" has 3 seeds, another 2: give them as many`},
		{learned, `layers = "8"`, `layers = ["8", "9"]`, `model "SL": layers is a list: the name needs {layers}`},
		{learned, `layers = "8"`, `defects = ["truncated"]`, `defects is a list: the name needs {defects}`},
		{learned, `name = "SL"`, `name = "SL {layers}"`, `bot "SL" is not among the bots`},
		{timed, `cost = "1 s"`, "cost = \"1 s\"\noptions = {players = \"3\"}", `it needs either a game with its bots`},
		{learned, `name = "RL"`, `name = "SL"`, `model "SL": the name is missing or taken`},
		{learned, `name = "RL"`, `name = "random"`, `model "random": the name is missing or taken`},
		{learned, `bots = ["SL", "RL"]`, `bots = ["SL", "SL"]`, `bot "RL" plays no match`},
		{learned, `last10 = "yes"`, `last10 = "perhaps"`, `last10`},
		{learned, `last10 = "yes"`, `players = "3"`, `2 bots for 3 seats`},
		{learned, `bots = ["SL", "RL"]`, "bots = [\"SL\", \"RL\"]\nfixed = true\npermuted = true", `permuted is for at most 4 bots that are not fixed`},
		{learned, `measure = "first"`, `measure = "learning"`, `measure "learning" does not exist: try`},
		{tiny, `games = 20`, "both = true\ngames = 20", `both ways are for models that play: there are none`},
		{timed, `cost = "1 s"`, "cost = \"1 s\"\ngames = 5", `models alone play no games`},
		{timed, `[[100, nan, nan]`, `[[100, 5, nan]`, `a figure of "preparing" is published where it does not play`},
		{timed, `each = 1000`, `each = 100000000`, `each cannot be "100000000": try 1 to`},
	} {
		text := strings.Replace(c.text, c.from, c.to, 1)
		if text == c.text {
			t.Fatalf("%q is not in the file", c.from)
		}
		if _, err := Parse("learned", text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

// TestModelLists checks that a model with lists stands for all combinations, with the last list varying fastest.
func TestModelLists(t *testing.T) {
	e := parsed(t, `
title = "Times"
study = "nobody"
cost = "1 s"
[[model]]
name = "{mode} with {each}"
method = "data"
mode = ["tute3", "brisca2"]
each = [1000, 2000]
[[model]]
name = "bits, {layers}"
method = "sl"
mode = "brisca2"
encoding = "table9"
layers = ["8", "thirds"]
defects = "truncated"
[[table]]
number = "1"
title = "seconds"
measure = "learning"
`)
	var got []string
	for i, m := range e.Models {
		got = append(got, fmt.Sprintf("%s: %s %v, %d games, %q", m.Name, m.Mode, m.Settings, e.rows[i].games, m.Defects))
	}
	want := []string{
		`tute3 with 1000: tute3 map[each:1000], 8000 games, ""`,
		`tute3 with 2000: tute3 map[each:2000], 16000 games, ""`,
		`brisca2 with 1000: brisca2 map[each:1000], 16000 games, ""`,
		`brisca2 with 2000: brisca2 map[each:2000], 32000 games, ""`,
		`bits, 8: brisca2 map[encoding:table9 layers:8], 128000 games, "truncated"`,
		`bits, thirds: brisca2 map[encoding:table9 layers:thirds], 128000 games, "truncated"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPlan checks the settings of planned models: those of the study, a scaled size, and all defects as published.
func TestPlan(t *testing.T) {
	e := parsed(t, learned)
	for name, want := range map[string]struct {
		size, study int
		unit        string
		defects     int
	}{
		"SL": {12_800, 128_000, "games", len(sl.Defects)},
		"RL": {300_000, 3_000_000, "episodes", len(rl.Defects)},
		"GA": {100, 1000, "generations", len(ga.Defects)},
	} {
		for _, w := range e.ways() {
			p := kit.Get[*TrainedModel](t)(e.Models.find(name).plan(w, 0.1, 7))
			n := 0
			if w == asPublished {
				n = want.defects
			}
			if p.Size != want.size || p.StudySize != want.study || p.Unit != want.unit || len(p.Defects) != n {
				t.Errorf("%s, %s: %+v", name, w, p)
			}
		}
	}
	p := kit.Get[*TrainedModel](t)(e.Models.find("RL").plan(mended, 1, 7))
	want := rl.Default("brisca2")
	want.Seed = 7
	if diff := cmp.Diff(&want, p.settings.(*rl.Config), cmp.Comparer(func(a, b []string) bool { return slices.Equal(a, b) }), cmp.AllowUnexported(rl.Config{})); diff != "" {
		t.Error(diff)
	}
}

// TestPlanData checks that a net learns from a data set with the settings each and bot of its model.
func TestPlanData(t *testing.T) {
	e := parsed(t, strings.Replace(learned, `layers = "8"`, "layers = \"8\"\neach = 200\nbot = \"@sl\"", 1))
	p := kit.Get[*TrainedModel](t)(e.Models.find("SL").plan(mended, 1, 7))
	want := &dataset.Config{Train: "data", Mode: "brisca2", GamesPerRules: 200, Seed: 7, Bots: []string{"@sl", "@sl"}}
	if diff := cmp.Diff(want, p.data.settings.(*dataset.Config)); diff != "" {
		t.Error(diff)
	}
}

// TestPlanNames checks that the name of a cached model depends on exactly the values that determine the model.
func TestPlanNames(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct {
		what, text string
		way        way
		scale      float64
		seed       uint64
	}{
		{"mended", learned, mended, 0.1, 1},
		{"as published", learned, asPublished, 0.1, 1},
		{"scale", learned, mended, 0.2, 1},
		{"seed", learned, mended, 0.1, 2},
		{"layers", strings.Replace(learned, `layers = "8"`, `layers = "9"`, 1), mended, 0.1, 1},
		{"epochs", strings.Replace(learned, `layers = "8"`, "layers = \"8\"\nepochs = 2", 1), mended, 0.1, 1},
		{"mode", strings.NewReplacer("brisca2", "tute2", `"brisca"`, `"tute"`).Replace(learned), mended, 0.1, 1},
	} {
		e := parsed(t, c.text)
		p := kit.Get[*TrainedModel](t)(e.Models[0].plan(c.way, c.scale, c.seed))
		if other, ok := seen[p.hashedName()]; ok {
			t.Errorf("%s has the name of %s", c.what, other)
		}
		seen[p.hashedName()] = c.what
	}
	again := parsed(t, strings.Replace(learned, `name = "SL"`, `name = "other"`, 1)[:strings.Index(learned, "[[match]]")+3]+tail)
	p, err := again.Models[0].plan(mended, 0.1, 1)
	if err != nil || seen[p.hashedName()] != "mended" {
		t.Errorf("a model of another name is trained again: %v", err)
	}
}

const tail = `
[[match]]
bots = ["other", "RL"]
[[match]]
bots = ["GA", "random"]
[[table]]
number = "1"
title = "won"
measure = "first"
of = ["other"]
`

func parsed(t *testing.T, text string) *Experiment {
	t.Helper()
	return kit.Get[*Experiment](t)(Parse("learned", text))
}

// TestOrders checks that permuted bots sit in every order equally often.
func TestOrders(t *testing.T) {
	m := Matchup{Bots: []string{"a", "b", "c", "d"}}
	for want, m := range map[int]Matchup{
		4: m, 1: {Bots: m.Bots, Fixed: true}, 24: {Bots: m.Bots, Permuted: true}, 6: {Bots: m.Bots[:3], Permuted: true},
	} {
		orders := m.orders()
		if len(orders) != want {
			t.Errorf("%d orders, want %d", len(orders), want)
		}
		at := map[[2]int]int{}
		for i, order := range orders {
			if slices.ContainsFunc(orders[:i], func(o []int) bool { return slices.Equal(o, order) }) {
				t.Errorf("%v is there twice", order)
			}
			for seat, bot := range order {
				at[[2]int{seat, bot}]++
			}
		}
		for place, n := range at {
			if want > 1 && n != want/len(m.Bots) {
				t.Errorf("%d orders: bot %d is in seat %d %d times", want, place[1], place[0], n)
			}
		}
	}
}

// TestFirst checks who has rank 1 in shared games and in games of teams.
func TestFirst(t *testing.T) {
	m := measures["first"]
	games := []result{{FirstRanked: []string{"a"}}, {FirstRanked: []string{"a", "b"}}, {FirstRanked: []string{"b"}}, {FirstRanked: []string{"a"}}}
	for bot, want := range map[string]float64{"a": 75, "b": 50, "c": 0} {
		if e := m.estimate(games, bot); e.Value != want {
			t.Errorf("%s: %v, want %v", bot, e.Value, want)
		}
	}
}

// TestRatio checks that the ratio of times is for each game and does not depend on the scale.
func TestRatio(t *testing.T) {
	time := func(x float64) stats.Estimate { return stats.Estimate{Value: x} }
	for _, c := range []struct {
		f    Figure
		want string
	}{
		{Figure{Games: 100, OurEstimate: time(1), StudyGames: 1000, PublishedEstimate: time(5000)}, "1/500"},
		{Figure{Games: 1000, OurEstimate: time(10), StudyGames: 1000, PublishedEstimate: time(25_000)}, "1/2,500"},
		{Figure{Games: 1000, OurEstimate: time(10), StudyGames: 1000, PublishedEstimate: time(5)}, "2"},
		{Figure{Games: 1000, OurEstimate: time(10), StudyGames: 1000, PublishedEstimate: time(math.NaN())}, ""},
		{Figure{OurEstimate: time(math.NaN()), StudyGames: 1000, PublishedEstimate: time(5)}, ""},
	} {
		if got := c.f.ratio(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}
