// Package alphabeta searches games of two sides by alpha-beta (Knuth and Moore, "An Analysis of Alpha-Beta
// Pruning", 1975) with iterative deepening (Slate and Atkin, "Chess 4.5", 1977), principal variation search
// (Marsland and Campbell, "Parallel Search of Strongly Ordered Game Trees", 1982), a transposition table, killer
// moves (Akl and Newborn, 1977) and the history heuristic (Schaeffer, 1983). Late move reductions are an option
// (Heinz, "Extended Futility Pruning and Reductions", 1998, and the practice of chess programs since Fruit, 2005).
//
// A side may make several moves in a row. Depth counts the changes of side, so that an extra move does not
// use up depth. The search prefers a nearer win to a farther one, and a farther loss to a nearer one.
package alphabeta

import (
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/search"
)

const (
	// Win is the score of a win, from which 1 is subtracted for each move until the win.
	Win = 1 << 28
	// MaxDepth is the maximum depth of a search.
	MaxDepth = 60

	maxPly        = MaxDepth + 4 // including moves after which the same side moves again
	nearWin       = Win - 1024   // lowest score that means a win
	infinity      = Win + 1
	clockInterval = 512     // number of nodes between two readings of the clock
	maxMove       = 1 << 11 // all moves are less than this number
)

// Position is a position of a game of two sides. The search makes moves in it and takes them back. P is the type of
// the position itself; its pointer implements Position. Scores are from the view of the side to move.
type Position[P any] interface {
	*P
	// Turn returns the side to move, 0 or 1, or rules.Over.
	Turn() int
	// Legal appends the legal moves to its argument. Unless the game is over, there is at least one.
	Legal([]rules.Move) []rules.Move
	// Make makes a legal move. Unmake takes back the last move.
	Make(rules.Move)
	Unmake()
	// Winner returns the side that has won, or -1 for a draw. It is only called when the game is over.
	Winner() int
	// Key returns a hash of everything that determines the rest of the game.
	Key() uint64
	// Value estimates the score of the position for the side to move.
	Value() int32
	// Rank returns a number from -1000 to 1000 that says how early the search tries a legal move. Higher is
	// earlier.
	Rank(rules.Move) int32
}

// Options are the options of a Searcher. If both ReduceLateMoves and UseDeeperEntries are false, the score of a
// depth that was searched completely is exact.
type Options struct {
	Method           Method
	Table            int  // size of the transposition table in bytes; 0 means no table
	ReduceLateMoves  bool // search moves of low rank less deeply, and again in full if their score is good
	UseDeeperEntries bool // also use results in the table from deeper searches than needed
}

// Method is the algorithm of a Searcher. With Plain and Exhaustive, the search goes to its full depth at once, and no
// option but Method has an effect.
type Method uint8

const (
	// Sorted is alpha-beta with everything that this package offers: iterative deepening, a table and sorted moves.
	Sorted Method = iota
	// Plain is alpha-beta alone. It tries the moves of the searched position in random order, and all later moves in
	// the order of Position.Legal.
	Plain
	// Exhaustive is minimax: it searches every position down to the full depth.
	Exhaustive
)

// Result is the result of a search.
type Result struct {
	Move  rules.Move
	Score int32 // score for the side to move
	Depth int   // last depth that was completed
	Nodes uint64
	Line  []rules.Move // expected moves, beginning with Move; valid until the next search
}

// Searcher searches positions of one game. It is not safe for concurrent use.
type Searcher[P any, G Position[P]] struct {
	options Options
	meter   search.Meter
	table   table
	killers [maxPly][2]rules.Move
	history [2][maxMove]int32
	moves   [maxPly][rules.MaxMoves]rules.Move
	ranks   [maxPly][rules.MaxMoves]int32
	line    [maxPly + 1][maxPly + 1]rules.Move
	length  [maxPly + 1]int
	best    []rules.Move
}

// New returns a searcher with an empty table.
func New[P any, G Position[P]](o Options) *Searcher[P, G] {
	s := &Searcher[P, G]{options: o, table: newTable(o.Table)}
	s.Forget()
	return s
}

// Bytes returns the size of the transposition table in bytes.
func (s *Searcher[P, G]) Bytes() int { return len(s.table.entries) * entrySize }

// Forget discards the results of earlier searches. It should be called before a new game.
func (s *Searcher[P, G]) Forget() {
	s.table.clear()
	clear(s.history[:])
	clear(s.killers[:])
}

// Search returns the best move of the side to move in g to the given depth, at most MaxDepth. With the method Sorted,
// it searches to depth 1, then 2, and so on; each time it begins with the best move so far. Among equally good moves, r
// decides. If the budget b ends within a depth, the result is the best of the moves completely searched to this depth
// or, if there are none, the best move of the depth before. If no move was completely searched, the result is the first
// move in the order of the search, which is random with Plain and Exhaustive.
func (s *Searcher[P, G]) Search(g G, depth int, b search.Budget, r *rules.Rand) Result {
	s.meter = search.NewMeter(b, clockInterval)
	s.decayHistory()
	moves := g.Legal(s.moves[0][:0])
	for i := len(moves) - 1; i > 0; i-- {
		j := r.Below(i + 1)
		moves[i], moves[j] = moves[j], moves[i]
	}
	depth = min(depth, MaxDepth)
	first := depth
	if s.options.Method == Sorted {
		first = 1
		s.sortRoot(g, len(moves))
	}
	s.best = append(s.best[:0], moves[0])
	result := Result{}
	for d := first; d <= depth; d++ {
		score, ok := s.searchRoot(g, moves, d, r)
		if score > -infinity {
			result.Score = score
		}
		if !ok {
			break
		}
		result.Depth = d
		if sure := max(score, -score); sure >= nearWin && int(Win-sure) <= d {
			break // a deeper search cannot find a nearer win
		}
	}
	result.Move, result.Line, result.Nodes = s.best[0], s.best, s.meter.Nodes()
	return result
}

func (s *Searcher[P, G]) sortRoot(g G, n int) {
	s.rankMoves(g, 0, n, 0, false)
	for i := range n {
		s.pick(0, i, n)
	}
}

// searchRoot searches the legal moves of g, which are in moves, to the given depth and returns the best score. It
// moves the best move to the front of moves and sets s.best to its line. If the budget is used up, it returns false
// and the best score so far, which is -infinity if no move was searched completely.
func (s *Searcher[P, G]) searchRoot(g G, moves []rules.Move, depth int, r *rules.Rand) (int32, bool) {
	top, ties, at := int32(-infinity), 0, 0
	for i, m := range moves {
		alpha := int32(-infinity)
		if top > -infinity && s.options.Method != Exhaustive {
			alpha = top - 1 // so that the value of an equally good move is exact
		}
		v := s.searchMove(g, m, depth, 0, alpha, infinity)
		if s.meter.IsSpent() {
			return top, false
		}
		if v > top {
			top, ties = v, 0
		} else if v < top {
			continue
		}
		if ties++; r.Below(ties) == 0 { // all best moves are equally likely
			at = i
			s.best = append(append(s.best[:0], m), s.line[1][:s.length[1]]...)
		}
	}
	copy(moves[1:], moves[:at])
	moves[0] = s.best[0]
	return top, true
}

// searchMove makes m in g, searches the resulting position and takes m back. It returns the score for the side that
// makes m, or 0 if the budget is used up. depth is the remaining depth, and ply the number of moves from the root,
// both before m.
func (s *Searcher[P, G]) searchMove(g G, m rules.Move, depth, ply int, alpha, beta int32) (v int32) {
	if !s.meter.Count() {
		return 0
	}
	side := g.Turn()
	g.Make(m)
	s.length[ply+1] = 0
	switch turn := g.Turn(); {
	case turn == rules.Over:
		switch g.Winner() {
		case side:
			v = Win - int32(ply+1)
		case 1 - side:
			v = int32(ply+1) - Win
		}
	case turn == side:
		v = s.search(g, turn, depth, ply+1, alpha, beta)
	default:
		v = -s.search(g, turn, depth-1, ply+1, -beta, -alpha)
	}
	g.Unmake()
	return v
}

// search returns the score of g for side, which is to move. The score is exact if it lies between alpha and beta,
// and otherwise only a bound. depth is the remaining depth, and ply the number of moves from the root. If the
// budget is used up, the result is meaningless.
func (s *Searcher[P, G]) search(g G, side, depth, ply int, alpha, beta int32) int32 {
	if depth <= 0 || ply >= maxPly-1 {
		return g.Value()
	}
	if s.options.Method != Sorted {
		return s.searchInOrder(g, depth, ply, alpha, beta)
	}
	key, known := g.Key(), rules.Move(0)
	e := s.table.find(key)
	if e != nil {
		known = e.move
		if v, ok := s.cutoff(e, depth, ply, alpha, beta); ok {
			return v
		}
	}
	n := len(g.Legal(s.moves[ply][:0]))
	s.rankMoves(g, ply, n, known, e != nil)
	top, best, kind := int32(-infinity), s.moves[ply][0], upperBound
	for i := range n {
		m := s.pick(ply, i, n)
		var v int32
		if i == 0 {
			v = s.searchMove(g, m, depth, ply, alpha, beta)
		} else {
			d := depth - s.reduction(depth, ply, i)
			if v = s.searchMove(g, m, d, ply, alpha, alpha+1); v > alpha && (v < beta || d < depth) {
				v = s.searchMove(g, m, depth, ply, alpha, beta)
			}
		}
		if s.meter.IsSpent() {
			return 0
		}
		if v <= top {
			continue
		}
		if top, best = v, m; v <= alpha {
			continue
		}
		if v >= beta {
			kind = lowerBound
			s.recordCutoff(side, depth, ply, m)
			break
		}
		alpha, kind = v, exact
		s.updateLine(ply, m)
	}
	s.table.store(key, depth, scoreForTable(top, ply), best, kind)
	return top
}

// searchInOrder returns the score of g for the side to move, like search, but for the methods Plain and Exhaustive,
// without a table. depth is the remaining depth, and ply the number of moves from the root. With Plain, a score that
// does not lie between alpha and beta is only a bound. If the budget is used up, the result is 0 and means nothing.
func (s *Searcher[P, G]) searchInOrder(g G, depth, ply int, alpha, beta int32) int32 {
	top := int32(-infinity)
	for _, m := range g.Legal(s.moves[ply][:0]) {
		v := s.searchMove(g, m, depth, ply, alpha, beta)
		if s.meter.IsSpent() {
			return 0
		}
		if v <= top {
			continue
		}
		top = v
		s.updateLine(ply, m)
		if s.options.Method == Exhaustive {
			continue
		}
		if alpha = max(alpha, v); alpha >= beta {
			break
		}
	}
	return top
}

// cutoff returns the score that a table entry gives for a position at the given ply. The bool reports whether this
// score makes it unnecessary to search the position to the given depth between alpha and beta.
func (s *Searcher[P, G]) cutoff(e *entry, depth, ply int, alpha, beta int32) (int32, bool) {
	if int(e.depth) != depth && !(s.options.UseDeeperEntries && int(e.depth) > depth) {
		return 0, false
	}
	v := scoreFromTable(e.score, ply)
	switch e.kind & 3 {
	case exact:
		return v, true
	case lowerBound:
		return v, v >= beta
	}
	return v, v <= alpha
}

// scoreForTable returns v, the score of a position, in the form for the table. There, the score of a win depends on
// the number of moves from that position. v counts them from the root of the search, which is ply moves earlier.
// scoreFromTable converts the score back.
func scoreForTable(v int32, ply int) int32 { return scoreFromTable(v, -ply) }

func scoreFromTable(v int32, ply int) int32 {
	switch {
	case v >= nearWin:
		return v - int32(ply)
	case v <= -nearWin:
		return v + int32(ply)
	}
	return v
}

func (s *Searcher[P, G]) updateLine(ply int, m rules.Move) {
	s.line[ply][0] = m
	n := copy(s.line[ply][1:], s.line[ply+1][:s.length[ply+1]])
	s.length[ply] = n + 1
}
