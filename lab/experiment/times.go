package experiment

import (
	"errors"
	"math"
)

// checkTimes checks an experiment that only measures the time of its models.
func (e *Experiment) checkTimes() error {
	if len(e.Grid)+len(e.Matches)+len(e.Bots)+len(e.Options)+e.Games > 0 {
		return errors.New("without a game there are no games, bots, matches or options")
	}
	return nil
}

// modelRows returns the rows of such an experiment: their size is that of what is learned from.
func (e *Experiment) modelRows() (list []row) {
	for i := range e.Models {
		m := &e.Models[i]
		r := row{name: m.Name}
		if p, err := e.plan(m, asNamed, 1, 1); err == nil { // as it has been checked
			r.games = p.size
		}
		r.absent = absentParts(m.Method)
		list = append(list, r)
	}
	return list
}

// absentParts returns the parts of learning that a method does not have.
func absentParts(method string) []string {
	switch method {
	case methodData:
		return parts[1:]
	case methodSL:
		return nil
	}
	return parts[:2]
}

// times returns the rows of such an experiment as they were measured; those that are missing are
// empty.
func (e *Experiment) times(list []Learned) [][]result {
	rows := make([][]result, len(e.Models))
	for i := range list {
		l := &list[i]
		rows[i] = []result{{seat: -1, parts: [...]float64{l.Making, l.Preparing, l.Training}, size: l.Size}}
	}
	return rows
}

// faster returns how many times as fast as the published one a time of a model is, for each game,
// episode or generation; NaN if nobody knows.
func (f *Figure) faster() float64 {
	return f.Published.Value / float64(max(1, f.Sample)) / (f.Ours.Value / float64(max(1, f.Games)))
}

// ratio returns the part of the published time that ours is, as a text; "" for none.
func (f *Figure) ratio() string {
	x := f.faster()
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x <= 0:
		return ""
	case x >= 1:
		return "1/" + thousands(x)
	}
	return thousands(1 / x)
}
