package rl

import (
	"slices"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Environment is a game that can be learned. A goroutine has its own and plays one episode after
// another with it.
type Environment interface {
	// Players returns the number of seats, at most MaxSeats.
	Players() int
	// Deal begins an episode.
	Deal(episode int, r *rules.Rand)
	// Turn returns the seat to move, or rules.Over.
	Turn() int
	// Observe sets what the seat to move sees: Key and Legal, and Abs for the variant ManyStates.
	Observe(s *policy.View)
	// TricksEnded returns how many tricks have ended: rewards come when they end.
	TricksEnded() int
	// Play makes a legal action of what was seen.
	Play(s *policy.View, action uint8)
	// Score returns the points of a seat's side less those of the others.
	Score(seat int) int
	// Side returns the side that a seat plays for.
	Side(seat int) int
	// Standing returns 1 if a seat's side has more points than every other, 0 if it shares the
	// most, -1 otherwise.
	Standing(seat int) int
	// HeuristicValue returns the heuristic value of a legal action of what was seen.
	HeuristicValue(s *policy.View, action uint8) float64
}

// MaxSeats is how many seats a game may have.
const MaxSeats = rules.MaxSeats

// decision is what a seat did on a turn.
type decision struct {
	key, abstractKey policy.Key
	legal            uint64
	heuristic        float32
	score            int16 // of the seat, before
	trick            uint16
	seat             uint8
	action           uint8
}

// Update is a return to learn: what an action in a state has brought.
type Update struct {
	Key         policy.Key
	AbstractKey policy.Key // of the variant ManyStates
	Legal       uint64     // the actions, where they count
	Value       float32
	Action      uint8
}

// emitReturns calls a function with the returns of an episode's decisions: seat by seat, the last one
// first. Final has what the seats have at the end: their scores, or their standings if those are
// the reward.
func (c *Config) emitReturns(decisions []decision, final []int, emit func(d *decision, value float32)) {
	late, carry, last, won := c.hasDefect(DefectLate), c.hasDefect(DefectCarry), c.hasDefect(DefectLast), c.Reward == RewardWon
	g := 0.0
	for seat, end := range final {
		if !carry {
			g = 0
		}
		later := -1 // the seat's next decision
		next := end // the score before it
		for i := len(decisions) - 1; i >= 0; i-- {
			d := &decisions[i]
			if int(d.seat) != seat || last && later >= 0 && decisions[later].trick == d.trick {
				continue
			}
			score := int(d.score)
			if won { // only the end counts
				score = 0
			}
			value := g
			g = float64(next-score) + float64(d.heuristic) + c.Gamma*g
			if !late {
				value = g
			}
			later, next = i, score
			if c.FirstVisit && isRepeat(decisions[:i], d) {
				continue
			}
			emit(d, float32(value))
		}
	}
}

// isRepeat reports whether an earlier decision of the seat is the same.
func isRepeat(earlier []decision, d *decision) bool {
	return slices.ContainsFunc(earlier, func(e decision) bool {
		return e.seat == d.seat && e.action == d.action && e.key == d.key
	})
}

// Trace keeps what one seat decides in an episode, and returns what there is to learn from it: by
// every visit, from points, without a discount, as the study does.
type Trace struct {
	decisions []decision
	config    Config
	final     [1]int
}

// NewTrace returns a trace without decisions.
func NewTrace() *Trace { return &Trace{config: Default("")} }

// Reset forgets the last episode.
func (t *Trace) Reset() { t.decisions = t.decisions[:0] }

// Add adds a decision. The score is that of Game.Score before it.
func (t *Trace) Add(s *policy.View, action uint8, score int) {
	t.decisions = append(t.decisions, decision{key: s.Key, abstractKey: s.FallbackKey, action: action, score: int16(score)})
}

// AppendUpdates appends what there is to learn from the episode, the last decision first. The score is that
// at the end.
func (t *Trace) AppendUpdates(score int, updates []Update) []Update {
	t.final[0] = score
	t.config.emitReturns(t.decisions, t.final[:], func(d *decision, value float32) {
		updates = append(updates, Update{Key: d.key, AbstractKey: d.abstractKey, Value: value, Action: d.action})
	})
	return updates
}
