package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/sample-bots/house"
)

// TrainedModel is a model trained with one seed and in one way, that is, with certain defects of the study's
// program. The training sets the times, the number of workers and the directory.
type TrainedModel struct {
	Name string `json:"name"`
	// Way says whether the model is trained with all defects of the study's program or with none. It is "" unless
	// Experiment.BothWays is set; the model then has the defects in Model.Defects.
	Way            way      `json:"way,omitempty"`
	Method         string   `json:"method"`
	Mode           string   `json:"mode"`
	Seed           uint64   `json:"seed"`
	Defects        []string `json:"defects"`
	Size           int      `json:"size"`           // amount of training: games of the data set, episodes or generations
	StudySize      int      `json:"study"`          // amount of training in the study
	Unit           string   `json:"unit"`           // unit of Size and StudySize: games, episodes or generations
	Extra          string   `json:"more,omitempty"` // further text on the amount, such as the number of epochs
	DataSeconds    float64  `json:"making"`         // time to generate the data set
	PrepareSeconds float64  `json:"preparing"`
	TrainSeconds   float64  `json:"training"`
	Workers        int      `json:"workers"`
	Dir            string   `json:"dir"` // directory of its run
	// Test has the results of the net on test data, if the method is supervised learning. Otherwise it is nil.
	Test *sl.Metrics `json:"test,omitempty"`

	row      int  // index of the model in Experiment.Models
	instance int  // index of its seed in Model.Seeds
	hasSeeds bool // the model has a list of seeds
	method   *run.Method
	settings run.TrainingSettings
	data     *TrainedModel // the data set, for the method sl
	workers  int           // Model.Workers
	entry    string        // name of its directory in the cache
	trained  bool          // the training has ended
}

func (l *TrainedModel) duration() time.Duration {
	return time.Duration((l.DataSeconds + l.PrepareSeconds + l.TrainSeconds) * float64(time.Second))
}

// sizeText describes the amount of training, such as "100 of 5,000 episodes" if it is less than in the study.
func (l *TrainedModel) sizeText() string {
	text := fmt.Sprintf("%s %s", humanize.Comma(int64(l.Size)), l.Unit)
	if l.Size != l.StudySize {
		text = fmt.Sprintf("%s of %s %s", humanize.Comma(int64(l.Size)), humanize.Comma(int64(l.StudySize)), l.Unit)
	}
	return text + l.Extra
}

func (l *TrainedModel) title() string {
	if !l.hasSeeds {
		return l.Name
	}
	return fmt.Sprintf("%s, seed %d", l.Name, l.Seed)
}

func (l *TrainedModel) defectsText() string { return cmp.Or(strings.Join(l.Defects, ", "), "none") }

// spec returns the text that selects, on a command line, the house bot (part of timba) that plays with the
// trained model.
func (l *TrainedModel) spec() string {
	return "@" + l.Method + ":model=" + filepath.Join(l.Dir, run.ModelFile)
}

// label returns the text that selects the bot which plays with the model, in a form for stored results. Instead of
// the path of the model it has its name in the cache, so that it does not depend on the directory of the cache.
func (l *TrainedModel) label() string { return "@" + l.Method + ":model=" + l.entry }

// trainModels trains all models and appends them to r.Models. If e.BothWays is set, it trains each model twice: with
// all known defects of the study's program and with none. It takes models from the cache if they are there. Several
// models are trained at the same time, each with its share of o.Workers, unless the experiment compares times of
// training. After an error r.Models has the models whose training has ended.
func (e *Experiment) trainModels(ctx context.Context, o *Options, c *cache, r *Findings) error {
	list, err := e.planModels(o)
	if err != nil {
		return err
	}
	atOnce := 1
	if !e.comparesTrainingTimes() {
		atOnce = max(1, min(len(o.Workers), len(list)))
	}
	share := *o
	share.Workers = o.Workers[:len(o.Workers)/atOnce]
	var printing sync.Mutex
	share.Progress = func(model, unit string, done, all int) {
		printing.Lock()
		defer printing.Unlock()
		o.Progress(model, unit, done, all)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, l := range list {
		title := l.title()
		if l.Way != asNamed {
			title += ", " + string(l.Way)
		}
		group.Go(func() error {
			if err := l.train(groupCtx, &share, c, title); err != nil {
				return fmt.Errorf("model %q: %w", l.Name, err)
			}
			l.trained = true
			return nil
		})
	}
	err = group.Wait()
	for _, l := range list {
		if l.trained {
			r.Models = append(r.Models, *l)
		}
	}
	if err != nil {
		return err
	}
	return c.prune()
}

// planModels returns the models to be trained, in the order of the tables: those of each of e.ways, one for each seed.
// It returns an error if no training is possible with o.TrainScale.
func (e *Experiment) planModels(o *Options) (list []*TrainedModel, err error) {
	seed := binary.BigEndian.Uint64(o.Seed[len(o.Seed)-8:]) // the seed that timba-lab train would use
	for _, w := range e.ways() {
		for i := range e.Models {
			m := &e.Models[i]
			for instance, seed := range m.seeds(seed) {
				l, err := m.plan(w, o.TrainScale, seed)
				if err != nil {
					return nil, err // caused by the scale: completeModels has checked the rest
				}
				l.row, l.instance = i, instance
				list = append(list, l)
			}
		}
	}
	return list, nil
}

// comparesTrainingTimes reports whether a table has published times of training. The models are then trained one after
// another, so that each has all cores.
func (e *Experiment) comparesTrainingTimes() bool {
	return e.kind() == kindModels && slices.ContainsFunc(e.Tables, func(t Table) bool { return len(t.PublishedFigures) > 0 })
}

// train trains the model, unless it is in the cache, and sets its times. For supervised learning it first
// generates the data set. Progress messages have the given title.
func (l *TrainedModel) train(ctx context.Context, o *Options, c *cache, title string) error {
	if l.data != nil {
		if err := l.data.train(ctx, o, c, title+": data"); err != nil {
			return err
		}
		l.DataSeconds = l.data.DataSeconds
		data, err := dataset.Load(l.data.Dir, 0)
		if err != nil {
			return err
		}
		l.settings.(*sl.Config).UseData(data)
	}
	l.entry = l.hashedName()
	l.Dir, l.Workers = filepath.Join(c.dir, l.entry), cmp.Or(l.workers, max(1, len(o.Workers)))
	took, err := c.train(ctx, o, l, title)
	if l.Method == methodData {
		l.DataSeconds = took.Training
	} else {
		l.PrepareSeconds, l.TrainSeconds = took.Preparing, took.Training
	}
	if err == nil && l.Method == methodSL {
		l.Test, err = sl.ReadTest(l.Dir)
	}
	return err
}

// hashedName returns the name of the model's directory in the cache: the game with its number of players, the
// method, and a hash of everything that determines the result of the training.
func (l *TrainedModel) hashedName() string {
	text, err := json.Marshal([]any{house.Version, l.Method, l.method.Version, l.settings, l.workers})
	if err != nil {
		panic(err) // the settings have only numbers and strings
	}
	sum := sha256.Sum256(text)
	return l.Mode + "-" + l.Method + "-" + hex.EncodeToString(sum[:8])
}

// modelRows returns the training times and the metrics of the models, by row of the tables. A row has one result for each
// seed and is empty if the model is not trained yet.
func (e *Experiment) modelRows(list []TrainedModel) [][]result {
	rows := make([][]result, len(e.Models))
	for i := range list {
		l := &list[i]
		took := map[string]float64{parts[0]: l.DataSeconds, parts[1]: l.PrepareSeconds, parts[2]: l.TrainSeconds}
		if t := l.Test; t != nil {
			took[testMetrics[0]], took[testMetrics[1]], took[testMetrics[2]] = t.Exact, t.Precision, t.Recall
		}
		rows[l.row] = append(rows[l.row], result{WinnerSeat: -1, instance: l.instance, parts: took, size: l.Size})
	}
	return rows
}
