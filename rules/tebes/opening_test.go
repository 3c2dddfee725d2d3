package tebes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/rulestest"
)

// naiveBoard returns the start for a seed, and the source of the random numbers that follow.
func naiveBoard(r Rules, seed rules.Seed) (*naive, func(uint64) int) {
	size := int(r.Size)
	n := &naive{size: size, mover: 'w', pending: "bw", limit: int(r.Limit)}
	colours := make([]byte, size*size)
	order := make([]int, size*size)
	for i := range order {
		order[i] = i
		colours[i] = "bw"[(i/size+i%size)%2]
	}
	below := rulestest.NaiveStream(seed)
	if r.Random {
		for i := len(order) - 1; i > 0; i-- {
			j := below(uint64(i + 1))
			order[i], order[j] = order[j], order[i]
		}
		for i, square := range order {
			colours[square] = "bw"[2*i/len(order)]
		}
	}
	n.colour = string(colours)
	n.piece = []byte(strings.Repeat("b", size*size/2) + strings.Repeat("w", size*size/2))
	n.begin(!r.Cycles)
	return n, below
}

// begin makes the position the first of a game.
func (n *naive) begin(forbid bool) {
	n.plies, n.seen = 0, nil
	if forbid {
		n.seen = map[string]int{n.position(): 0}
	}
	if n.findMoves(); len(n.moves) == 0 {
		n.outcome = string(other(n.mover))
	}
}

func (n *naive) copy() *naive {
	next := *n
	next.seen, next.told = maps.Clone(n.seen), nil
	return &next
}

// open returns the game after its opening, and the number of openings that were rejected.
func (n *naive) open(plies int, below func(uint64) int) (*naive, int) {
	for try := range 100 {
		next := n.copy()
		next.limit = 1 << 30
		next.told = []string{fmt.Sprint("opening ", plies)}
		for made := 0; next.outcome == "" && made < plies; made++ {
			next.apply(next.moves[below(uint64(len(next.moves)))])
		}
		if next.outcome != "" {
			continue
		}
		next.limit = n.limit
		next.begin(n.seen != nil)
		if next.outcome == "" && !next.canWin() && next.canEscape() {
			return next, try
		}
	}
	n.told = []string{"opening 0"}
	return n, 100
}

func (n *naive) played(m rules.Move) *naive {
	next := n.copy()
	next.apply(m)
	return next
}

// canWin reports whether the side to move can win before the other side moves.
func (n *naive) canWin() bool {
	me := string(n.mover)
	return slices.ContainsFunc(n.moves, func(m rules.Move) bool {
		next := n.played(m)
		return next.outcome == me || next.outcome == "" && string(next.mover) == me && next.canWin()
	})
}

// canEscape reports whether the side to move has a move that does not lose and after which the other side
// cannot win at once.
func (n *naive) canEscape() bool {
	me := string(n.mover)
	return slices.ContainsFunc(n.moves, func(m rules.Move) bool {
		next := n.played(m)
		if next.outcome != "" {
			return next.outcome == me || next.outcome == "draw"
		}
		return string(next.mover) == me || !next.canWin()
	})
}

// TestTebesOpenings compares openings of all lengths on all boards, then the games from there.
func TestTebesOpenings(t *testing.T) {
	var seen tallies
	redraws, none, seeds := 0, 0, 2
	if kit.Soak {
		seeds = 12
	}
	for variant := range 16 {
		v := Rules{Size: 4 + 2*uint8(variant&1), Random: variant&2 != 0, Cycles: variant&4 != 0, Limit: []uint16{400, 1}[variant>>3]}
		for plies := 1; plies <= rules.MaxOpening; plies++ {
			v.Opening = uint8(plies)
			for number := range seeds {
				seed := rules.Seed{}.Derive(fmt.Sprint("opening ", number))
				start, below := naiveBoard(v, seed)
				n, again := start.open(plies, below)
				redraws += again
				if again == 100 {
					none++
				}
				s := rulestest.FirstPosition(newVariant(Game, nil, v), seed).(*State)
				if err := n.compare(s, rules.NewRand(uint64(number)), tastes["any"], 30, &seen); err != nil {
					t.Fatalf("%+v, seed %d: %v", v, number, err)
				}
			}
		}
	}
	t.Logf("%d openings were drawn again, %d games have none: %+v", redraws, none, seen)
	if redraws < seeds || seen.bonus == 0 {
		t.Errorf("the openings are too tame: %d drawn again, %+v", redraws, seen)
	}
}

// TestTebesOpeningsOfLostBoards checks that no opening is good if white has no first move, and that the game
// is over as it is without an opening.
func TestTebesOpeningsOfLostBoards(t *testing.T) {
	v := Rules{Size: 4, Random: true, Limit: defaultLimit, Opening: 3}
	lost := 0
	for n := range uint64(2000) {
		src := rules.FastStream(rules.NewRand(n))
		var s State
		if s.Deal(v, &src); s.Turn() != rules.Over {
			continue
		}
		lost++
		if s.Winner() != black || s.Ply() != 0 {
			t.Errorf("seed %d: winner %d at ply %d", n, s.Winner(), s.Ply())
		}
		rulestest.CheckWithoutOpening(t, newVariant(Game, nil, v), &s)
	}
	if lost == 0 {
		t.Error("white could begin on every board")
	}
}

// TestTebesOpeningsRejected checks that a game whose openings were all rejected begins at the start.
func TestTebesOpeningsRejected(t *testing.T) {
	for plies := uint8(1); plies < 4; plies++ {
		v := Rules{Size: 4, Limit: defaultLimit, Opening: plies}
		var s State
		s.setUp(v, nil)
		startAfterOpening(&s, rules.Opening{})
		rulestest.CheckWithoutOpening(t, newVariant(Game, nil, v), &s)
	}
}
