// Package endgame solves the end of a game of two sides in which nothing is hidden any more. It maximizes the
// difference of points instead of the chance to win, by alpha-beta (Knuth and Moore, "An Analysis of
// Alpha-Beta Pruning", 1975) to the end of the game, with a transposition table (Greenblatt, Eastlake and
// Crocker, "The Greenblatt Chess Program", 1967). Side 0 wants the greatest margin, side 1 the smallest.
package endgame

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

// State is a position of a game of two sides in which nothing is hidden. S is the type of the position itself; its
// pointer implements State. An assignment of an S copies the position.
type State[S any] interface {
	*S
	// Turn returns the side to move, 0 or 1, or rules.Over.
	Turn() int
	// Legal appends the legal moves to its argument. Unless the game is over, there is at least one.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move. The log is nil.
	Apply(rules.Move, *rules.Log)
	// Margin returns the current points of side 0 minus those of side 1.
	Margin() int32
	// Key returns a hash of everything that determines how Margin changes until the end of the game. If it returns
	// 0, the solver does not store the result for the position in its table.
	Key() uint64
	// Rank returns a number that says how early the search tries a legal move. Higher is earlier.
	Rank(rules.Move) int32
}

const (
	// MaxPly is the maximum number of moves from a solved position to the end of the game.
	MaxPly = 64
	// MaxMoves is the maximum number of legal moves in a position.
	MaxMoves = 64

	infinity      = 1 << 28
	clockInterval = 256 // number of nodes between two readings of the clock
)

// Solution is the result of Solver.Solve.
type Solution struct {
	Move   rules.Move
	Margin int32 // margin at the end of the game if both sides play perfectly
	Nodes  uint64
	Exact  bool         // false if the budget did not suffice; then Margin and Line are not set, and Move is an arbitrary legal move
	Line   []rules.Move // expected moves, beginning with Move; valid until the next search
}

// Solver finds the result of perfect play in positions of one game. It is not safe for concurrent use.
type Solver[S any, G State[S]] struct {
	meter  search.Meter
	table  table
	game   uint64 // combined with the keys in the table; differs from game to game
	states [MaxPly + 1]S
	moves  [MaxPly][MaxMoves]rules.Move
	ranks  [MaxPly][MaxMoves]int32
	line   [MaxPly + 1][MaxPly + 1]rules.Move
	length [MaxPly + 1]int
	best   []rules.Move
}

// New returns a solver with a table of solved positions. bytes is the maximum size of the table in bytes. If it is
// 0, the solver has no table.
func New[S any, G State[S]](bytes int) *Solver[S, G] {
	return &Solver[S, G]{table: newTable(bytes)}
}

// Forget makes the solver ignore the results of earlier searches. It should be called before each game, because
// otherwise the result of a limited search depends on earlier games. The old entries stay in the table, but their
// keys no longer match.
func (s *Solver[S, G]) Forget() { s.game += 0x9e3779b97f4a7c15 }

// Margin returns the points of side 0 minus those of side 1 at the end of the game if both play perfectly from g.
func (s *Solver[S, G]) Margin(g G) int32 {
	s.meter = search.NewMeter(search.Budget{}, 1<<63)
	s.states[0] = *g
	return s.search(0, -infinity, infinity)
}

// Solve returns a best move in position g and the result of perfect play; side 0 maximizes Solution.Margin. The game
// must not be over in g. Among equally good moves, Solve chooses by r. If the budget b does not suffice,
// Solution.Exact is false and the move is arbitrary.
func (s *Solver[S, G]) Solve(g G, b search.Budget, r *rules.Rand) Solution {
	s.meter = search.NewMeter(b, clockInterval)
	s.states[0] = *g
	sign := int32(1 - 2*g.Turn())
	n := s.rankMoves(0)
	top, ties := int32(-infinity), 0 // top is for the side to move
	for i := range n {
		m := s.pick(0, i, n)
		s.states[1] = *g
		G(&s.states[1]).Apply(m, nil)
		// The window includes the best value so far, so that the value of an equally good move is exact.
		low, high := top-1, int32(infinity)
		if sign < 0 {
			low, high = -high, -low
		}
		v := sign * s.search(1, low, high)
		if s.meter.IsSpent() {
			return Solution{Move: m, Nodes: s.meter.Nodes()}
		}
		if v > top {
			top, ties = v, 0
		} else if v < top {
			continue
		}
		if ties++; r.Below(ties) == 0 {
			s.best = append(append(s.best[:0], m), s.line[1][:s.length[1]]...)
		}
	}
	return Solution{Move: s.best[0], Margin: sign * top, Nodes: s.meter.Nodes(), Exact: true, Line: s.best}
}

// search returns the margin at the end of the game if both sides play perfectly from s.states[ply]. The margin is
// exact if it lies between alpha and beta, and otherwise only a bound. If the budget is used up, the result is
// meaningless.
func (s *Solver[S, G]) search(ply int, alpha, beta int32) int32 {
	s.length[ply] = 0
	g := G(&s.states[ply])
	side := g.Turn()
	if side == rules.Over || !s.meter.Count() {
		return g.Margin()
	}
	key, now := g.Key(), g.Margin()
	if key != 0 {
		key ^= s.game
		if e := s.table.find(key); e != nil {
			if v, ok := e.cutoff(now, alpha, beta); ok {
				return v
			}
		}
	}
	low, high, top := alpha, beta, int32(-infinity)
	if side != 0 {
		top = infinity
	}
	n := s.rankMoves(ply)
	for i := range n {
		m := s.pick(ply, i, n)
		s.states[ply+1] = s.states[ply]
		G(&s.states[ply+1]).Apply(m, nil)
		v := s.search(ply+1, low, high)
		if s.meter.IsSpent() {
			return now
		}
		if side == 0 && v > top {
			top = v
			if v > low {
				low = v
				s.updateLine(ply, m)
			}
		} else if side != 0 && v < top {
			top = v
			if v < high {
				high = v
				s.updateLine(ply, m)
			}
		}
		if low >= high {
			break
		}
	}
	if key != 0 {
		s.table.store(key, top-now, top > alpha, top < beta)
	}
	return top
}

// rankMoves stores the legal moves of s.states[ply] and their ranks, by which the search orders them. It returns
// the number of moves.
func (s *Solver[S, G]) rankMoves(ply int) int {
	g := G(&s.states[ply])
	n := len(g.Legal(s.moves[ply][:0]))
	if n > 1 {
		for i, m := range s.moves[ply][:n] {
			s.ranks[ply][i] = g.Rank(m)
		}
	}
	return n
}

func (s *Solver[S, G]) pick(ply, i, n int) rules.Move {
	return search.Pick(s.moves[ply][:n], s.ranks[ply][:n], i)
}

func (s *Solver[S, G]) updateLine(ply int, m rules.Move) {
	s.line[ply][0] = m
	n := copy(s.line[ply][1:], s.line[ply+1][:s.length[ply+1]])
	s.length[ply] = n + 1
}
