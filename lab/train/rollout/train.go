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

// The names of what is random, for seeds of their own.
const (
	forGames = "games"
	forOrder = "order"
	forTest  = "test"
)

const (
	piece     = 16   // games that a worker plays at a time
	reports   = 50   // lines of metrics of a run
	tested    = 500  // games against random moves for a line of metrics
	finalTest = 2000 // games of the model against random moves
	slowest   = 20   // the part of the rate that is left at the end
)

// Report is what has come of a training, as result.json has it.
type Report struct {
	Positions int       `json:"positions"` // that were learned from
	Weights   int       `json:"weights"`
	Random    run.Tally `json:"random"` // of the model against random moves
	Loss      float64   `json:"loss"`   // of the last generations: half the mean squared error, summed over the moves of a position
}

func (r Report) String() string {
	return fmt.Sprintf("learned from %s, %s\nagainst random players: %v\n",
		text.Count(r.Positions, "position"), text.Count(r.Weights, "weight"), r.Random)
}

// training is a net in training.
type training struct {
	Config
	mode    cards.Mode
	workers int
	net     *net.Net
	trainer *fit.Trainer
	games   []*games // by worker
	at      progress
}

// progress is how far a training is.
type progress struct {
	Generation int     `json:"generation"`
	Positions  int     `json:"positions"` // learned from in all
	Loss       float64 `json:"loss"`      // summed since the last line of metrics
	Since      int     `json:"since"`     // positions since then, as often as they were learned from
	Last       float64 `json:"last"`      // the loss of that line
}

// newTraining begins with the weights of a net, or with random ones if it is nil.
func newTraining(c Config, from *net.Net, workers int) (t *training, err error) {
	m, _ := cards.ParseMode(c.Mode)
	t = &training{Config: c, mode: m, workers: workers}
	if from != nil {
		t.trainer = fit.NewTrainer(from.Clone(), c.Rate, workers)
	} else if t.trainer, err = fit.Begin(sizes(m, c.Hidden), net.Linear, c.Rate, c.Seed, workers); err != nil {
		return nil, err
	}
	t.net = t.trainer.Net
	for range workers {
		t.games = append(t.games, newGames(&t.Config, m, t.net))
	}
	return t, nil
}

func (c *Config) Begin(_ context.Context, in run.Input) (run.Trainer, error) {
	return newTraining(*c, c.first, in.Workers)
}

func (t *training) Progress() (done, all int) { return t.at.Generation, t.Generations }

// Step plays the games of a generation and learns from them. When the context ends, nothing
// of it has happened.
func (t *training) Step(ctx context.Context) error {
	var lessons []lesson
	pieces := (t.Games + piece - 1) / piece
	err := run.InOrder(ctx, t.workers, 0, pieces, func(worker, k int) (made []lesson, err error) {
		for game := k * piece; game < min(t.Games, (k+1)*piece); game++ {
			made = t.games[worker].lessons(made, run.Derive(t.Seed, forGames, t.at.Generation*t.Games+game))
		}
		return made, nil
	}, func(_ int, made []lesson) error {
		lessons = append(lessons, made...)
		return nil
	})
	if err != nil {
		return err
	}
	t.at.Positions += len(lessons)
	t.trainer.Rate = t.rate()
	r := rules.NewRand(run.Derive(t.Seed, forOrder, t.at.Generation))
	for range t.Passes {
		t.learn(lessons, r)
	}
	t.at.Generation++
	return nil
}

// learn learns once from each lesson, in an order by chance.
func (t *training) learn(lessons []lesson, r *rules.Rand) {
	run.Shuffle(lessons, r)
	outputs := t.mode.Actions()
	for batch := range slices.Chunk(lessons, t.Batch) {
		loss := t.trainer.Step(len(batch), func(_, i int, s *fit.Sample) { batch[i].fill(s, outputs) })
		t.at.Loss += loss * float64(len(batch))
		t.at.Since += len(batch)
	}
}

// rate returns the rate of the generation.
func (t *training) rate() float64 {
	gone := float64(t.at.Generation) / float64(t.Generations)
	return t.Rate * (1 - gone*(slowest-1)/slowest)
}

// Report adds a line of metrics now and then.
func (t *training) Report(f *run.Folder) error {
	every := max(1, t.Generations/reports)
	if t.at.Generation%every != 0 && t.at.Generation != t.Generations {
		return nil
	}
	tally := t.test(tested)
	t.at.Last = t.at.Loss / float64(max(1, t.at.Since))
	t.at.Loss, t.at.Since = 0, 0
	return f.Metrics(t.at.Generation, run.Value{Name: "positions", X: float64(t.at.Positions)}, run.Value{Name: "loss", X: t.at.Last},
		run.Value{Name: "rate", X: t.rate()}, run.Value{Name: "won", X: tally.Share()})
}

// test plays games against random moves, the same ones in every test.
func (t *training) test(n int) (sum run.Tally) {
	// It takes little time: an end of the context waits for it.
	run.InOrder(context.Background(), t.workers, 0, (n+piece-1)/piece, func(worker, k int) (part run.Tally, err error) {
		for game := k * piece; game < min(n, (k+1)*piece); game++ {
			part.Count(t.games[worker].test(game%t.mode.Players, run.Derive(t.Seed, forTest, game)))
		}
		return part, nil
	}, func(_ int, part run.Tally) error {
		sum.Won, sum.Drawn, sum.Lost = sum.Won+part.Won, sum.Drawn+part.Drawn, sum.Lost+part.Lost
		return nil
	})
	return sum
}

func (t *training) Finish(_ context.Context, f *run.Folder) (run.Result, error) {
	h := model.Header{Kind: model.Net, Mode: t.Mode, Encoding: features.Complete, Seed: t.Seed}
	t.net.Describe(&h)
	return Report{t.at.Positions, t.net.Params(), t.test(finalTest), t.at.Last}, errors.Join(
		f.Model(h, t.net.Write),
		f.Plot("loss", "What the net does not foresee", "generation", "half the squared error of a position", "loss"),
		f.Plot("won", "Against random moves", "generation", "games won", "won"),
	)
}

// Size returns the bytes of the weights, the positions of a generation and the checkpoint.
func (t *training) Size() (memory, disk int64) {
	weights := int64(4 * t.net.Params())
	return weights*int64(4+t.Batch/fit.Shard) + int64(t.at.Positions/t.at.Generation)*lessonBytes + overhead, 4*weights + diskElse
}

// What a run takes besides its weights, in bytes.
const (
	lessonBytes = 400 // a position
	overhead    = 20 << 20
	diskElse    = 100 << 10 // the plots and metrics
)

func (t *training) Save(w io.Writer) error { return t.trainer.Save(w, t.at) }

func (t *training) Load(r io.Reader) error {
	err := t.trainer.Load(r, &t.at)
	if err == nil && (t.at.Generation < 0 || t.at.Generation > t.Generations) {
		err = fmt.Errorf("generation %d is not one of the run", t.at.Generation)
	}
	return err
}
