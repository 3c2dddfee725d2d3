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

// row is a decision of a data set. Its inputs are computed when they are needed, by playing its
// game up to it.
type row struct {
	gameIndex uint32
	ply       uint8
	class     uint16 // of Rows.labels; for WL 1 if the game was won
}

// Rows is the decisions of a data set with what came of them.
type Rows struct {
	set       *dataset.Set
	encoder   features.Encoder
	rules     []baraja.TableRules
	labels    []int // by class; none for WL
	list      []row
	truncated bool
}

const winClass = 1

// newRows computes the labels of all decisions.
func newRows(ctx context.Context, set *dataset.Set, c *Config, workers int) (*Rows, error) {
	e, _ := features.NewEncoder(set.Mode, c.Encoding) // Check has found it
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

// labelGames returns the labels of the decisions of games from to to-1.
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

// classify makes classes of the labels: a class for each distinct one.
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

// The lowest labels that two digits stand for, as published. The source says what came of its
// order, not these numbers: they are chosen so that no label of Brisca with two players gets three
// digits, in the other modes of Brisca the highest do, and in Tute all from 10 on.
const (
	lowestBrisca = -50
	lowestTute   = -90
)

// orderAsText orders labels as the study's code does: by the text of their distance from the
// lowest. Those with three digits land between those with two.
func orderAsText(labels []int, lowest int) []int {
	text := func(label int) string { return fmt.Sprintf("%02d", label-lowest) }
	ordered := slices.Clone(labels)
	slices.SortStableFunc(ordered, func(a, b int) int { return strings.Compare(text(a), text(b)) })
	return ordered
}

// filler fills samples from rows; each goroutine has its own.
type filler struct {
	rows     *Rows
	game     dataset.GameRecord
	position cards.Position
}

var winTargets = [2][]float32{{0}, {1}} // of WL, by class

// fillSample sets the inputs and what is wanted.
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

// truncate makes the inputs integers, as the thesis's code does before it trains, though not
// before it plays.
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
