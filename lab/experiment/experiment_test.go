//go:build !race || slowrace

package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/stats"
)

// TestFiles checks every embedded experiment: its bots exist, and its tables fit its matches.
func TestFiles(t *testing.T) {
	list := kit.Get[[]*Experiment](t)(List())
	if len(list) < 12 {
		t.Errorf("%d experiments", len(list))
	}
	for _, e := range list {
		found, err := Find(e.Name)
		if err != nil || found.Title != e.Title {
			t.Errorf("%s: %v", e.Name, err)
		}
		if e.Cost == "?" || !strings.HasSuffix(strings.TrimSpace(e.Remark), ".") {
			t.Errorf("%s: its cost or its remark is missing", e.Name)
		}
		for _, table := range e.Tables {
			m := measures[table.Measure]
			for row, r := range e.rows {
				sum := 0.0
				for column := range table.columns() {
					published := table.publishedFigure(row, column)
					sum += published
					if m.share && (published < 0 || published > 100 && !table.Counts) {
						t.Errorf("%s, table %s: a share of %v", e.Name, table.Number, published)
					}
				}
				if whole := float64(r.games); m.kind == kindTrainings && sum != whole && !math.IsNaN(sum) {
					t.Errorf("%s, table %s: %v games of %v", e.Name, table.Number, sum, whole)
				}
			}
		}
	}
}

func TestFindSuggests(t *testing.T) {
	_, err := Find("tebes-dept")
	if err == nil || !strings.HasSuffix(err.Error(), "try tebes-depth-4, tebes-depth-6") {
		t.Error(err)
	}
	if _, err := Find("xyz"); err == nil || !strings.Contains(err.Error(), "teeko-1, teeko-2") {
		t.Error(err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"games = 20", "games = 0", "games cannot be 0"},
		{"title = \"Tiny\"", "", "title, study or cost is missing"},
		{"cost = \"1 s\"", "cost = \"1 s\"\nprice = 1", `key "price" does not exist`},
		{"cost = \"1 s\"", "cost = \"1 s\"\nname = \"x\"", `key "name" does not exist`},
		{"fixed = true", "still = true", `key "match.still" does not exist`},
		{"game = \"teeko\"", "game = \"chess\"", "chess"},
		{"limit = \"40\"", "limit = \"x\"", "limit"},
		{"\"@greedy\"", "\"@gredy\"", `house bot "gredy" does not exist`},
		{"\"@greedy\"", "\"@greedy:noise=200\"", "noise"},
		{"\"@greedy\"", "\"./greedy\"", "is not a house bot"},
		{"\"@greedy\"", "\"@tebes-minimax:depth=2\"", "does not play teeko"},
		{"random = \"@random\"", "random = \"@random\"\nidle = \"@first\"", `bot "idle" plays no match`},
		{"bots = [\"greedy\", \"random\"]", "bots = [\"greedy\"]", `match "greedy": there are 1 bots for 2 seats`},
		{"name = \"the same\"", "name = \"greedy - random\"", `match "greedy - random": another match has this name`},
		{"\"wins\"", "\"wins!\"", `measure "wins!" does not exist: try`},
		{"\"wins\"", "\"lms\"", `measure "lms" does not exist`},
		{"of = [\"greedy\", \"random\"]", "", "of cannot be"},
		{"of = [\"greedy\", \"random\"]", "of = [\"greedy\", \"rules\"]", `bot "rules" does not play`},
		{"[[90, 10], [nan, nan]]", "[[90, 10], [nan]]", "3 figures are published where 2 rows have 2 columns"},
		{"measure = \"turns\"", "measure = \"turns\"\ncounts = true", "counts are for shares"},
		{"[nan, nan]]", "[5, 5]]", "a figure of \"greedy\" is published where it does not play"},
		{"of = [\"greedy\", \"random\"]", "of = [\"greedy\", \"random\"]\ntotal = [1.0]", "total has 1 figures for 2 columns"},
		{"[[match]]", "[[matches]]", "key"},
		{"fixed = true", "rules = \"all\"", `match "the same": rules are for brisca and tute, not for teeko`},
	} {
		text := strings.Replace(tiny, c.from, c.to, 1)
		if text == tiny {
			t.Fatalf("%q is not in the file", c.from)
		}
		if _, err := Parse("tiny", text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
	const timed = "game = \"tebes\"\noptions = {}\n"
	text := strings.Replace(strings.Replace(tiny, "game = \"teeko\"\noptions = {limit = \"40\", opening = \"2\"}\n", timed, 1), "@greedy", "@tebes-mcts", 1)
	if _, err := Parse("tiny", text); err == nil || !strings.Contains(err.Error(), "write time=4s") {
		t.Error(err)
	}
}

func TestParseRefusesTrainings(t *testing.T) {
	const good = `
title = "Tiny"
study = "nobody"
cost = "1 s"
games = 20
[[training]]
name = "first"
from = "initial"
opponent = "random"
mu = 0.01
limit = 50
[[table]]
number = "1"
title = "won"
measure = "lms"
counts = true
published = [[10, 10, 0]]
`
	if _, err := Parse("tiny", good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"\"initial\"", "\"last\"", `from cannot be "last"`},
		{"\"random\"", "\"second\"", `opponent cannot be "second"`},
		{"mu = 0.01", "", "mu cannot be 0"},
		{"mu = 0.01", "mu = 0.01\nfixed = true", "mu cannot be 0.01"},
		{"limit = 50", "", "limit must be"},
		{"limit = 50", "limit = 50\nseed = 2", `key "training.seed" does not exist`},
		{"mu = 0.01", "mu = 0.01\nperiod = -1", "period -1 is below 0"},
		{"mu = 0.01", "fixed = true\nreplace = true", "replace is for one that learns"},
		{"name = \"first\"", "name = \"initial\"", "missing or taken"},
		{"games = 20", "games = 20\ngame = \"teeko\"", "either a game"},
		{"games = 20", "games = 20\ngrid = [\"a\"]", "either a game"},
	} {
		if _, err := Parse("tiny", strings.Replace(good, c.from, c.to, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		spec string
		by   float64
		rate int
		want string
	}{
		{"@tebes-mcts:time=4s", 0.1, 0, "@tebes-mcts:time=400ms"},
		{"@tebes-mcts-h:h=2,time=4s,k=50", 1.5, 0, "@tebes-mcts-h:h=2,time=6s,k=50"},
		{"@tebes-mcts:time=4s", 0.0001, 0, "@tebes-mcts:time=1ms"},
		{"@tebes-mcts:time=4s", 1, 0, "@tebes-mcts:time=4s"},
		{"@tebes-mcts-h:h=2,time=4s,k=50", 1, 2500, "@tebes-mcts-h:h=2,time=0s,nodes=10000,k=50"},
		{"@tebes-mcts:time=6s", 0.5, 2500, "@tebes-mcts:time=0s,nodes=7500"},
		{"@tebes-mcts:time=4s", 0.0001, 1, "@tebes-mcts:time=0s,nodes=1"},
		{"@tebes-minimax:depth=2", 1, 2500, "@tebes-minimax:depth=2"},
		{"@tebes-minimax:depth=2", 0.1, 0, "@tebes-minimax:depth=2"},
		{"@random", 0.1, 0, "@random"},
	} {
		got := scaleTime(c.spec, c.by, c.rate)
		if got != c.want {
			t.Errorf("%s by %v, %d nodes a second: %s, want %s", c.spec, c.by, c.rate, got, c.want)
		}
		if _, err := house.CanonicalSpec(strings.TrimPrefix(got, "@")); err != nil {
			t.Error(err)
		}
	}
}

// TestVerdict checks that figures agree if their intervals overlap.
func TestVerdict(t *testing.T) {
	wins := func(won, games int) (list []result) {
		for i := range games {
			list = append(list, result{Winner: map[bool]string{true: "a"}[i < won], Turns: float64(30 + i%3)})
		}
		return list
	}
	nan, share, turns := math.NaN(), measures["wins"], measures["turns"]
	for _, c := range []struct {
		m         measure
		games     []result
		published float64
		sample    int
		want      Verdict
	}{
		{share, wins(50, 100), 55, 100, Agrees},
		{share, wins(50, 100), 70, 100, Differs},
		{share, wins(50, 100), 70, 10, Agrees}, // of few games
		{share, wins(2, 2), 50, 100, Agrees},
		{share, wins(50, 100), nan, 100, NotCompared},
		{share, nil, 50, 100, NotCompared},
		{turns, wins(50, 100), 31.1, 100, Agrees},
		{turns, wins(50, 100), 33, 100, Differs},
		{turns, wins(1, 1), 33, 100, NotCompared}, // one game has no interval
		{measures["nodes"], wins(1, 10), 0, 1, Agrees},
		{measures["nodes"], wins(1, 10), 1, 1, Differs},
		{measures["move-time"], wins(1, 10), 1, 1, NotCompared},
	} {
		f := figure(c.m, c.games, "a", c.published, row{name: "row", games: c.sample, seedCount: 1})
		if f.Verdict != c.want {
			t.Errorf("%+v: %q, want %q", f, f.Verdict, c.want)
		}
	}
}

// TestPublishedInterval checks that the interval of a published mean uses our spread and the study's number
// of games.
func TestPublishedInterval(t *testing.T) {
	m := measures["turns"]
	got := m.publishedEstimate(40, 400, stats.Estimate{Value: 35, Low: 34, High: 36}, 100)
	if got != (stats.Estimate{Value: 40, Low: 39.5, High: 40.5}) {
		t.Error(got)
	}
	m = measures["wins"]
	// Wilson's interval of 83 of 100 games with Student's quantile.
	if got := m.publishedEstimate(83, 100, stats.Estimate{}, 0); math.Abs(got.Low-74.4) > 0.1 || math.Abs(got.High-89.1) > 0.1 {
		t.Error(got)
	}
}

// TestBlocks checks that blocks of any size have all games of a match, about the same number in every
// rotation, and different keys.
func TestBlocks(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(brisca.Game.Resolve(nil))
	e := &Experiment{Game: "brisca", Matches: []Matchup{
		{Name: "four", Bots: []string{"a", "b", "b", "b"}, variant: v, seedCount: 1},
		{Name: "two", Bots: []string{"a", "b"}, Fixed: true, variant: v, seedCount: 1},
	}}
	found := map[way]map[string][]player{asNamed: {"a": {{label: "@a"}}, "b": {{label: "@b"}}}}
	for _, games := range []int{1, 3, 4, 45, 100} {
		type order struct {
			row   int
			first string // the bot of seat 0
		}
		count := map[order]int{}
		seen := map[string]bool{}
		for i := range e.Matches {
			e.Matches[i].Games = games
		}
		for _, b := range e.blocks(&Options{Scale: 1}, found) {
			at := order{b.row, b.seats[0].Name}
			count[at] += b.games
			if key := at.first + b.key(); seen[key] || b.games < 1 || b.games > maxBlockGames {
				t.Errorf("%d games: block %+v", games, b)
			} else {
				seen[key] = true
			}
		}
		sum := 0
		for _, first := range []string{"a#0", "b#1", "b#2", "b#3"} {
			n := count[order{0, first}]
			sum += n
			if n != games/4 && n != games/4+1 {
				t.Errorf("%d games: %d with %s in seat 0", games, n, first)
			}
		}
		if sum != games || count[order{1, "a#0"}] != games {
			t.Errorf("%d games: %v", games, count)
		}
	}
}

// TestBlocksDiffer checks that no two blocks of a match have the same deals, even if the same bots sit in several
// of its orders (partners that change seats, or a bot that plays itself), or for two seeds of a model.
func TestBlocksDiffer(t *testing.T) {
	found := map[string][]player{"a": {{label: "@a1"}, {label: "@a2"}}, "b": {{label: "@b"}}}
	for _, m := range []Matchup{
		{Bots: []string{"a", "b", "a", "b"}}, {Bots: []string{"b", "b"}}, {Bots: []string{"a", "b", "b"}, Permuted: true},
	} {
		m.variant = kit.Get[*rules.Variant](t)(brisca.Game.Resolve(nil))
		seen := map[string]bool{}
		for _, instance := range []int{0, 1} {
			for _, b := range m.blocks(60, maxBlockGames, instance, found) {
				if key := b.key(); seen[key] && m.Bots[0] == "a" || instance == 0 && seen[key] {
					t.Errorf("%q: deals %s twice", m.Bots, key)
				} else {
					seen[key] = true
				}
			}
		}
	}
}

// TestBlockKey checks that everything that determines the games of a block is part of its key.
func TestBlockKey(t *testing.T) {
	block := func(game *rules.Game, options map[string]string, number int, labels ...string) string {
		b := block{variant: kit.Get[*rules.Variant](t)(game.Resolve(options)), number: number}
		for _, label := range labels {
			b.seats = append(b.seats, player{label: label})
		}
		return b.key()
	}
	keys := []string{
		block(brisca.Game, nil, 0, "@a", "@b"), block(brisca.Game, nil, 0, "@b", "@a"), block(brisca.Game, nil, 1, "@a", "@b"),
		block(brisca.Game, map[string]string{"last10": "yes"}, 0, "@a", "@b"), block(tute.Game, nil, 0, "@a", "@b"),
	}
	if slices.Sort(keys); len(slices.Compact(keys)) != 5 {
		t.Error(keys)
	}
}

// TestMatchOfAllRules checks that a match of all rules becomes one for each combination, named after its digits.
func TestMatchOfAllRules(t *testing.T) {
	e := kit.Get[*Experiment](t)(Find("thesis-fig39"))
	if len(e.Matches) != 16 || len(e.rows) != 16 {
		t.Fatalf("%d matches, %d rows", len(e.Matches), len(e.rows))
	}
	m := e.Matches[6]
	if got := m.variant.Settings.String(); m.Name != "0110" || !strings.Contains(got, "exchange=no last10=yes blackhand=yes hunt3=no without2=no followonly=yes") {
		t.Errorf("match %q has %s", m.Name, got)
	}
}

// TestScore checks that a score is 1 for a win and 0.5 for a draw, in percent, for a seat or a bot.
func TestScore(t *testing.T) {
	m := measures["score"]
	games := []result{{Winner: "a", WinnerSeat: 0}, {Winner: "b", WinnerSeat: 1}, {Winner: "a", WinnerSeat: 1}, {WinnerSeat: -1, IsDraw: true}}
	for bot, want := range map[string]float64{"a": 62.5, "b": 37.5, seatColumn: 37.5} {
		if e := m.estimate(games, bot); e.Value != want || e.Low >= want || e.High <= want {
			t.Errorf("%s: %+v, want %v", bot, e, want)
		}
	}
}

// TestReplicated checks intervals over models, whose games are not independent. Win rates of 50, 60 and 70 %
// have the mean 60 and the standard deviation 10. Student's quantile for two degrees of freedom is 4.3027,
// so that the interval is 60 +- 4.3027 x 10 / sqrt 3 for any number of games.
func TestReplicated(t *testing.T) {
	var games []result
	for instance, won := range []int{5, 12, 7} {
		for i := range []int{10, 20, 10}[instance] {
			games = append(games, result{instance: instance, Winner: map[bool]string{true: "a"}[i < won], Turns: float64(won)})
		}
	}
	f := figure(measures["wins"], games, "a", 60, row{name: "row", games: 100, seedCount: 3})
	if f.Models != 3 || f.Games != 40 || math.Abs(f.OurEstimate.Value-60) > 1e-9 || math.Abs(f.OurEstimate.Low-35.159) > 0.001 || math.Abs(f.OurEstimate.High-84.841) > 0.001 {
		t.Errorf("%+v", f)
	}
	if alone := figure(measures["wins"], games[:10], "a", 60, row{games: 100, seedCount: 3}); alone.Verdict != NotCompared || alone.Models != 1 {
		t.Errorf("one model of three is compared, or counts as three: %+v", alone)
	}
	// Means of 5, 12 and 7: 8 +- 4.3027 x sqrt 13 / sqrt 3, limited to turns from 0 on.
	f = figure(measures["turns"], games, "turns", 8, row{games: 100, seedCount: 3})
	if math.Abs(f.OurEstimate.Value-8) > 1e-9 || f.OurEstimate.Low != 0 || math.Abs(f.OurEstimate.High-16.957) > 0.001 {
		t.Errorf("%+v", f)
	}
	wins := measures["wins"]
	if most := wins.mean([]float64{90, 95, 99}); most.High != 100 {
		t.Errorf("a share of more than 100 %%: %+v", most)
	}
}
