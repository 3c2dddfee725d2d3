package house

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/alphabeta"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// TestMCTSFindsWins uses random positions of 4x4 in which few moves win. UCT must find an immediate win
// always, and a win after any reply in nine of ten positions. With the study's heuristic it finds fewer,
// because it never tries a move whose prior is below the value of the others.
func TestMCTSFindsWins(t *testing.T) {
	t.Parallel()
	mctsFindsWins(t, 1)
}

func mctsFindsWins(t *testing.T, limit int) {
	r := rules.NewRand(11)
	for _, c := range []struct {
		depth, positions, floor, guided int
		iterations                      uint64
	}{{1, 20, 20, 14, 2000}, {3, 30, 27, 18, 40_000}} {
		if c.depth > limit {
			continue
		}
		for _, k := range []float64{0, 50} {
			s := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, K: k, Arena: 4 << 20})
			found, floor := 0, c.floor
			if k > 0 {
				floor = c.guided
			}
			for range c.positions {
				p := fewWins(r, c.depth)
				s.Forget()
				got := s.Search(&tebesTree{p.state, &p.eval}, search.Budget{Nodes: c.iterations}, r)
				if after(p, got.Move, c.depth) > alphabeta.Win/2 {
					found++
				}
			}
			if t.Logf("K=%v: %d of %d wins at depth %d are found", k, found, c.positions, c.depth); found < floor {
				t.Errorf("K=%v: %d of %d wins at depth %d are found, want %d", k, found, c.positions, c.depth, floor)
			}
		}
	}
}

// fewWins returns a position in which one or two moves win within a depth.
func fewWins(r *rules.Rand, depth int) *tebesPosition {
	for {
		p := randomTebes(r, tebes.Rules{Size: 4, Limit: 100}, 12)
		if p == nil {
			continue
		}
		winning := 0
		for _, m := range p.Legal(nil) {
			if after(p, m, depth) > alphabeta.Win/2 {
				winning++
			}
		}
		if winning == 1 || winning == 2 {
			return p
		}
	}
}

// TestMCTSBounds checks that the tree respects its memory limit, is reused for the next move, and is the same
// for the same seed and number of iterations, and that a search without time still moves.
func TestMCTSBounds(t *testing.T) {
	p := randomTebes(rules.NewRand(12), tebes.Rules{Size: 6, Limit: 400}, 6)
	const arena = 64 << 10
	play := func() (line []rules.Move, kept int) {
		s := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, Arena: arena})
		r, state := rules.NewRand(13), p.state
		for range 6 {
			if state.Turn() == rules.Over {
				break
			}
			got := s.Search(&tebesTree{state, &p.eval}, search.Budget{Nodes: 2000}, r)
			if got.Nodes != 2000 || s.Bytes() > arena || s.TreeSize()*24 > arena {
				t.Fatalf("%d iterations, %d nodes in %d bytes", got.Nodes, s.TreeSize(), s.Bytes())
			}
			line = append(line, got.Move)
			state.Apply(got.Move, nil)
			if state.Turn() == rules.Over {
				break
			}
			s.Search(&tebesTree{state, &p.eval}, search.Budget{Nodes: 1}, r)
			kept = max(kept, s.TreeSize())
		}
		return line, kept
	}
	once, kept := play()
	again, _ := play()
	for i := range once {
		if once[i] != again[i] {
			t.Fatalf("once %v, then %v", once, again)
		}
	}
	if kept < 100 {
		t.Errorf("at most %d nodes are kept after a move", kept)
	}
	s := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, Arena: arena})
	got := s.Search(&tebesTree{p.state, &p.eval}, search.Budget{Deadline: time.Now().Add(-time.Second)}, rules.NewRand(1))
	if got.Nodes != 0 || p.state.Check(got.Move) != nil {
		t.Errorf("no time is left: %+v", got)
	}
}

// TestSearchAllocations checks that an iteration does not allocate.
func TestSearchAllocations(t *testing.T) {
	p := randomTebes(rules.NewRand(14), tebes.Rules{Size: 6, Limit: 400}, 6)
	r := rules.NewRand(1)
	tree := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, K: 50, Arena: 1 << 20})
	root := &tebesTree{p.state, &p.eval}
	few := testing.AllocsPerRun(3, func() { tree.Search(root, search.Budget{Nodes: 10}, r) })
	many := testing.AllocsPerRun(3, func() { tree.Search(root, search.Budget{Nodes: 1000}, r) })
	if many > few+2 {
		t.Errorf("mcts: %v allocations in 10 iterations, %v in 1000", few, many)
	}
	s := alphabeta.New[tebesPosition](alphabeta.Options{Table: 1 << 20})
	s.Search(p, 4, search.Budget{}, r)
	if n := testing.AllocsPerRun(3, func() { s.Search(p, 4, search.Budget{}, r) }); n > 1 {
		t.Errorf("alpha-beta: %v allocations in a search", n)
	}
}

// TestTebesMaps checks that derived maps agree with the drawn ones on the levels that the study explains, and
// that white's maps are black's upside down.
func TestTebesMaps(t *testing.T) {
	var s tebes.State
	s.Deal(tebes.Rules{Size: 6, Limit: 400}, nil)
	black, whites := newTebesMaps(&s, 1), newTebesMaps(&s, 0)
	var derived tebesMaps
	derived.derive(&s, 1, 6)
	if derived.bonus[0][0] != black.bonus[0][0] || derived.bonus[0][4] != black.bonus[0][4] {
		t.Errorf("corners: derived %x, drawn %x", derived.bonus[0], black.bonus[0])
	}
	// In the drawing the two squares directly behind a corner have level 4.
	if want := black.bonus[0][1] | black.bonus[0][3]; derived.bonus[0][1] != want {
		t.Errorf("level 2: derived %x, drawn %x", derived.bonus[0][1], want)
	}
	if derived.penalty[0] != black.penalty[0] {
		t.Errorf("penalty: derived %x, drawn %x", derived.penalty, black.penalty)
	}
	for level, b := range black.bonus[0] {
		if s.Flip(b) != whites.bonus[0][level] {
			t.Errorf("level %d: black %x, white %x", level+1, b, whites.bonus[0][level])
		}
	}
	// The study's drawing for a held left corner.
	var drawn [bonusLevels]tebes.Board
	readMap([]string{"5....5", "......", "..6.6.", "...264", "...6.2", "1..221"}, drawn[:])
	if black.bonus[1] != drawn {
		t.Errorf("left corner held: %x, drawn %x", black.bonus[1], drawn)
	}
}

// TestTebesPrior checks that Prior is linear in the value of a position, within its bounds for all weights, and that the
// priors of both sides add up to 1.
func TestTebesPrior(t *testing.T) {
	r := rules.NewRand(15)
	for range 500 {
		p := randomTebes(r, tebes.Rules{Size: uint8(4 + 2*r.Below(2)), Random: r.Below(2) == 0, Limit: 400}, 80)
		if p == nil {
			continue
		}
		var w tebesWeights
		for _, list := range [][]int32{w.bonus[:], w.penalty[:], w.c[:]} {
			for i := range list {
				list[i] = int32(r.Below(60))
			}
		}
		seat := r.Below(2)
		e := newTebesEval(1+r.Below(2), seat, w, &p.state)
		tree := tebesTree{p.state, &e}
		mine, theirs := float64(tree.Prior(seat)), float64(tree.Prior(1-seat))
		want := 0.5 + float64(e.value(&p.state))/float64(2*e.top)
		if mine < 0 || mine > 1 || math.Abs(mine+theirs-1) > 1e-6 || math.Abs(mine-want) > 1e-6 {
			t.Fatalf("%v for one side, %v for the other, want %v: %s", mine, theirs, want, p.state.View(nil, 0))
		}
	}
}

// TestMCTSBoth checks that a search for the move of most value and most visits ends between half of its budget and all
// of it, and before the end only with such a move.
func TestMCTSBoth(t *testing.T) {
	const budget = 100
	r := rules.NewRand(16)
	s := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, Arena: 1 << 20, Criterion: mcts.ByBoth})
	ends := map[bool]int{}
	for range 40 {
		p := randomTebes(r, tebes.Rules{Size: 6, Limit: 400}, 30)
		if p == nil {
			continue
		}
		s.Forget()
		root, rand := tebesTree{p.state, &p.eval}, *r
		got := s.Search(&root, search.Budget{Nodes: budget}, r)
		ends[got.Nodes > budget/2]++
		for _, best := range []mcts.Criterion{mcts.ByValue, mcts.ByVisits} {
			other := mcts.New[tebesTree](mcts.Options{C: math.Sqrt2, Arena: 1 << 20, Criterion: best})
			same := rand
			if by := other.Search(&root, search.Budget{Nodes: got.Nodes}, &same); by.Move != got.Move && (got.Nodes < budget || best == mcts.ByVisits) {
				t.Errorf("after %d iterations %d is played, by criterion %d alone %d", got.Nodes, got.Move, best, by.Move)
			}
		}
		if got.Nodes < budget/2 || got.Nodes > budget {
			t.Errorf("%d iterations", got.Nodes)
		}
	}
	if len(ends) != 2 {
		t.Errorf("the search ends at half of the budget or later: %v", ends)
	}
}

// TestTebesKeepsTree checks that the bot goes on with its tree only with keep=yes: then its move has more visits when the
// same turn comes again.
func TestTebesKeepsTree(t *testing.T) {
	const game = "tebes players=2 seat=0 ply=21 size=6 board=standard cycles=allow limit=400 opening=0"
	view := "size=6 colours=" + strings.Repeat("bwbwbwwbwbwb", 3) + " pieces=w..ww....w.w...www..w.w.bb.......... me=w extra=b bonus=no"
	for spec, grows := range map[string]bool{"tebes-mcts:nodes=500": false, "tebes-mcts:nodes=500,keep=yes": true} {
		p, again := kit.Get[Player](t)(NewPlayer(spec)), turn(game, view, listed(t, game, view), 1)
		once, twice := protocol.Pairs(p.Answer(again).Info).Int("visits"), protocol.Pairs(p.Answer(again).Info).Int("visits")
		if grows != (twice > once*3/2) {
			t.Errorf("%s: %d visits, then %d", spec, once, twice)
		}
	}
}

func TestAllot(t *testing.T) {
	for _, c := range []struct {
		settings       string
		time, low, top time.Duration // in ms
	}{
		{"movetime=1000", 1000, 600, 700},
		{"movetime=1", 1, 0, 1},
		{"movetime=10", 10, 1, 5},
		{"movetime=200", 200, 90, 110},
		{"bank=60000 inc=100", 60_000, 1000, 3000},
		{"bank=60000 inc=1000", 1000, 300, 500},
		{"bank=60000 inc=0", 20, 0, 2},
	} {
		turn := &protocol.Turn{Game: &protocol.GameLine{Settings: protocol.Pairs(c.settings)}, Time: c.time * time.Millisecond}
		if got := thinkTime(turn, 0); got < c.low*time.Millisecond || got > c.top*time.Millisecond {
			t.Errorf("%s with %d ms: %v", c.settings, int(c.time), got)
		}
		if late := thinkTime(turn, c.time*time.Millisecond/10); late > thinkTime(turn, 0) || late <= 0 {
			t.Errorf("%s: after a late search %v, more than before", c.settings, late)
		}
	}
}

// TestTebesWeightsAreNoWin checks that no estimate is as good as a win, whatever the weights are.
func TestTebesWeightsAreNoWin(t *testing.T) {
	const game = "tebes players=2 seat=0 ply=21 size=6 board=standard cycles=allow limit=400 opening=0"
	view := "size=6 colours=" + strings.Repeat("bwbwbwwbwbwb", 3) + " pieces=w..ww....w.w...www..w.w.bb.......... me=w extra=b bonus=no"
	spec, p := "tebes-minimax:depth=1", new(params)
	newTebesWeights(p)
	for _, o := range p.options {
		spec += fmt.Sprintf(",%s=%d", o.Name, o.Max)
	}
	if got := answer(t, spec, game, view, 1); got != "11-5" {
		t.Errorf("%s plays %s, which does not win", spec, got)
	}
}

// TestBudgetOfNothing checks that with an empty bank a bot uses only the margin, whatever its option time says.
func TestBudgetOfNothing(t *testing.T) {
	came := time.Now()
	turn := func(settings string) *protocol.Turn {
		return &protocol.Turn{Game: &protocol.GameLine{Settings: protocol.Pairs(settings)}, ReceivedAt: came}
	}
	for _, l := range []limits{{}, {lateness: initialLateness}, {time: 4 * time.Second}, {nodes: 1000}} {
		if got := l.budget(turn("bank=60000 inc=100")).Deadline; !got.Equal(came) {
			t.Errorf("%+v: without time the search ends %v after its turn", l, got.Sub(came))
		}
	}
	if got := (&limits{}).budget(turn("")).Deadline; !got.Equal(came.Add(untimedThinkTime)) {
		t.Errorf("without a clock the search ends %v after its turn, want %v", got.Sub(came), untimedThinkTime)
	}
}
