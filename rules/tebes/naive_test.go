package tebes

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/rulestest"
)

// naive implements Tebes a second time, square by square from the text of the rules, with a map of all
// positions of the game.
type naive struct {
	size    int
	colour  string // b and w by square
	piece   []byte // b, w and . by square
	mover   byte
	pending string // letters of the seats that still have their extra move
	extra   bool
	seen    map[string]int // ply of each position; nil if positions may come back
	limit   int
	plies   int
	told    []string
	outcome string // "w", "b" or "draw" when over

	moves     []rules.Move // legal moves
	forbidden int          // number of moves that are illegal because they bring back a position
	forgotten int          // number of such moves that are legal because the position is too old
}

func other(side byte) byte {
	if side == 'w' {
		return 'b'
	}
	return 'w'
}

// position returns what must not come back, as text.
func (n *naive) position() string {
	return string(n.piece) + string(n.mover) + n.pending
}

// reaches reports whether a piece can move from one square to another, if positions may come back.
func (n *naive) reaches(from, to int) bool {
	if n.piece[from] != n.mover || n.piece[to] == n.mover || from == to {
		return false
	}
	forward, right := to/n.size-from/n.size, to%n.size-from%n.size
	if n.mover == 'w' {
		forward = -forward
	}
	distance := max(forward, right, -right)
	if forward < 0 || distance > 2 || forward != distance && forward != 0 || right != 0 && max(right, -right) != distance {
		return false
	}
	if distance == 2 {
		between := (from/n.size+to/n.size)/2*n.size + (from%n.size+to%n.size)/2
		if n.piece[between] == other(n.mover) {
			return false
		}
	}
	if n.piece[to] == '.' {
		return true
	}
	if n.colour[from] == n.mover {
		return distance == 2
	}
	return distance == 1
}

// corners returns the corners of the opponent's back row.
func (n *naive) corners(side byte) [2]int {
	if side == 'w' {
		return [2]int{0, n.size - 1}
	}
	return [2]int{n.size * (n.size - 1), n.size*n.size - 1}
}

// after returns the position after a possible move, without checking for the end of the game.
func (n *naive) after(from, to int) *naive {
	next := *n
	next.piece = slices.Clone(n.piece)
	next.piece[to], next.piece[from] = n.mover, '.'
	next.plies++
	next.extra = false
	c := n.corners(n.mover)
	switch {
	case next.piece[c[0]] == n.mover && next.piece[c[1]] == n.mover:
		next.outcome = string(n.mover)
	case strings.Count(string(next.piece), string(other(n.mover))) < 2:
		next.outcome = string(n.mover)
	case (to == c[0] || to == c[1]) && strings.IndexByte(n.pending, n.mover) >= 0:
		next.pending = strings.ReplaceAll(n.pending, string(n.mover), "")
		next.extra = true
	}
	if !next.extra {
		next.mover = other(n.mover)
	}
	return &next
}

// findMoves lists the legal moves. Positions more than maxPast moves ago may come back.
func (n *naive) findMoves() {
	n.moves, n.forbidden, n.forgotten = nil, 0, 0
	for from := range n.piece {
		for to := range n.piece {
			if !n.reaches(from, to) {
				continue
			}
			if n.seen != nil {
				next := n.after(from, to)
				if ply, ok := n.seen[next.position()]; ok && n.plies-ply <= maxPast {
					n.forbidden++
					continue
				} else if ok {
					n.forgotten++
				}
			}
			n.moves = append(n.moves, rules.Move(from*36+to))
		}
	}
}

// apply makes a move.
func (n *naive) apply(m rules.Move) {
	from, to := int(m)/36, int(m)%36
	seat := strings.IndexByte("wb", n.mover)
	n.told = append(n.told, fmt.Sprintf("play %d %d-%d", seat, from, to))
	if n.piece[to] != '.' {
		n.told = append(n.told, fmt.Sprintf("capture %d %d", seat, to))
	}
	*n = *n.after(from, to)
	if n.seen != nil {
		n.seen[n.position()] = n.plies
	}
	if n.outcome == "" {
		if n.findMoves(); len(n.moves) == 0 {
			n.outcome = string(other(n.mover))
		}
	}
	if n.outcome == "" && n.plies == n.limit {
		n.outcome = "draw"
	}
	if n.outcome != "" {
		n.moves = nil
	} else if n.extra {
		n.told = append(n.told, fmt.Sprintf("extra %d", seat))
	}
}

func (n *naive) Legal() (texts []string) {
	for _, m := range n.moves {
		texts = append(texts, fmt.Sprintf("%d-%d", m/36, m%36))
	}
	return texts
}

func (n *naive) Play(text string) { n.apply(n.moves[slices.Index(n.Legal(), text)]) }

// NewEvents returns the same events to both seats. The second call deletes them.
func (n *naive) NewEvents(seat int) []string {
	told := n.told
	if seat == 1 {
		n.told = nil
	}
	return told
}

func (n *naive) Ply() int { return n.plies }

func (n *naive) View(seat int) string {
	extra := n.pending
	if extra == "" {
		extra = "-"
	}
	bonus := "no"
	if n.extra && n.outcome == "" {
		bonus = "yes"
	}
	return fmt.Sprintf("size=%d colours=%s pieces=%s me=%c extra=%s bonus=%s", n.size, n.colour, n.piece, "wb"[seat], extra, bonus)
}

func (n *naive) Turn() int {
	if n.outcome != "" {
		return rules.Over
	}
	return strings.IndexByte("wb", n.mover)
}

func (n *naive) Points() []float64 {
	return map[string][]float64{"": {0, 0}, "w": {1, 0}, "b": {0, 1}, "draw": {0.5, 0.5}}[n.outcome]
}

// newNaive returns the first position of a state, whose board it takes from the view.
func newNaive(s *State) *naive {
	n := &naive{limit: int(s.rules.Limit), mover: 'w'}
	if _, err := fmt.Sscanf(string(s.View(nil, 0)), "size=%d colours=%s pieces=%s me=w extra=%s", &n.size, &n.colour, &n.piece, &n.pending); err != nil {
		panic(err)
	}
	n.pending = strings.TrimPrefix(n.pending, "-")
	if !s.rules.Cycles {
		n.seen = map[string]int{n.position(): 0}
	}
	if n.findMoves(); len(n.moves) == 0 {
		n.outcome = "b"
	}
	return n
}

// setUp removes random pieces, so that corners, cycles and positions without moves are near.
func setUp(s *State, r *rules.Rand) {
	g := s.geometry()
	for {
		s.pieces = [2]Board{}
		sparse := 2 + r.Below(8)
		for free := g.all; free != 0; free &= free - 1 {
			if r.Below(sparse) == 0 {
				s.pieces[r.Below(2)] |= free & -free
			}
		}
		s.extra = uint8(r.Below(4))
		var from sources
		s.sources(&from)
		good := from.any() != 0
		for seat, b := range s.pieces {
			good = good && bits.OnesCount64(uint64(b)) >= 2 && b&g.goal[seat] != g.goal[seat]
		}
		if good {
			return
		}
	}
}

// tastes has the players of the test: each function rates how much a player likes a move.
var tastes = map[string]func(s *State, m rules.Move) int{
	"any":      func(*State, rules.Move) int { return 1 },
	"sideways": func(s *State, m rules.Move) int { return 1 + 30*sameRow(s, m) },
	"peaceful": func(s *State, m rules.Move) int {
		if s.pieceAt(s.geometry().cell[m%36]) != '.' {
			return 1
		}
		return 5 + 50*sameRow(s, m)
	},
	"forward": func(s *State, m rules.Move) int { return 1 + 5*(1-sameRow(s, m)) },
}

func sameRow(s *State, m rules.Move) int {
	if int(m)/36/int(s.rules.Size) == int(m)%36/int(s.rules.Size) {
		return 1
	}
	return 0
}

func choose(s *State, legal []rules.Move, r *rules.Rand, taste func(*State, rules.Move) int) rules.Move {
	total := 0
	for _, m := range legal {
		total += taste(s, m)
	}
	n := r.Below(total)
	for _, m := range legal {
		if n -= taste(s, m); n < 0 {
			return m
		}
	}
	panic("unreachable")
}

// compare plays a game of at most the given number of plies in both implementations and returns the first
// difference.
func (n *naive) compare(s *State, r *rules.Rand, taste func(*State, rules.Move) int, plies int, seen *tallies) error {
	p, err := rulestest.NewPair(newVariant(Game, nil, s.rules), s, n, string(s.View(nil, white)))
	for err == nil && n.plies < plies {
		seen.look(s, n)
		if n.outcome != "" {
			break
		}
		err = p.Try(string(s.MoveText(nil, choose(s, n.moves, r, taste))))
	}
	return err
}

// tallies counts events in the games, so that the test can check that each happened.
type tallies struct{ plies, forbidden, forgotten, far, bonus, stuck, draws, corners int }

func (c *tallies) look(s *State, n *naive) {
	c.plies++
	if n.extra && n.outcome == "" {
		c.bonus++
	}
	if n.forbidden > 0 {
		c.forbidden++
		if s.ply-s.irreversiblePly > 20 {
			c.far++
		}
	}
	c.forgotten += n.forgotten
	switch n.outcome {
	case "":
	case "draw":
		c.draws++
	default:
		side := n.outcome[0]
		if at := n.corners(side); n.piece[at[0]] == side && n.piece[at[1]] == side {
			c.corners++
		} else if strings.Count(string(n.piece), string(other(side))) >= 2 {
			c.stuck++
		}
	}
}

// TestTebesNaive compares thousands of games, with all options and different players, from first positions
// and from positions with fewer pieces.
func TestTebesNaive(t *testing.T) {
	var seen tallies
	games, each := 0, 4
	if kit.Soak {
		each = 24
	}
	for variant := range 32 {
		v := Rules{Size: 6, Random: variant&1 != 0, Cycles: variant&2 != 0, Limit: []uint16{400, 0, 1, 31}[variant>>2&3]}
		if variant&16 != 0 {
			v.Size = 4
		}
		for name, taste := range tastes {
			for game := range each {
				games++
				r := rules.NewRand(uint64(game))
				src := rules.FastStream(r)
				var s State
				s.Deal(v, &src)
				if game%3 != 0 {
					setUp(&s, r)
					s.turn = white
				}
				// Without a limit the players might move back and forth for ever.
				if err := newNaive(&s).compare(&s, r, taste, 600, &seen); err != nil {
					t.Fatalf("%+v, %s, game %d: %v", v, name, game, err)
				}
			}
		}
	}
	t.Logf("%d games: %+v", games, seen)
	if seen.forbidden < 40*each || seen.far < 4*each || seen.bonus < 40*each || each >= 24 && seen.stuck < 10 || seen.draws < 40*each || seen.corners < 40*each {
		t.Errorf("the games are too tame: %+v", seen)
	}
}

// TestTebesCyclesMemory plays long games of sideways moves. Positions older than those that are stored may
// come back, the others may not.
func TestTebesCyclesMemory(t *testing.T) {
	taste := func(s *State, m rules.Move) int {
		if sameRow(s, m) == 1 && s.pieceAt(s.geometry().cell[m%36]) == '.' {
			return 1_000_000
		}
		return 1
	}
	for _, limit := range []uint16{0, maxLimit} {
		s := position(t, fmt.Sprintf("limit=%d", limit), "...... .bb... .b..b. w..w.. w..w.w ......")
		var seen tallies
		kit.Must(t, newNaive(s).compare(s, rules.NewRand(uint64(limit)), taste, 3000, &seen))
		t.Logf("limit %d: %d sideways moves, %+v", limit, s.ply-s.irreversiblePly, seen)
		if seen.forbidden < 100 || limit == 0 && seen.forgotten < 100 || limit > 0 && s.irreversiblePly > 0 {
			t.Errorf("limit %d: %d sideways moves in a row are too tame: %+v", limit, s.ply-s.irreversiblePly, seen)
		}
	}
}

// FuzzPlay compares a game that the input determines with the naive implementation. The first four bytes
// choose the options that are words, the opening, the limit and the seed.
func FuzzPlay(f *testing.F) {
	rulestest.FuzzNaive(f, func(t *testing.T, head [4]byte) *rulestest.Pair[*naive] {
		r := Rules{
			Size: 4 + head[0]&2, Random: head[0]&1 != 0, Cycles: head[0]&4 != 0,
			Opening: head[1] % (rules.MaxOpening + 1), Limit: uint16(head[2]),
		}
		seed := rules.Seed{head[3]}
		n, below := naiveBoard(r, seed)
		if r.Opening > 0 {
			n, _ = n.open(int(r.Opening), below)
		}
		return kit.Get[*rulestest.Pair[*naive]](t)(rulestest.NewPair(newVariant(Game, nil, r), rulestest.FirstPosition(newVariant(Game, nil, r), seed), n, rules.Hex(seed)))
	})
}
