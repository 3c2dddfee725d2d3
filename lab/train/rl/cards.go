package rl

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/timba-arena/timba/lab/train/decisions"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// CardGames returns a function that creates games of Brisca or Tute for a Learner. The mode (a game with its number
// of players) and the optional rules are those of c, which must be valid.
func CardGames(c Config) func() Environment {
	mode, _ := cards.ParseMode(c.Mode)
	combinations, _ := mode.Combinations(c.Rules)
	return func() Environment {
		return &cardGame{
			mode: mode, keys: c.Keys, combinations: combinations, index: c.hasDefect(DefectIndex),
			sudden: c.hasDefect(DefectSudden), positive: c.Reward == RewardPositive,
		}
	}
}

// cardGame implements Environment for Brisca and Tute.
type cardGame struct {
	position     cards.Position
	mode         cards.Mode
	keys         policy.Keys
	combinations []baraja.TableRules
	heuristic    decisions.Heuristic
	index        bool // DefectIndex applies to the actions of agents that learn
	sudden       bool // a win at once brings no reward
	positive     bool // the points of other sides are not subtracted from rewards
	legal        [rules.MaxMoves]rules.Move
	moves        []rules.Move                     // legal moves of the observed position
	unpaid       *baraja.Table                    // if sudden: the last table without the win at once; nil before
	hands        [baraja.TableSeats][]baraja.Card // in the order in which the seat got the cards; see sortHand
	rand         *rules.Rand
}

func (g *cardGame) Players() int { return g.mode.Players }

func (g *cardGame) Turn() int { return g.position.Turn() }

func (g *cardGame) Deal(episode int, r *rules.Rand) {
	src := rules.FastStream(r)
	g.position.Deal(g.mode, g.combinations[episode%len(g.combinations)], &src)
	g.unpaid, g.hands, g.rand = nil, [baraja.TableSeats][]baraja.Card{}, r
}

func (g *cardGame) Observe(s *policy.View) {
	g.moves = g.position.Legal(g.legal[:0])
	g.keys.Observe(s, &g.position, g.moves)
}

func (g *cardGame) TricksEnded() int {
	t := g.position.Board()
	return int(t.PlayedCount-t.TrickSize) / int(t.Players)
}

func (g *cardGame) Play(s *policy.View, action uint8, byAgent bool) {
	m := s.Move(action)
	if g.index && byAgent {
		m = policy.MoveByHandIndex(m, g.moves, g.position.Board())
	}
	t := g.position.Board()
	hand := g.hands[t.Mover]
	if i := slices.Index(hand, baraja.Card(m-baraja.SwapMove)); m >= baraja.SwapMove && i >= 0 {
		hand[i] = t.Trump
	}
	var before baraja.Table
	if g.sudden {
		before = *t
	}
	g.position.Play(m)
	if g.sudden && g.Turn() == rules.Over {
		if m < baraja.SwapMove && before.PlayCard(baraja.Card(m)) {
			before.CollectTrick(g.position.Options().Bonus(), nil)
		}
		g.unpaid = &before
	}
}

// sortHand returns the cards of a seat in the order in which the seat got them. The argument cards is the set of these
// cards. It compares them with the hand that it stored at the last call, so it must be called at each turn of the seat.
// At the first turn the order is random.
func (g *cardGame) sortHand(seat int8, cards baraja.Set) []baraja.Card {
	hand := slices.DeleteFunc(g.hands[seat], func(c baraja.Card) bool { return !cards.Has(c) })
	isFirst := len(hand) == 0
	for _, c := range hand {
		cards = cards.Without(c)
	}
	for ; cards != 0; cards &= cards - 1 {
		hand = append(hand, cards.First())
	}
	if isFirst {
		run.Shuffle(hand, g.rand)
	}
	g.hands[seat] = hand
	return hand
}

// Order implements Environment. An action that plays no card, such as the exchange of the trump card, comes first.
func (g *cardGame) Order(s *policy.View) (order uint64) {
	t := g.position.Board()
	hand := g.sortHand(t.Mover, t.Hands[t.Mover])
	place := func(action uint8) int { return slices.Index(hand, baraja.Card(s.Move(action))) }
	var actions []uint8
	for set := s.Legal; set != 0; set &= set - 1 {
		actions = append(actions, uint8(bits.TrailingZeros64(set)))
	}
	slices.SortStableFunc(actions, func(a, b uint8) int { return cmp.Compare(place(a), place(b)) })
	for i, action := range actions {
		order |= uint64(action) << (i * policy.ActionBits)
	}
	return order
}

func (g *cardGame) Side(seat int) int { return g.mode.Side(seat) }

func (g *cardGame) Standing(seat int) int { return g.position.Outcome(seat) }

func (g *cardGame) Score(seat int) int { return g.position.PointLead(seat) }

// Reward implements Environment. It returns the points that the seat's side has scored in this game. Unless g.positive
// is set, it subtracts the points of all other sides. If g.sudden is set, points for a win at once do not count.
func (g *cardGame) Reward(seat int) (sum int) {
	t := g.position.Board()
	if g.unpaid != nil {
		t = g.unpaid
	}
	for other, points := range t.Points[:t.Players] {
		switch {
		case g.Side(other) == g.Side(seat):
			sum += int(points)
		case !g.positive:
			sum -= int(points)
		}
	}
	return sum
}

// HeuristicValue returns the heuristic value of the card that an action plays (see package decisions). It is 0 if
// the action plays no card but exchanges the trump card or declares the 12 and 11 of a suit.
func (g *cardGame) HeuristicValue(s *policy.View, action uint8) float64 {
	m := s.Move(action)
	if m >= baraja.SwapMove {
		return 0
	}
	g.heuristic.SetPosition(&g.position)
	return float64(g.heuristic.Worth(baraja.Card(m)))
}
