package rl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

const (
	metricsLines    = 50   // lines of metrics in a run
	evaluationGames = 1000 // games of an evaluation
	evaluationSeed  = 1    // seed of every evaluation
)

// TrainingReport is the result of a training, which is stored as result.json.
type TrainingReport struct {
	Pairs      int        `json:"pairs"`       // pairs of a state and an action in the tables
	States     int        `json:"states"`      // states in the model
	Rejections uint64     `json:"turned_away"` // how often a full table rejected a new pair
	Tally      ScoreTally `json:"random"`      // results of the model against random players

	memory      int    // limit for the tables, in MiB
	fewerStates string // advice to take another value of --variant; "" if there is none with fewer
}

func (r TrainingReport) String() string {
	s := fmt.Sprintf("%s of a state and an action, %s in the model\nagainst random players: %v\nrandom moves in unknown states: %.1f a game\n",
		text.Count(r.Pairs, "pair"), text.Count(r.States, "state"), r.Tally.WinTally, float64(r.Tally.Guesses)/float64(r.Tally.Games()))
	if r.Rejections > 0 {
		s += fmt.Sprintf("the tables were full: %d new pairs were turned away; give more than --memory %d%s\n", r.Rejections, r.memory, r.fewerStates)
	}
	return s
}

func (c *Config) Prepare(_ context.Context, in run.Input) (run.Trainer, error) {
	l := New(*c, in.Workers, CardGames(*c))
	if c.fromDir == "" {
		return l, nil
	}
	return l, run.ReadCheckpoint(c.fromDir, l.adopt)
}

func (l *Learner) Progress() (done, all int) { return l.Episodes, l.config.Episodes }

// Report adds a line of metrics to f each time that another 1/metricsLines of all episodes has been played.
func (l *Learner) Report(f *run.Folder) error {
	c := &l.config
	l.sinceMetrics.add(l.lastBatch)
	every := max(1, c.Episodes/metricsLines)
	if l.Episodes/every == (l.Episodes-l.lastBatch.Episodes)/every {
		return nil
	}
	tally := l.evaluate()
	values := []run.Metric{
		{Name: "epsilon", Value: c.epsilon(l.Episodes)},
		{Name: "pairs", Value: float64(l.countPairs())},
		{Name: "bytes", Value: float64(l.Bytes())},
		{Name: "turned_away", Value: float64(l.Rejections())},
		{Name: "known", Value: float64(l.sinceMetrics.KnownMoves) / float64(max(1, l.sinceMetrics.GreedyMoves))},
		{Name: "won", Value: tally.WinShare()},
		{Name: "score", Value: float64(tally.Score) / float64(tally.Games())},
		{Name: "guesses", Value: float64(tally.Guesses) / float64(tally.Games())},
	}
	l.sinceMetrics = Counts{}
	if l.Rejections() > 0 && !l.hasLoggedFull {
		l.hasLoggedFull = true
		f.Log("the tables are full after %d episodes: new pairs are turned away from here on, the others go on learning", l.Episodes)
	}
	return f.AddMetrics(l.Episodes, values...)
}

func (l *Learner) evaluate() ScoreTally {
	return Evaluate(l.game, &l.agents[0], evaluationGames, evaluationSeed)
}

func (l *Learner) countPairs() (n int) {
	for _, s := range l.states {
		n += s.Len()
	}
	return n
}

func (l *Learner) Finish(_ context.Context, f *run.Folder) (run.TrainingResult, error) {
	r := TrainingReport{memory: l.config.Memory, Pairs: l.countPairs(), Rejections: l.Rejections(), Tally: l.evaluate()}
	if l.config.Variant != policy.Abstract {
		r.fewerStates = ", or --variant " + policy.Abstract
	}
	l.mergeAgents()
	h := model.Header{
		Kind: model.RL, Mode: l.config.Mode, Variant: l.config.Variant, Encoding: l.config.Encoding(),
		Seed: l.config.Seed, Defects: l.config.Defects,
	}
	err := f.WriteModel(run.ModelFile, h, func(w io.Writer) (err error) {
		r.States, err = l.WriteModel(w)
		return err
	})
	x := "episodes"
	return r, errors.Join(err,
		f.Plot("won", "Against random players", x, "games won", "won"),
		f.Plot("score", "Against random players", x, "points more", "score"),
		f.Plot("known", "States that are known", x, "part of the decisions", "known"),
	)
}

// WriteModel writes the body of the model of the first agent to w, and returns the number of states in it.
func (l *Learner) WriteModel(w io.Writer) (states int, err error) {
	if states, err = WritePolicy(w, l.states[0], l.config.MinVisits, nil); err != nil || l.votes == nil {
		return states, err
	}
	_, err = WritePolicy(w, l.votes[0], 1, nil)
	return states, err
}

// mergeAgents adds the tables of all other agents to the tables of the first one. Their memory limit becomes
// the sum of all limits.
func (l *Learner) mergeAgents() {
	l.states[0].maxSlots *= len(l.states)
	for _, t := range l.states[1:] {
		l.states[0].Merge(t)
	}
	for i, t := range l.votes {
		if i == 0 {
			t.maxSlots *= len(l.votes)
			continue
		}
		l.votes[0].AddCounts(t)
	}
}

func (l *Learner) Size() (memory, disk int64) {
	const overhead = 128 << 20 // memory besides the tables
	tables := min(int64(l.config.Memory)<<20, int64(float64(l.Bytes())*float64(l.config.Episodes)/float64(l.Episodes)))
	return tables + overhead, 2 * tables
}

// ScoreTally counts the games that an agent has won, lost and drawn, and sums up its scores.
type ScoreTally struct {
	run.WinTally
	Score   int `json:"score"`   // sum of Environment.Score
	Guesses int `json:"guesses"` // random moves of one seat, because the agent knew nothing about the state
}

// Evaluate plays the given number of games of agent a against random players and returns the results. The agent
// plays each seat in turn; in a game of teams it plays both seats of its team.
func Evaluate(g Environment, a *policy.Agent, games int, seed uint64) (t ScoreTally) {
	r := rules.NewRand(seed)
	var s policy.View
	for n := range games {
		seat := n % g.Players()
		g.Deal(n/g.Players(), r)
		for g.Turn() != rules.Over {
			g.Observe(&s)
			action, byAgent := policy.RandomAction(s.Legal, r), g.Side(g.Turn()) == g.Side(seat)
			if byAgent {
				action, _ = a.Choose(&s, r)
			}
			if g.Turn() == seat && a.Guesses(&s) {
				t.Guesses++
			}
			g.Play(&s, action, byAgent)
		}
		t.Count(g.Standing(seat))
		t.Score += g.Score(seat)
	}
	return t
}
