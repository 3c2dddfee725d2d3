//go:build !race || slowrace

package experiment

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/ga"
	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/rollout"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// golden has a very small training of every method and the hash of its model.
var golden = []struct {
	name     string
	settings run.TrainingSettings
}{
	{"sl ph", goldenSL("brisca2", nil)},
	{"sl ph as published", goldenSL("tute3", []string{sl.DefectTruncated, sl.DefectTextLabels, sl.DefectNoSongs})},
	{"rl ms", goldenRL("brisca2", rl.UntriedIgnored, policy.Keys{Variant: policy.ManyStates})},
	{"rl os as published", goldenRL("tute2", rl.UntriedIgnored, policy.Keys{Variant: policy.OneState}, rl.DefectLate, rl.DefectCarry, rl.DefectLast, rl.DefectIndex)},
	{"rl kinds", goldenRL("follow4", rl.UntriedIgnored, policy.Keys{Variant: policy.Abstract, Abstraction: policy.Kinds})},
	{"rl ms, untried zero", goldenRL("brisca2", rl.UntriedZero, policy.Keys{Variant: policy.ManyStates})},
	{"rl kinds, untried zero", goldenRL("follow4", rl.UntriedZero, policy.Keys{Variant: policy.Abstract, Abstraction: policy.Kinds})},
	{"ga xn", goldenGA(ga.Default("brisca3"))},
	{"ga rl", goldenGA(ga.DefaultAgents("tute2"))},
	{"net", &rollout.Config{
		Train: "net", Mode: "tute-teams", Rules: cards.AllRules, Hidden: []int{8}, Generations: 2, Games: 20, LessonPeriod: 4,
		Epsilon: 0.1, Margin: 10, Passes: 2, Batch: 16, LearningRate: 0.01, Seed: 1,
	}},
}

func goldenSL(mode string, defects []string) *sl.Config {
	return &sl.Config{
		Train: "sl", Mode: mode, Variant: sl.VariantPH, Encoding: features.Program, Hidden: []int{8}, Batch: 32, Epochs: 1,
		Rate: fit.DefaultRate, Seed: 1, Defects: defects,
	}
}

func goldenRL(mode, untried string, k policy.Keys, defects ...string) *rl.Config {
	c := rl.Default(mode)
	c.UntriedRule, c.Keys, c.Episodes, c.Memory, c.Batch, c.Defects = untried, k, 600, 8, 200, defects
	return &c
}

func goldenGA(c ga.Config) *ga.Config {
	c.Population, c.Parents, c.Games, c.Generations, c.FinalGames = 6, 3, 4, 4, 8
	if c.Variant == ga.Nets {
		c.Layers = []int{8}
	} else {
		c.Memory = 4
	}
	return &c
}

// TestGoldenModels checks that every method gives exactly the same model as before. If a hash has to change, the
// Version of the method must increase, so that experiments train again. Other processors may round differently.
func TestGoldenModels(t *testing.T) {
	var text strings.Builder
	for _, g := range golden {
		if c, ok := g.settings.(*sl.Config); ok {
			dir, _ := runtest.Train[dataset.SetSize](t, &dataset.Config{Mode: c.Mode, GamesPerRules: 4, Seed: 1})
			c.UseData(kit.Get[*dataset.Set](t)(dataset.Load(dir, 0)))
		}
		dir, _ := runtest.Train[run.TrainingResult](t, g.settings)
		file := kit.Get[*os.File](t)(os.Open(filepath.Join(dir, run.ModelFile)))
		h, body, err := model.Read(file)
		kit.Must(t, err)
		h.Training = nil // a new parameter changes it, and not what plays
		sum := sha256.New()
		fmt.Fprintf(sum, "%+v\n", h)
		kit.Get[int64](t)(io.Copy(sum, body))
		kit.Must(t, body.CheckEnd())
		kit.Must(t, file.Close())
		metrics := kit.Get[[]byte](t)(os.ReadFile(filepath.Join(dir, run.MetricsFile)))
		fmt.Fprintf(&text, "%s: model %x, metrics %x\n", g.name, sum.Sum(nil), sha256.Sum256(metrics))
	}
	report := kit.Get[lms.LearningReport](t)(lms.Train(t.Context(), lms.Training{
		Start: teekolms.InitialWeights, Games: 50, RateSchedule: lms.RateSchedule{Mu: 0.01}, MoveStyle: lms.MoveStyle{Period: 5, Chance: true}, Seed: 1,
	}))
	fmt.Fprintf(&text, "teeko-lms: %x\n", sha256.Sum256([]byte(report.Weights.Text())))
	kit.Golden(t, "models.golden", text.String())
}

// TestGoldenMoves checks that the embedded models play the same moves as before in every mode, with the last
// combinations of the optional rules, which have the exchange.
func TestGoldenMoves(t *testing.T) {
	var text strings.Builder
	for _, kind := range []string{model.SL, model.RL, model.GA, model.Net} {
		for _, mode := range cards.Modes() {
			p := &dataset.Config{Mode: mode.String(), GamesPerRules: 1, Seed: 1, Bots: make([]string, mode.Players)}
			for seat := range p.Bots {
				p.Bots[seat] = "@" + kind
			}
			games := kit.Get[dataset.GenerateFunc](t)(p.BotGames(t.Context(), program.Resolver{}))
			moves := kit.Get[[]byte](t)(games(t.Context(), p.Games()-4, p.Games(), nil))
			fmt.Fprintf(&text, "@%s %s: %x\n", kind, mode, sha256.Sum256(moves))
		}
	}
	kit.Golden(t, "moves.golden", text.String())
}
