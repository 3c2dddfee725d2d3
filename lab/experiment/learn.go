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
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/sl"
	"github.com/timba-arena/timba/sample-bots/house"
)

// TrainedModel is a model in a way: as it is to be trained, then as it was.
type TrainedModel struct {
	Name           string   `json:"name"`
	Way            way      `json:"way,omitempty"` // "as published" or "mended", where both are played
	Method         string   `json:"method"`
	Mode           string   `json:"mode"`
	Seed           uint64   `json:"seed"`
	Defects        []string `json:"defects"`
	Size           int      `json:"size"`  // games of the data set, episodes or generations
	StudySize      int      `json:"study"` // as many in the study
	Unit           string   `json:"unit"`  // of both
	Extra          string   `json:"more,omitempty"`
	DataSeconds    float64  `json:"making"` // seconds for the data set
	PrepareSeconds float64  `json:"preparing"`
	TrainSeconds   float64  `json:"training"`
	Workers        int      `json:"workers"`
	Dir            string   `json:"dir"` // of its run

	row      int  // of the models
	instance int  // which of the model's seeds
	hasSeeds bool // the model names its seeds
	method   *run.Method
	settings run.TrainingSettings
	data     *TrainedModel // the data set of sl
	workers  int           // of Model
	entry    string        // the name of its run
}

// duration returns the time of the training, and of its data set where it has one.
func (l *TrainedModel) duration() time.Duration {
	return time.Duration((l.DataSeconds + l.PrepareSeconds + l.TrainSeconds) * float64(time.Second))
}

// sizeText returns what the model learned from, for people.
func (l *TrainedModel) sizeText() string {
	text := fmt.Sprintf("%s %s", humanize.Comma(int64(l.Size)), l.Unit)
	if l.Size != l.StudySize {
		text = fmt.Sprintf("%s of %s %s", humanize.Comma(int64(l.Size)), humanize.Comma(int64(l.StudySize)), l.Unit)
	}
	return text + l.Extra
}

// title returns the name, with the seed where the model names its seeds, for people.
func (l *TrainedModel) title() string {
	if !l.hasSeeds {
		return l.Name
	}
	return fmt.Sprintf("%s, seed %d", l.Name, l.Seed)
}

// defectsText returns the defects, for people.
func (l *TrainedModel) defectsText() string { return cmp.Or(strings.Join(l.Defects, ", "), "none") }

// spec returns the house bot that plays by the model.
func (l *TrainedModel) spec() string {
	return "@" + l.Method + ":model=" + filepath.Join(l.Dir, run.ModelFile)
}

// label returns a name of the bot that does not depend on where the model is.
func (l *TrainedModel) label() string { return "@" + l.Method + ":model=" + l.entry }

// trainModels trains the models in every way, or takes those that are there, and reports them. With an
// error these are the models that are trained.
func (e *Experiment) trainModels(ctx context.Context, o *Options, c *cache, r *Findings) error {
	seed := binary.BigEndian.Uint64(o.Seed[len(o.Seed)-8:]) // as timba-lab train takes it
	for _, w := range e.ways() {
		for i := range e.Models {
			m := &e.Models[i]
			for instance, seed := range m.seeds(seed) {
				l, err := m.plan(w, o.TrainScale, seed)
				if err != nil {
					return err // for no scale: completeModels has checked the rest
				}
				l.row, l.instance = i, instance
				title := l.title()
				if w != asNamed {
					title += ", " + string(w)
				}
				if err := l.train(ctx, o, c, title); err != nil {
					return fmt.Errorf("model %q: %w", l.Name, err)
				}
				r.Models = append(r.Models, *l)
			}
		}
	}
	return c.prune()
}

// train trains the model, unless it is there, after its data set.
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
	return err
}

// hashedName returns the name of a training: of its mode and method, and a hash of all that decides its
// result.
func (l *TrainedModel) hashedName() string {
	text, err := json.Marshal([]any{house.Version, l.Method, l.method.Version, l.settings, l.workers})
	if err != nil {
		panic(err) // the configurations are numbers and words
	}
	sum := sha256.Sum256(text)
	return l.Mode + "-" + l.Method + "-" + hex.EncodeToString(sum[:8])
}

// modelRows returns the rows of models alone as they were measured; those that are missing are
// empty.
func (e *Experiment) modelRows(list []TrainedModel) [][]result {
	rows := make([][]result, len(e.Models))
	for i := range list {
		l := &list[i]
		took := map[string]float64{parts[0]: l.DataSeconds, parts[1]: l.PrepareSeconds, parts[2]: l.TrainSeconds}
		rows[l.row] = append(rows[l.row], result{WinnerSeat: -1, instance: l.instance, parts: took, size: l.Size})
	}
	return rows
}
