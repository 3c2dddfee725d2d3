package sl

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/timba-arena/timba/lab/train/dataset"
	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// row is one decision of a game in a data set. The inputs for the net are computed when they are needed, by
// replaying the game.
type row struct {
	gameIndex uint32
	ply       uint8
	class     uint16 // index in Rows.labels; for VariantWL 1 if the game was won
}

// Rows are the decisions in the games of a data set, each with the class that the net learns to predict.
type Rows struct {
	set       *dataset.Set
	encoder   features.Encoder
	rules     []baraja.TableRules
	labels    []int // by class: the points that it stands for; nil for VariantWL
	list      []row
	truncated bool
}

const winClass = 1

func newRows(ctx context.Context, set *dataset.Set, c *Config, workers int) (*Rows, error) {
	e, _ := features.NewEncoder(set.Mode, c.Encoding) // Check has parsed it before
	r := &Rows{set: set, encoder: e, rules: set.Mode.Rules(), truncated: slices.Contains(c.Defects, DefectTruncated)}
	all := min(set.Header.Games, c.Games)
	var values []int16
	const piece = 2000
	err := run.BuildInOrder(ctx, workers, 0, (all+piece-1)/piece, func(_, k int) ([]int16, error) {
		return labelGames(r, c.Variant, k*piece, min(all, (k+1)*piece)), nil
	}, func(k int, made []int16) error {
		for game := k * piece; game < min(all, (k+1)*piece); game++ {
			for ply := range set.Len(game) {
				r.list = append(r.list, row{gameIndex: uint32(game), ply: uint8(ply)})
			}
		}
		values = append(values, made...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, r.classify(values, c)
}

// labelGames returns what the net learns to predict about every decision in the games [from, to) of r. The variant of
// the training says what that is, such as the points of the trick.
func labelGames(r *Rows, variant string, from, to int) (labels []int16) {
	var f decisions.Follower
	var g dataset.GameRecord
	for i := from; i < to; i++ {
		r.set.Game(i, &g)
		f.Start(r.set.Mode, r.rules[g.Rules], g.Pack)
		for _, action := range g.Moves[:g.NumMoves] {
			f.Step(dataset.Move(&f.Position, action))
		}
		for _, d := range f.Decisions {
			labels = append(labels, label(&d, variant))
		}
	}
	return labels
}

func label(d *decisions.Decision, variant string) int16 {
	switch {
	case variant == VariantP:
		return d.Points
	case variant == VariantPH:
		return d.Points + d.Heuristic
	case variant == VariantRest:
		return d.Rest
	case d.Standing > 0:
		return winClass
	}
	return 0
}

// classify sets the class of each row. values has the label of each row. Each different label becomes a class. If
// there are more labels than a layer can have units, it returns an error.
func (r *Rows) classify(values []int16, c *Config) error {
	if c.Variant == VariantWL {
		for i, v := range values {
			r.list[i].class = uint16(v)
		}
		return nil
	}
	class := map[int]uint16{}
	for _, v := range values {
		class[int(v)] = 0
	}
	r.labels = slices.Sorted(maps.Keys(class))
	if slices.Contains(c.Defects, DefectTextLabels) {
		lowest := lowestBrisca
		if r.set.Mode.Tute {
			lowest = lowestTute
		}
		r.labels = orderAsText(r.labels, lowest)
	}
	if len(r.labels) > net.MaxUnits {
		return fmt.Errorf("the data set has %d distinct labels: at most %d are possible", len(r.labels), net.MaxUnits)
	}
	for i, label := range r.labels {
		class[label] = uint16(i)
	}
	for i, v := range values {
		r.list[i].class = class[int(v)]
	}
	return nil
}

// The lowest labels for the defect "text-labels", which sorts labels as text. The study's program has a number for each
// mode, from 45 to 119, so that in most modes its order is another one. With the present numbers no label of Brisca with two players has three digits after the
// lowest is subtracted; in other modes of Brisca the highest labels have three, and in Tute all from 10 on.
const (
	lowestBrisca = -50
	lowestTute   = -90
)

// orderAsText returns the labels in the order of the study's program. It subtracts lowest from each label and
// compares the results as text with at least two digits, so that numbers with three digits come between numbers with
// two.
func orderAsText(labels []int, lowest int) []int {
	text := func(label int) string { return fmt.Sprintf("%02d", label-lowest) }
	ordered := slices.Clone(labels)
	slices.SortStableFunc(ordered, func(a, b int) int { return strings.Compare(text(a), text(b)) })
	return ordered
}

// filler computes samples for a net from the rows of a data set. Each goroutine needs its own filler.
type filler struct {
	rows     *Rows
	game     dataset.GameRecord
	position cards.Position
}

var winTargets = [2][]float32{{0}, {1}} // for VariantWL, by class

func (f *filler) fillSample(at row, s *fit.Sample) {
	r, p := f.rows, &f.position
	r.set.Game(int(at.gameIndex), &f.game)
	p.Layout(r.set.Mode, r.rules[f.game.Rules], f.game.Pack)
	for _, action := range f.game.Moves[:at.ply] {
		p.Play(dataset.Move(p, action))
	}
	r.encoder.AppendState(&s.Inputs, p, p.Turn())
	s.Inputs.Add(r.encoder.ActionInput(int(f.game.Moves[at.ply])), 1)
	if r.truncated {
		truncate(&s.Inputs)
	}
	s.Class, s.Targets = int(at.class), nil
	if r.labels == nil {
		s.Targets = winTargets[at.class]
	}
}

// truncate rounds the inputs of a net toward zero and removes inputs that become zero, as the study's program does in
// training, but not in play.
func truncate(s *net.Inputs) {
	n := 0
	for i, x := range s.Value {
		if x = float32(int(x)); x != 0 {
			s.Index[n], s.Value[n] = s.Index[i], x
			n++
		}
	}
	s.Index, s.Value = s.Index[:n], s.Value[:n]
}
