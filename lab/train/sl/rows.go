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
	class     uint16 // index in Rows.labels; for VariantWL 1 if the game was won or shared
}

// Rows are the decisions in the games of a data set, each with the class that the net learns to predict.
type Rows struct {
	set       *dataset.Set
	encoder   features.Encoder
	rules     []baraja.TableRules
	labels    []int // by class: the label that it stands for; nil for VariantWL
	list      []row
	truncated bool
}

const winClass = 1

func newRows(ctx context.Context, set *dataset.Set, c *Config, workers int) (*Rows, error) {
	e, _ := features.NewEncoder(set.Mode, c.Encoding) // Check has parsed it before
	r := &Rows{set: set, encoder: e, rules: set.Mode.Rules(), truncated: slices.Contains(c.Defects, DefectTruncated)}
	all := min(set.Header.Games, c.Games)
	var outcomes []outcome
	const piece = 2000
	err := run.BuildInOrder(ctx, workers, 0, (all+piece-1)/piece, func(_, k int) ([]outcome, error) {
		return labelGames(r, c.Variant, k*piece, min(all, (k+1)*piece)), nil
	}, func(k int, made []outcome) error {
		for game := k * piece; game < min(all, (k+1)*piece); game++ {
			for ply := range set.Len(game) {
				r.list = append(r.list, row{gameIndex: uint32(game), ply: uint8(ply)})
			}
		}
		outcomes = append(outcomes, made...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, r.classify(outcomes, c)
}

// outcome is the result of one decision in a game. The net learns to predict its label.
type outcome struct {
	label     int16 // points, with the heuristic value for VariantPH; for VariantWL 1 if the game was won or shared
	heuristic int16 // heuristic value of the card played, for VariantPH; otherwise 0
}

// labelGames returns one outcome, which the net learns to predict, for each move in the games with the indexes from to
// to-1 of the data set. The outcomes are in the order of the games and of their moves. variant selects the kind of
// outcome, such as the points of the trick; it is VariantP or another of Variants.
func labelGames(r *Rows, variant string, from, to int) (list []outcome) {
	var f decisions.Follower
	var g dataset.GameRecord
	for i := from; i < to; i++ {
		r.set.Game(i, &g)
		f.Start(r.set.Mode, r.rules[g.Rules], g.Pack)
		for _, action := range g.Moves[:g.NumMoves] {
			f.Step(dataset.Move(&f.Position, action))
		}
		for _, d := range f.Decisions {
			list = append(list, outcomeOf(&d, variant))
		}
	}
	return list
}

func outcomeOf(d *decisions.Decision, variant string) outcome {
	switch variant {
	case VariantP:
		return outcome{max(0, d.Points), 0}
	case VariantNegative:
		return outcome{d.Points, 0}
	case VariantPH:
		return outcome{max(0, d.Points) + d.Heuristic, d.Heuristic}
	case VariantRest:
		return outcome{d.Rest, 0}
	}
	if d.Standing >= 0 {
		return outcome{winClass, 0}
	}
	return outcome{}
}

// classify sets the class of each row from list, which has the outcome of each row in the same order. For VariantWL,
// class 1 is a game that was won or shared, and 0 a lost one. For other variants, a class is the index in r.labels of a
// number that the net can predict. These numbers are the labels in list and, as in the study's program, every sum of
// the points of a possible trick and a heuristic value in list. classify returns an error if there are more than
// net.MaxUnits of them.
func (r *Rows) classify(list []outcome, c *Config) error {
	if c.Variant == VariantWL {
		for i, o := range list {
			r.list[i].class = uint16(o.label)
		}
		return nil
	}
	class, heuristics := map[int]uint16{}, map[int]bool{}
	for _, o := range list {
		class[int(o.label)] = 0
		heuristics[int(o.heuristic)] = true
	}
	for _, points := range trickPoints(r.set.Mode, c.Variant) {
		for h := range heuristics {
			class[points+h] = 0
		}
	}
	r.labels = slices.Sorted(maps.Keys(class))
	if slices.Contains(c.Defects, DefectTextLabels) {
		r.labels = orderAsText(r.labels)
	}
	if len(r.labels) > net.MaxUnits {
		return fmt.Errorf("the data set has %d distinct labels: at most %d are possible", len(r.labels), net.MaxUnits)
	}
	for i, label := range r.labels {
		class[label] = uint16(i)
	}
	for i, o := range list {
		r.list[i].class = class[int(o.label)]
	}
	return nil
}

// trickPoints returns the numbers of points that a trick can have in the study's program: the sums of the points of its
// cards, alone, plus the bonus of the last trick or, in Tute, plus 20, 40 or 50. For VariantNegative, the result also
// has the negatives of these numbers. For VariantRest it is nil.
func trickPoints(m cards.Mode, variant string) []int {
	if variant == VariantRest {
		return nil
	}
	sums := map[int]bool{0: true, baraja.LastBonus: true}
	if m.Tute {
		sums[20], sums[40], sums[50] = true, true, true
	}
	for range m.Players {
		for _, sum := range slices.Collect(maps.Keys(sums)) {
			for _, value := range []int{2, 3, 4, 10, 11} {
				sums[sum+value] = true
			}
		}
	}
	list := slices.Collect(maps.Keys(sums))
	if variant == VariantNegative {
		for _, sum := range list {
			list = append(list, -sum)
		}
	}
	return list
}

// orderAsText returns a copy of labels in the order in which the original program of the study sorts them: as text,
// padded with zeros to two digits. So 100 comes between 10 and 11. If any label is negative, the highest label is added
// to each label for the comparison. labels must be sorted and not empty.
func orderAsText(labels []int) []int {
	offset := 0
	if labels[0] < 0 {
		offset = labels[len(labels)-1]
	}
	text := func(label int) string { return fmt.Sprintf("%02d", label+offset) }
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
