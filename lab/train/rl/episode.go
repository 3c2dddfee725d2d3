package rl

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// Environment is a game that a Learner plays in a series of episodes. Only one goroutine uses it at a time.
type Environment interface {
	// Players returns the number of seats, at most MaxSeats.
	Players() int
	// Deal starts the episode with the given number. Chance, such as the order of the cards, comes from r.
	Deal(episode int, r *rules.Rand)
	// Turn returns the seat to move, or rules.Over at the end of the game.
	Turn() int
	// Observe stores in s what the seat to move knows of the position: Key, which identifies the state, and Legal,
	// the bit mask of legal actions. For the variant ManyStates it also stores FallbackKey, which several states
	// share.
	Observe(s *policy.View)
	// TricksEnded returns the number of tricks that are complete. A player receives its rewards when a trick ends.
	TricksEnded() int
	// Play makes a legal move of the seat to move. Observe must have stored the present position in s. byAgent is
	// true if an agent that learns has chosen the action. DefectIndex, which makes an agent play a wrong card,
	// applies only then.
	Play(s *policy.View, action uint8, byAgent bool)
	// Order returns the legal actions in the order in which the seat got their cards, packed into one number. Each
	// action takes policy.ActionBits bits, the first action the lowest ones. There must be at most ten. Observe
	// must have stored the present position in s.
	Order(s *policy.View) uint64
	// Reward returns the sum of the rewards, in points, that the seat has received since the deal. It does not
	// include heuristic values of actions.
	Reward(seat int) int
	// Score returns the points of the seat's side minus the points of all other sides.
	Score(seat int) int
	// Side returns the number, from 0, of the side of a seat: a team or, without teams, the seat alone.
	Side(seat int) int
	// Standing returns 1 if the seat's side has more points than every other side, 0 if it shares the
	// highest score, and -1 otherwise.
	Standing(seat int) int
	// HeuristicValue returns the heuristic value of a legal action, such as the value of the card. Observe
	// must have stored the present position in s.
	HeuristicValue(s *policy.View, action uint8) float64
}

// MaxSeats is the highest number of seats of an Environment.
const MaxSeats = rules.MaxSeats

// decision is one action of a seat, with what the seat knew before the action.
type decision struct {
	key, fallbackKey policy.Key
	legal, order     uint64 // order is Environment.Order, if the tables keep a policy
	heuristic        float32
	score            int16  // Environment.Reward of the seat before the action
	trick            uint16 // Environment.TricksEnded before the action
	seat             uint8
	action           uint8
}

// Update is one return to learn from. A return is the sum of the rewards that followed an action in a state.
type Update struct {
	Key         policy.Key
	FallbackKey policy.Key // for the variant ManyStates, see policy.View
	Legal       uint64     // legal actions as a bit mask
	Order       uint64     // Environment.Order, if the tables keep a policy
	Value       float32
	Action      uint8
}

// emitReturns calls emit with the return of each decision: the discounted sum of the rewards that followed it. It
// handles one seat after another, and the decisions of a seat from the last to the first. final has the total reward of
// each seat at the end of the episode. If the reward is RewardWon, final has 1, 0 or -1 for the result of each seat
// instead. With DefectLast, only the last decision of a seat in each trick counts.
//
// With DefectLate, each decision gets the return of the same seat's next decision. The seat's last decision is left
// out, and its first one is emitted a second time, with its own return. If DefectCarry is set, too, the sum of rewards
// goes on from seat to seat. Then only the last decision of the first seat is left out. The first decision of the last
// seat is emitted once more for each seat that the game has fewer than four.
func (c *Config) emitReturns(decisions []decision, final []int, emit func(d *decision, value float32)) {
	late, carry, last, won := c.hasDefect(DefectLate), c.hasDefect(DefectCarry), c.hasDefect(DefectLast), c.Reward == RewardWon
	g, isLast := 0.0, true
	var first *decision
	for seat, end := range final {
		if !carry {
			g, isLast, first = 0, true, nil
		}
		later := -1 // index of the seat's next decision
		next := end // score before that decision
		for i := len(decisions) - 1; i >= 0; i-- {
			d := &decisions[i]
			if int(d.seat) != seat || last && later >= 0 && decisions[later].trick == d.trick {
				continue
			}
			score := int(d.score)
			if won { // the reward comes only at the end
				score = 0
			}
			value := g
			g = float64(next-score) + float64(d.heuristic) + c.Gamma*g
			if !late {
				value = g
			}
			later, next, first = i, score, d
			if !late || !isLast {
				emit(d, float32(value))
			}
			isLast = false
		}
		if late && first != nil {
			emit(first, float32(g))
		}
	}
	for range baraja.TableSeats - len(final) {
		if late && carry && first != nil {
			emit(first, float32(g))
		}
	}
}

// Trace records the decisions of one seat in an episode and computes their returns. As in the study, repeated
// visits of a state count, rewards are in points, and there is no discount.
type Trace struct {
	decisions []decision
	config    Config
	final     [1]int
}

// NewTrace returns an empty trace.
func NewTrace() *Trace { return &Trace{config: Default("")} }

// Reset deletes the decisions of the last episode.
func (t *Trace) Reset() { t.decisions = t.decisions[:0] }

// Add appends one decision of the traced seat: s is what the seat knew, and action is what it did. score is its lead
// before the action: the points of its side minus the points of all other sides.
func (t *Trace) Add(s *policy.View, action uint8, score int) {
	t.decisions = append(t.decisions, decision{key: s.Key, fallbackKey: s.FallbackKey, action: action, score: int16(score)})
}

// AppendUpdates appends the return of each recorded decision to updates, that of the last decision first, and
// returns the extended slice. score is the seat's lead in points at the end of the episode.
func (t *Trace) AppendUpdates(score int, updates []Update) []Update {
	t.final[0] = score
	t.config.emitReturns(t.decisions, t.final[:], func(d *decision, value float32) {
		updates = append(updates, Update{Key: d.key, FallbackKey: d.fallbackKey, Value: value, Action: d.action})
	})
	return updates
}
