package sl

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// data returns a data set of random games.
func data(t testing.TB, mode string, each int) *dataset.Set {
	t.Helper()
	return made(t, &dataset.Config{Mode: mode, GamesPerRules: each, Seed: 1})
}

func made(t testing.TB, c *dataset.Config) *dataset.Set {
	t.Helper()
	dir, _ := runtest.Train[dataset.SetSize](t, c)
	return kit.Get[*dataset.Set](t)(dataset.Load(dir, 0))
}

func config(set *dataset.Set) Config {
	c := Config{
		Train: "sl", Mode: set.Mode.String(), Variant: VariantPH, Encoding: features.Program, Hidden: []int{20, 10}, Batch: 32, Epochs: 2, Rate: 0.001,
		Seed: 1,
	}
	c.UseData(set)
	return c
}

func training(t testing.TB, set *dataset.Set, c Config, workers int) *Training {
	t.Helper()
	kit.Must(t, c.Check())
	return kit.Get[*Training](t)(newTraining(t.Context(), c, set, workers))
}

func trained(t testing.TB, tr *Training) (string, *Result) {
	t.Helper()
	return runtest.Train[*Result](t, ready{&tr.config, tr})
}

// ready has the settings of a training that is already prepared.
type ready struct {
	*Config
	training *Training
}

func (r ready) Prepare(context.Context, run.Input) (run.Trainer, error) { return r.training, nil }

// TestResumeWithOtherGames checks that a training cannot be resumed with other games, even with the same
// settings (a bot may have changed), but with the same games in another directory.
func TestResumeWithOtherGames(t *testing.T) {
	other := made(t, &dataset.Config{Mode: "brisca3", GamesPerRules: 5, Seed: 2})
	other.Header.Seed = 1
	c, again, changed := config(data(t, "brisca3", 5)), config(data(t, "brisca3", 5)), config(other)
	dir := t.TempDir()
	f, err := run.Open(dir, c, false)
	kit.Must(t, err)
	f.Close()
	if f, err = run.Open(dir, again, true); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if changed.Data.Seed != c.Data.Seed {
		t.Fatal("the header says that the games are others")
	}
	if f, err = run.Open(dir, changed, true); err == nil {
		f.Close()
		t.Error("a training goes on with other games")
	} else if !strings.Contains(err.Error(), "was begun with dataSHA256") {
		t.Error(err)
	}
}

// TestVariants checks that every variant and encoding predicts better than the most common class, and that
// its model plays the same legal moves as the net in memory.
func TestVariants(t *testing.T) {
	kit.Slow(t)
	for _, test := range []struct{ mode, variant, encoding string }{
		{"brisca2", VariantPH, features.Program}, {"brisca2", VariantWL, "table9"}, {"tute2", VariantP, "table11"}, {"follow-teams", VariantPH, "table6"}, {"brisca3", VariantNegative, "program-bits"},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			set := data(t, test.mode, 60)
			c := config(set)
			c.Variant, c.Encoding, c.Rate = test.variant, test.encoding, 0.003
			tr := training(t, set, c, 2)
			dir, r := trained(t, tr)
			if base := commonest(tr); r.Test.Accuracy < base-0.02 || r.Test.Rows != len(tr.test) || !(r.Test.Loss > 0 && r.Test.Loss < math.Log(float64(r.Classes)+1)) {
				t.Errorf("%+v; always the commonest class is right in %v", r, base)
			}
			h, body, err := model.Read(bytes.NewReader(kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, run.ModelFile)))))
			kit.Must(t, err)
			read, err := learned.ReadSL(h, body)
			kit.Must(t, err)
			games(t, agent(tr), read, set.Mode, 5)
		})
	}
}

// commonest returns the share of the most common class in the test rows.
func commonest(tr *Training) float64 {
	count, most := map[uint16]int{}, 0
	for _, at := range tr.test {
		count[at.class]++
		most = max(most, count[at.class])
	}
	return float64(most) / float64(len(tr.test))
}

// games plays random games and checks that two agents choose the same legal moves.
func games(t *testing.T, a, b *learned.SL, m cards.Mode, n int) {
	t.Helper()
	r := rules.NewRand(9)
	src := rules.FastStream(r)
	for i := range n {
		p := new(cards.Position)
		p.Deal(m, m.Rules()[i], &src)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			move, value := a.Choose(p, legal, i%2 == 0)
			again, same := b.Choose(p, legal, i%2 == 0)
			if move != again || value != same || !slices.Contains(legal, move) {
				t.Fatalf("%v: %d, %v and %d, %v among %v", m, move, value, again, same, legal)
			}
			p.Play(legal[r.Below(len(legal))])
		}
	}
}

// TestSameModel checks that the files depend only on the seed, also with an interruption in an epoch.
func TestSameModel(t *testing.T) {
	set := data(t, "brisca2", 20)
	files := func(c Config) string {
		return runtest.CheckDeterminism(t, &c)
	}
	c := config(set)
	other := c
	other.Seed++
	if files(c) == files(other) {
		t.Error("another seed comes to the same files")
	}
}

// TestDefects checks the defects: labels with three digits are sorted between those with two, and inputs are
// 0 or 1.
func TestDefects(t *testing.T) {
	for _, test := range []struct {
		labels []int
		want   string
	}{
		{[]int{-40, -39, 0, 45}, "[-40 -39 0 45]"},             // 5, 6, 45, 90
		{[]int{-40, -39, 0, 50, 55}, "[50 55 -40 -39 0]"},      // 15, 16, 55, 105, 110
		{[]int{-50, -25, 0, 5, 40, 97}, "[5 40 97 -50 -25 0]"}, // 47, 72, 97, 102, 137, 194
		{[]int{0, 5, 22, 94}, "[0 5 22 94]"},                   // 0, 5, 22, 94
	} {
		if got := fmt.Sprint(orderAsText(test.labels)); got != test.want {
			t.Errorf("%v as text: %s", test.labels, got)
		}
	}
	set := data(t, "tute2", 20)
	c := config(set)
	c.Defects = []string{DefectTruncated, DefectTextLabels}
	tr := training(t, set, c, 1)
	if !slices.Equal(tr.rows.labels, orderAsText(slices.Sorted(slices.Values(tr.rows.labels)))) || slices.IsSorted(tr.rows.labels) {
		t.Errorf("labels: %v", tr.rows.labels)
	}
	var s fit.Sample
	for _, at := range tr.train[:200] {
		s.Reset()
		tr.fillers[0].fillSample(at, &s)
		for _, x := range s.Value {
			if x != 1 {
				t.Fatalf("an input is %v", x)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	good := Config{Mode: "tute2", Variant: VariantWL, Encoding: features.Program, Hidden: []int{5}, Batch: 1, Epochs: 1, Rate: 0.1, Data: dataset.SetHeader{Mode: "tute2"}}
	kit.Must(t, good.Check())
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Data.Mode = "tute3" }, "data set is of mode \"tute3\""},
		{func(c *Config) { c.Hidden = []int{0} }, "a layer has 1 to"},
	} {
		c := good
		test.change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.want, err)
		}
	}
	m, _ := cards.ParseMode("brisca2")
	for text, want := range map[string]string{"50-25": "[50 25]", "thirds": "[100 50 33]", "7": "[7]"} {
		if got, err := fit.ParseLayers(text, m, "table6"); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "5-", "0", "99999"} {
		if _, err := fit.ParseLayers(text, m, features.Program); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTruncate(t *testing.T) {
	s := net.Inputs{Index: []uint16{1, 4, 7, 9}, Value: []float32{1, 0.99, 2.5, 1}}
	truncate(&s)
	if got := fmt.Sprint(s.Index, s.Value); got != "[1 7 9] [1 2 1]" {
		t.Errorf("truncated: %s", got)
	}
}

// TestLabels checks the lowest and the highest label of each variant, and its number of labels: all that the program of
// the study has outputs for.
func TestLabels(t *testing.T) {
	for _, test := range []struct{ mode, variant, want string }{
		{"brisca2", VariantP, "26 labels from 0 to 32"},
		{"brisca2", VariantNegative, "51 labels from -32 to 32"},
		{"brisca2", VariantPH, "84 labels from -41 to 43"},
		{"brisca4", VariantNegative, "103 labels from -54 to 54"},
		{"tute2", VariantP, "59 labels from 0 to 72"},
	} {
		set := data(t, test.mode, 100)
		c := config(set)
		c.Variant = test.variant
		l := training(t, set, c, 2).rows.labels
		if got := fmt.Sprintf("%d labels from %d to %d", len(l), l[0], l[len(l)-1]); got != test.want {
			t.Errorf("%s, %s: %s", test.mode, test.variant, got)
		}
	}
}

// TestTies checks that a shared game counts as won.
func TestTies(t *testing.T) {
	for standing, want := range map[int8]int16{-1: 0, 0: winClass, 1: winClass} {
		if got := outcomeOf(&decisions.Decision{Standing: standing}, VariantWL).label; got != want {
			t.Errorf("standing %d: %d", standing, got)
		}
	}
}

// TestExact checks that an output counts as exact if it is its target, or too small for a float32 and its target is 0.
func TestExact(t *testing.T) {
	for _, test := range []struct {
		out    []float32
		sample fit.Sample
		want   int
	}{
		{[]float32{0, 0.5, 1e-39}, fit.Sample{Class: 1}, 2},
		{[]float32{0, 1, 0}, fit.Sample{Class: 1}, 3},
		{[]float32{0, 1, 0}, fit.Sample{Class: 0}, 1},
		{[]float32{1}, fit.Sample{Targets: winTargets[1]}, 1},
		{[]float32{0.9}, fit.Sample{Targets: winTargets[1]}, 0},
	} {
		if got := countExact(test.out, &test.sample); got != test.want {
			t.Errorf("%v: %d, not %d", test.out, got, test.want)
		}
	}
}

func agent(tr *Training) *learned.SL {
	return learned.NewSL(tr.Header(), tr.rows.encoder, tr.net)
}
