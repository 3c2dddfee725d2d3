package rl

import (
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Trace keeps what one seat decides in an episode, and returns what there is to learn from it: by
// every visit, from points, without a discount, as the study does.
type Trace struct {
	decisions []decision
	config    Config
	final     [1]int
}

// NewTrace returns a trace without decisions.
func NewTrace() *Trace { return &Trace{config: Default("")} }

// Begin forgets the last episode.
func (t *Trace) Begin() { t.decisions = t.decisions[:0] }

// Add adds a decision. The score is that of Game.Score before it.
func (t *Trace) Add(s *policy.View, action uint8, score int) {
	t.decisions = append(t.decisions, decision{key: s.Key, abs: s.Abs, action: action, score: int16(score)})
}

// End appends what there is to learn from the episode, the last decision first. The score is that
// at the end.
func (t *Trace) End(score int, updates []Update) []Update {
	t.final[0] = score
	t.config.returns(t.decisions, t.final[:], func(d *decision, value float32) {
		updates = append(updates, Update{Key: d.key, Abs: d.abs, Value: value, Action: d.action})
	})
	return updates
}
