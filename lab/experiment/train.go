package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// The weights that a training can begin with, besides those of earlier trainings.
var weights = map[string]teekolms.Weights{"initial": teekolms.Initial, "published": teekolms.Published}

const (
	opponentRandom = "random"
	opponentSelf   = "self"
)

func (e *Experiment) checkTrainings() error {
	known := []string{"initial", "published"}
	if len(e.Grid)+len(e.Matches)+len(e.Bots)+len(e.Options) > 0 {
		return errors.New("trainings have no bots, matches or options")
	}
	for _, t := range e.Trainings {
		switch {
		case t.Name == "" || slices.Contains(known, t.Name):
			return fmt.Errorf("training %q: the name is missing or taken", t.Name)
		case !slices.Contains(known, t.From):
			return fmt.Errorf("training %q: from cannot be %q: try one of %q", t.Name, t.From, known)
		case t.Opponent != opponentRandom && t.Opponent != opponentSelf && !slices.Contains(known, t.Opponent):
			return fmt.Errorf("training %q: opponent cannot be %q: try one of %q", t.Name, t.Opponent, append(known, opponentRandom, opponentSelf))
		case t.Games < 0 || t.Limit < 1 || t.Limit > 1000:
			return fmt.Errorf("training %q: %d games of %d plies: limit must be 1 to 1000", t.Name, t.Games, t.Limit)
		case t.Fixed && t.Replace:
			return fmt.Errorf("training %q: replace is for one that learns, not for fixed weights", t.Name)
		case t.Fixed == (t.Mu > 0) || t.Mu > 1:
			return fmt.Errorf("training %q: mu cannot be %g: above 0, at most 1, and 0 where the weights are fixed", t.Name, t.Mu)
		}
		known = append(known, t.Name)
	}
	return nil
}

// train plays the trainings one after another.
func (e *Experiment) train(ctx context.Context, o Options, report *Report) (rows [][]result, err error) {
	learned := map[string]teekolms.Weights{}
	for name, w := range weights {
		learned[name] = w
	}
	for _, t := range e.Trainings {
		report.All += o.games(e.orDefault(t.Games))
	}
	played := 0
	for _, t := range e.Trainings {
		seed := o.Seed.Derive("experiment/" + e.Name + "/" + t.Name)
		training := lms.Training{
			Games: o.games(e.orDefault(t.Games)), Mu: t.Mu, Self: t.Opponent == opponentSelf, Fixed: t.Fixed, Steady: t.Steady, Blind: t.Blind, Replace: t.Replace, Limit: t.Limit,
			Start: learned[t.From], Seed: binary.BigEndian.Uint64(seed[:]),
		}
		if w, ok := learned[t.Opponent]; ok {
			training.Rival = &w
		}
		curve := Curve{Name: t.Name}
		last := lms.Report{}
		training.Progress = func(now lms.Report) {
			curve.Games = append(curve.Games, now.Games())
			curve.Won = append(curve.Won, 100*float64(now.Won-last.Won)/float64(now.Games()-last.Games()))
			last = now
			if o.Done != nil {
				o.Done(played+now.Games(), report.All)
			}
		}
		var found lms.Report
		if err == nil {
			found, err = lms.Train(ctx, training)
			played += found.Games()
		}
		learned[t.Name] = found.Weights
		if found.Games() > 0 && !t.Fixed {
			report.Notes = append(report.Notes, fmt.Sprintf("%s learned %s", t.Name, found.Weights))
			if len(curve.Games) > 1 {
				report.Curves = append(report.Curves, curve)
			}
		}
		if !t.Hidden {
			rows = append(rows, results(found))
		}
	}
	return rows, err
}

// results returns a result for each game of a training.
func results(r lms.Report) (list []result) {
	for i, n := range []int{r.Won, r.Lost, r.Drawn} {
		for range n {
			list = append(list, result{seat: -1, ending: outcomes[i], drawn: outcomes[i] == "drawn"})
		}
	}
	return list
}
