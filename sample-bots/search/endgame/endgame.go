// Package endgame solves the rest of a game of two sides in which nothing is hidden any more, for
// points instead of wins: alpha-beta (Knuth and Moore, "An Analysis of Alpha-Beta Pruning", 1975)
// to the very end, with a table of positions (Greenblatt, Eastlake and Crocker, "The Greenblatt
// Chess Program", 1967). Side 0 wants the greatest margin of points, side 1 the smallest.
package endgame

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

// State is a position of which all is known. S is the concrete type, which is copied by
// assignment.
type State[S any] interface {
	*S
	// Turn returns the side to move, 0 or 1, or rules.Over.
	Turn() int
	// Legal appends the legal moves: at least one unless the game is over.
	Legal([]rules.Move) []rules.Move
	// Apply makes a legal move; the log is nil.
	Apply(rules.Move, *rules.Log)
	// Margin returns the points of side 0 less those of side 1, by now or at the end.
	Margin() int32
	// Key returns a hash of all that decides how the margin changes from here on, or 0 for a
	// position that is not worth remembering.
	Key() uint64
	// Rank estimates a legal move for the order of the search: more is earlier.
	Rank(rules.Move) int32
}

const (
	// MaxPly is the most moves to the end.
	MaxPly = 64
	// MaxMoves is the most legal moves of a position.
	MaxMoves = 64

	infinity      = 1 << 28
	clockInterval = 256 // nodes between two looks at the clock
)

// Result is what a solver has found.
type Result struct {
	Move   rules.Move
	Margin int32 // at the end, if both sides play their best
	Nodes  uint64
	Exact  bool         // false if the budget was spent before: then the others mean nothing
	Line   []rules.Move // the moves that are expected, with Move the first; valid until the next search
}

// Solver solves positions of one game. It is not safe for concurrent use.
type Solver[S any, G State[S]] struct {
	meter  search.Meter
	table  table
	game   uint64 // differs from game to game
	states [MaxPly + 1]S
	moves  [MaxPly][MaxMoves]rules.Move
	ranks  [MaxPly][MaxMoves]int32
	line   [MaxPly + 1][MaxPly + 1]rules.Move
	length [MaxPly + 1]int
	best   []rules.Move
}

// New returns a solver whose table has at most so many bytes; 0 for none.
func New[S any, G State[S]](bytes int) *Solver[S, G] {
	return &Solver[S, G]{table: newTable(bytes)}
}

// Forget forgets what earlier searches have found, as before a new game: how far a budget reaches
// depends on it. The table stays as it is, as no key of the new game is that of an old entry.
func (s *Solver[S, G]) Forget() { s.game += 0x9e3779b97f4a7c15 }

// Margin returns the margin at the end of a position, if both sides play their best.
func (s *Solver[S, G]) Margin(g G) int32 {
	s.meter = search.NewMeter(search.Budget{}, 1<<63)
	s.states[0] = *g
	return s.search(0, -infinity, infinity)
}

// Solve finds a best move of a position that is not over. Each of the best is equally likely, by r.
func (s *Solver[S, G]) Solve(g G, b search.Budget, r *rules.Rand) Result {
	s.meter = search.NewMeter(b, clockInterval)
	s.states[0] = *g
	sign := int32(1 - 2*g.Turn())
	n := s.rankMoves(0)
	top, ties := int32(-infinity), 0 // for the side to move
	for i := range n {
		m := s.pick(0, i, n)
		s.states[1] = *g
		G(&s.states[1]).Apply(m, nil)
		// A move as good as the best so far has an exact value, too.
		low, high := top-1, int32(infinity)
		if sign < 0 {
			low, high = -high, -low
		}
		v := sign * s.search(1, low, high)
		if s.meter.IsSpent() {
			return Result{Move: m, Nodes: s.meter.Nodes()}
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
	return Result{Move: s.best[0], Margin: sign * top, Nodes: s.meter.Nodes(), Exact: true, Line: s.best}
}

// search returns the margin at the end of the position of a ply: exact between alpha and beta,
// else a bound.
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

// rankMoves lists and ranks the moves of a ply and returns their number.
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

// pick puts the highest of the moves from i on at i and returns it.
func (s *Solver[S, G]) pick(ply, i, n int) rules.Move {
	return search.Pick(s.moves[ply][:n], s.ranks[ply][:n], i)
}

// updateLine makes a move and the line after it the line of a ply.
func (s *Solver[S, G]) updateLine(ply int, m rules.Move) {
	s.line[ply][0] = m
	n := copy(s.line[ply][1:], s.line[ply+1][:s.length[ply+1]])
	s.length[ply] = n + 1
}
