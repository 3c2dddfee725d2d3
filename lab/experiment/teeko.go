package experiment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

// Training is a series of games of Teeko that trains a linear evaluation, or that only tests fixed weights.
type Training struct {
	Name     string // name of the row, to which later trainings can refer
	From     string // initial weights: a key of teekolms.Named or the name of an earlier training
	Opponent string // "random", "self", or fixed weights named as in From
	Hidden   bool   // true if the training has no row in the tables
	// Training has the number of games in the study, where 0 means that of the experiment, and the settings
	// of the learner.
	lms.Training
}

const (
	opponentRandom = "random"
	opponentSelf   = "self"
)

// completeTrainings checks the trainings, sets missing numbers of games, and creates the rows of the tables.
// It is an error if a training refers to a later one.
func (e *Experiment) completeTrainings() error {
	known := slices.Sorted(maps.Keys(teekolms.Named))
	for i := range e.Trainings {
		t := &e.Trainings[i]
		if t.Games == 0 {
			t.Games = e.Games
		}
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
		case t.Fall < 0 || t.Cycle < 0 || t.Period < 0:
			return fmt.Errorf("training %q: fall %d, cycle %d or period %d is below 0", t.Name, t.Fall, t.Cycle, t.Period)
		case t.Fixed == (t.Mu > 0) || t.Mu > 1:
			return fmt.Errorf("training %q: mu cannot be %g: above 0, at most 1, and 0 where the weights are fixed", t.Name, t.Mu)
		}
		known = append(known, t.Name)
		if !t.Hidden {
			e.rows = append(e.rows, row{name: t.Name, games: t.Games, seedCount: max(1, e.Repeats)})
		}
	}
	return nil
}

// runTrainings runs each training of e once for each seed and returns the results of the games, by row of the tables.
// It appends to report the learned weights as text, and the learning curves: the percent of games that the learner won,
// each time since the point before. If a training fails, runTrainings returns the error and also the results so far.
func (e *Experiment) runTrainings(ctx context.Context, o *Options, report *Findings) ([][]result, error) {
	rows, n := make([][]result, len(e.rows)), max(1, e.Repeats)
	lists, reports, errs := make([][][]result, n), make([]Findings, n), make([]error, n)
	var mu sync.Mutex
	played := 0
	run.ForEach(len(o.Workers), n, func(_, instance int) {
		own, last := *o, 0
		own.Progress = func(_, unit string, done, _ int) {
			mu.Lock()
			defer mu.Unlock()
			played, last = played+done-last, done
			o.Progress("", unit, played, report.TotalGames)
		}
		lists[instance], errs[instance] = e.runInstance(ctx, &own, &reports[instance], instance)
	})
	for instance, list := range lists {
		for i := range list {
			rows[i] = append(rows[i], list[i]...)
		}
		report.Notes = append(report.Notes, reports[instance].Notes...)
		report.Curves = append(report.Curves, reports[instance].Curves...)
	}
	return rows, errors.Join(errs...)
}

// runInstance runs all trainings of e one after another with one seed, because a training can begin with the weights of
// an earlier one. instance is the index of the seed, from 0. It returns the results by row of the tables, after an
// error those of the games before, and appends notes and curves to report.
func (e *Experiment) runInstance(ctx context.Context, o *Options, report *Findings, instance int) (rows [][]result, err error) {
	learned := maps.Clone(teekolms.Named)
	played := 0
	name := e.Name
	if instance > 0 {
		name += fmt.Sprintf("/%d", instance)
	}
	for _, t := range e.Trainings {
		seed := o.Seed.Derive("experiment/" + name + "/" + t.Name)
		training := t.Training
		training.Games, training.Seed = o.scaledGames(t.Games), binary.BigEndian.Uint64(seed[:])
		training.Start, training.Self = learned[t.From], t.Opponent == opponentSelf
		if w, ok := learned[t.Opponent]; ok {
			training.Rival = &w
		}
		curve := Curve{Name: t.Name}
		last := lms.LearningReport{}
		training.Progress = func(now lms.LearningReport) {
			curve.Games = append(curve.Games, now.Games())
			curve.WinPercent = append(curve.WinPercent, 100*float64(now.Wins-last.Wins)/float64(now.Games()-last.Games()))
			last = now
			o.Progress("", "games", played+now.Games(), report.TotalGames)
		}
		var found lms.LearningReport
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
			rows = append(rows, resultsOf(found, instance))
		}
	}
	return rows, err
}

// resultsOf returns one result for each game that r counts. Its Ending is wonBySquare, wonByLine, "lost" or "drawn", as
// the bot that learns sees the game. instance is the index of the seed of the training.
func resultsOf(r lms.LearningReport, instance int) (list []result) {
	for i, n := range []int{r.SquareWins, r.Wins - r.SquareWins, r.Losses, r.Draws} {
		for range n {
			list = append(list, result{WinnerSeat: -1, instance: instance, Ending: []string{wonBySquare, wonByLine, "lost", "drawn"}[i], IsDraw: i == 3})
		}
	}
	return list
}
