package rollout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// The purposes for which seeds are derived.
const (
	forGames = "games"
	forOrder = "order"
	forTest  = "test"
)

const (
	pieceGames   = 16   // games that a worker plays at a time
	metricsLines = 50   // lines of metrics in a run
	metricsGames = 500  // games against random moves for a line of metrics
	finalTest    = 2000 // games of the model against random moves
	rateDivisor  = 20   // the learning rate decreases to this part of its initial value
)

// RolloutReport is the result of a training, which is stored as result.json.
type RolloutReport struct {
	Positions int          `json:"positions"` // learned from
	Weights   int          `json:"weights"`
	Random    run.WinTally `json:"random"` // games of the model against random moves
	Loss      float64      `json:"loss"`   // mean in the last generations, see package fit
}

func (r RolloutReport) String() string {
	return fmt.Sprintf("learned from %s, %s\nagainst random players: %v\n",
		text.Count(r.Positions, "position"), text.Count(r.Weights, "weight"), r.Random)
}

// training is a run of policy iteration in progress. It implements run.Trainer.
type training struct {
	Config
	mode     cards.Mode
	workers  int
	net      *net.Net
	trainer  *fit.NetTrainer
	players  []*gamePlayer // by worker
	progress progress
}

// progress is the state of a training that a checkpoint stores in addition to the weights.
type progress struct {
	Generation    int     `json:"generation"`
	Positions     int     `json:"positions"` // learned from so far
	Loss          float64 `json:"loss"`      // sum over the positions since the last line of metrics
	LossPositions int     `json:"since"`     // number of these positions, counted once for each pass
	LastLoss      float64 `json:"last"`      // mean loss in the last line of metrics
}

// newTraining returns a training. The argument from is the net whose copy is trained; if it is nil, a net with
// random weights is trained. The result of the training does not depend on the number of workers.
func newTraining(c Config, from *net.Net, workers int) (t *training, err error) {
	m, _ := cards.ParseMode(c.Mode)
	t = &training{Config: c, mode: m, workers: workers}
	if from != nil {
		t.trainer = fit.NewTrainer(from.Clone(), c.LearningRate, workers)
	} else if t.trainer, err = fit.NewRandomTrainer(sizes(m, c.Hidden), net.Linear, c.LearningRate, c.Seed, workers); err != nil {
		return nil, err
	}
	t.net = t.trainer.Net
	for range workers {
		t.players = append(t.players, newGamePlayer(&t.Config, m, t.net))
	}
	return t, nil
}

func (c *Config) Prepare(_ context.Context, in run.Input) (run.Trainer, error) {
	return newTraining(*c, c.initialNet, in.Workers)
}

func (t *training) Progress() (done, all int) { return t.progress.Generation, t.Generations }

// Step plays the games of a generation and learns from them. If ctx ends during the games, Step returns an
// error and changes nothing.
func (t *training) Step(ctx context.Context) error {
	var lessons []lesson
	pieces := (t.Games + pieceGames - 1) / pieceGames
	err := run.BuildInOrder(ctx, t.workers, 0, pieces, func(worker, k int) (made []lesson, err error) {
		for game := k * pieceGames; game < min(t.Games, (k+1)*pieceGames); game++ {
			made = t.players[worker].playLessons(made, run.DeriveSeed(t.Seed, forGames, t.progress.Generation*t.Games+game))
		}
		return made, nil
	}, func(_ int, made []lesson) error {
		lessons = append(lessons, made...)
		return nil
	})
	if err != nil {
		return err
	}
	t.progress.Positions += len(lessons)
	t.trainer.Rate = t.rate()
	r := rules.NewRand(run.DeriveSeed(t.Seed, forOrder, t.progress.Generation))
	for range t.Passes {
		t.learn(lessons, r)
	}
	t.progress.Generation++
	return nil
}

// learn shuffles lessons with r and trains the net once with each of them. A lesson is a position with the
// advantages of its moves.
func (t *training) learn(lessons []lesson, r *rules.Rand) {
	run.Shuffle(lessons, r)
	outputs := t.mode.Actions()
	for batch := range slices.Chunk(lessons, t.Batch) {
		loss := t.trainer.Step(len(batch), func(_, i int, s *fit.Sample) { batch[i].fillSample(s, outputs) })
		t.progress.Loss += loss * float64(len(batch))
		t.progress.LossPositions += len(batch)
	}
}

func (t *training) rate() float64 {
	gone := float64(t.progress.Generation) / float64(t.Generations)
	return t.LearningRate * (1 - gone*(rateDivisor-1)/rateDivisor)
}

// Report adds a line of metrics to f every few generations, so that a run has about metricsLines lines.
func (t *training) Report(f *run.Folder) error {
	every := max(1, t.Generations/metricsLines)
	if t.progress.Generation%every != 0 && t.progress.Generation != t.Generations {
		return nil
	}
	tally := t.testAgainstRandom(metricsGames)
	t.progress.LastLoss = t.progress.Loss / float64(max(1, t.progress.LossPositions))
	t.progress.Loss, t.progress.LossPositions = 0, 0
	return f.AddMetrics(t.progress.Generation, run.Metric{Name: "positions", Value: float64(t.progress.Positions)}, run.Metric{Name: "loss", Value: t.progress.LastLoss},
		run.Metric{Name: "rate", Value: t.rate()}, run.Metric{Name: "won", Value: tally.WinShare()})
}

// testAgainstRandom plays n games of the net against random moves. All tests have the same deals.
func (t *training) testAgainstRandom(n int) (sum run.WinTally) {
	// The test is short, so it does not stop when the context ends.
	run.BuildInOrder(context.Background(), t.workers, 0, (n+pieceGames-1)/pieceGames, func(worker, k int) (part run.WinTally, err error) {
		for game := k * pieceGames; game < min(n, (k+1)*pieceGames); game++ {
			part.Count(t.players[worker].playTest(game%t.mode.Players, run.DeriveSeed(t.Seed, forTest, game)))
		}
		return part, nil
	}, func(_ int, part run.WinTally) error {
		sum.Wins, sum.Draws, sum.Losses = sum.Wins+part.Wins, sum.Draws+part.Draws, sum.Losses+part.Losses
		return nil
	})
	return sum
}

func (t *training) Finish(_ context.Context, f *run.Folder) (run.TrainingResult, error) {
	h := model.Header{Kind: model.Net, Mode: t.Mode, Encoding: features.Complete, Seed: t.Seed}
	t.net.Describe(&h)
	return RolloutReport{t.progress.Positions, t.net.ParamCount(), t.testAgainstRandom(finalTest), t.progress.LastLoss}, errors.Join(
		f.WriteModel(run.ModelFile, h, t.net.Write),
		f.Plot("loss", "What the net does not foresee", "generation", "half the squared error of a position", "loss"),
		f.Plot("won", "Against random moves", "generation", "games won", "won"),
	)
}

// Size returns estimates, in bytes, of the memory that the training needs, and of its files on disk.
func (t *training) Size() (memory, disk int64) {
	weights := int64(4 * t.net.ParamCount())
	return weights*int64(4+t.Batch/fit.ShardRows) + int64(t.progress.Positions/t.progress.Generation)*lessonBytes + overhead, 4*weights + diskOverhead
}

// The bytes that a run needs besides its weights.
const (
	lessonBytes  = 400 // for each position
	overhead     = 20 << 20
	diskOverhead = 100 << 10 // for plots and metrics
)

func (t *training) Save(w io.Writer) error { return t.trainer.Save(w, t.progress) }

func (t *training) Load(r io.Reader) error {
	err := t.trainer.Load(r, &t.progress)
	if err == nil && (t.progress.Generation < 0 || t.progress.Generation > t.Generations) {
		err = fmt.Errorf("generation %d is not one of the run", t.progress.Generation)
	}
	return err
}
