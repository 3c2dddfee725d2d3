package teeko

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/rulestest"
	"pgregory.net/rapid"
)

// naive is Teeko once more, written from the text of the rules with maps and
// strings, for the other one to be compared with.
type naive struct {
	drop, advanced bool
	limit          int

	board    map[place]string // "b" or "w"
	ply      int
	turn     int // -1 when the game is over
	winner   string
	told     []string
	reshuffs int // how often the random start was shuffled again
	redraws  int // how often an opening was drawn again
	opened   int // plies of the opening
}

type place struct{ row, column int }

func at(square int) place { return place{square / 5, square % 5} }

func newNaive(r Rules, seed [32]byte) *naive {
	g := &naive{drop: r.Drop, advanced: r.Advanced, limit: int(r.Limit), board: map[place]string{}}
	if g.limit == 0 {
		g.limit = 65535
	}
	below := rulestest.NaiveStream(seed)
	if !g.drop {
		g.shuffle(below)
	}
	if r.Opening > 0 {
		return g.open(int(r.Opening), below)
	}
	return g
}

// open returns the game after its opening.
func (g *naive) open(plies int, below func(uint64) int) *naive {
	for try := range 100 {
		next := g.copy()
		next.limit = 1 << 30
		next.told = []string{fmt.Sprint("opening ", plies)}
		for next.turn >= 0 && next.ply < plies {
			legal := next.legal()
			next.play(legal[below(uint64(len(legal)))])
		}
		if next.turn < 0 {
			continue
		}
		next.ply, next.limit, next.opened, next.redraws = 0, g.limit, plies, try
		if !next.canWin() && next.canEscape() {
			return next
		}
	}
	g.told, g.redraws = []string{"opening 0"}, 100
	return g
}

func (g *naive) copy() *naive {
	next := *g
	next.board = maps.Clone(g.board)
	next.told = nil
	return &next
}

// after returns the game after a move.
func (g *naive) after(move string) *naive {
	next := g.copy()
	next.play(move)
	return next
}

// canWin: some move of the player to move wins.
func (g *naive) canWin() bool {
	return slices.ContainsFunc(g.legal(), func(move string) bool { return g.after(move).winner != "" })
}

// canEscape: after some move of the player to move no move of the other wins.
func (g *naive) canEscape() bool {
	return slices.ContainsFunc(g.legal(), func(move string) bool { return !g.after(move).canWin() })
}

// shuffle makes the random start.
func (g *naive) shuffle(below func(uint64) int) {
	for {
		var list []int
		for square := range 25 {
			list = append(list, square)
		}
		for i := 24; i > 0; i-- {
			j := below(uint64(i + 1))
			list[i], list[j] = list[j], list[i]
		}
		clear(g.board)
		for i, square := range list[:8] {
			g.board[at(square)] = []string{"b", "w"}[i/4]
		}
		if !g.won("b") && !g.won("w") {
			return
		}
		g.reshuffs++
	}
}

// won looks for a shape that begins at one of the side's pieces.
func (g *naive) won(side string) bool {
	all := func(a place, steps ...place) bool {
		for _, s := range steps {
			if g.board[place{a.row + s.row, a.column + s.column}] != side {
				return false
			}
		}
		return true
	}
	for row := range 5 {
		for column := range 5 {
			a := place{row, column}
			for _, d := range []place{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
				if all(a, place{}, d, place{2 * d.row, 2 * d.column}, place{3 * d.row, 3 * d.column}) {
					return true
				}
			}
			for n := 1; n <= 4; n++ {
				if (n == 1 || g.advanced) && all(a, place{}, place{0, n}, place{n, 0}, place{n, n}) {
					return true
				}
			}
		}
	}
	return false
}

func (g *naive) side() string { return []string{"b", "w"}[g.turn] }

func (g *naive) dropping() bool { return g.drop && g.opened+g.ply < 8 }

func (g *naive) legal() (moves []string) {
	if g.turn < 0 {
		return nil
	}
	for from := range 25 {
		if g.dropping() && g.board[at(from)] == "" {
			moves = append(moves, strconv.Itoa(from))
		}
		if g.dropping() || g.board[at(from)] != g.side() {
			continue
		}
		for to := range 25 {
			rows, columns := at(to).row-at(from).row, at(to).column-at(from).column
			if g.board[at(to)] == "" && rows*rows <= 1 && columns*columns <= 1 {
				moves = append(moves, fmt.Sprintf("%d-%d", from, to))
			}
		}
	}
	return moves
}

func (g *naive) play(move string) {
	g.told = append(g.told, fmt.Sprintf("play %d %s", g.turn, move))
	from, to, moved := strings.Cut(move, "-")
	if !moved {
		to = from
	}
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	delete(g.board, at(a))
	g.board[at(b)] = g.side()
	g.ply++
	if g.won(g.side()) {
		g.winner = g.side()
		g.turn = -1
	} else if g.ply == g.limit {
		g.turn = -1
	} else {
		g.turn = 1 - g.turn
	}
}

func (g *naive) view(seat int) string {
	text := "board="
	for square := range 25 {
		if piece := g.board[at(square)]; piece != "" {
			text += piece
		} else {
			text += "."
		}
	}
	phase := "move"
	if g.dropping() {
		phase = "drop"
	}
	return fmt.Sprintf("%s me=%s phase=%s", text, []string{"b", "w"}[seat], phase)
}

func (g *naive) points() []float64 {
	switch {
	case g.winner == "b":
		return []float64{1, 0}
	case g.winner == "w":
		return []float64{0, 1}
	case g.turn < 0:
		return []float64{0.5, 0.5}
	}
	return []float64{0, 0}
}

// pair is a game played by both.
type pair struct {
	fast  State
	naive *naive
	log   rules.Log
}

func newPair(r Rules, seed [32]byte) *pair {
	p := &pair{naive: newNaive(r, seed)}
	stream := rules.NewStream(seed)
	p.fast.Deal(r, &stream)
	p.fast.Start(&p.log)
	return p
}

// differ compares the positions and what was said since the last time.
func (p *pair) differ() error {
	type position struct {
		Turn, Ply int
		Legal     []string
		Views     [2]string
		Events    [2]string
		Points    []float64
	}
	fast := position{Turn: p.fast.Turn(), Ply: p.fast.Ply(), Points: p.fast.Points()}
	slow := position{Turn: p.naive.turn, Ply: p.naive.ply, Points: p.naive.points(), Legal: p.naive.legal()}
	for _, m := range p.fast.Legal(nil) {
		fast.Legal = append(fast.Legal, string(p.fast.MoveText(nil, m)))
	}
	for seat := range 2 {
		fast.Views[seat], slow.Views[seat] = string(p.fast.View(nil, seat)), p.naive.view(seat)
		fast.Events[seat] = string(p.log.Events(nil, seat, ""))
		slow.Events[seat] = strings.Join(append(p.naive.told, ""), "\n")
	}
	p.log.Reset()
	p.naive.told = nil
	if reflect.DeepEqual(slow, fast) {
		return nil
	}
	return fmt.Errorf("ply %d (-naive +fast)\n%s", slow.Ply, cmp.Diff(slow, fast))
}

// try makes a move given by text on both if the naive one finds it legal;
// else the fast one must refuse it and stay as it is.
func (p *pair) try(text string) error {
	legal := slices.Contains(p.naive.legal(), text)
	before := p.fast
	m, err := p.fast.ParseMove(text)
	if err == nil {
		err = rules.Play(&p.fast, m, &p.log)
	}
	if legal != (err == nil) {
		return fmt.Errorf("ply %d: %q is legal: %v, but the answer is %v", p.naive.ply, text, legal, err)
	}
	if !legal {
		if p.fast != before {
			return fmt.Errorf("ply %d: refusing %q changes the state", p.naive.ply, text)
		}
		return nil
	}
	p.naive.play(text)
	return p.differ()
}

// wordRules lists the combinations of the options that are words.
func wordRules(limit uint16) []Rules {
	return []Rules{
		{Limit: limit}, {Advanced: true, Limit: limit}, {Drop: true, Limit: limit}, {Drop: true, Advanced: true, Limit: limit},
	}
}

// Games in every combination of options, move by move.
func TestTeekoAgainstNaive(t *testing.T) { teekoAgainstNaive(t, 10) }

func teekoAgainstNaive(t *testing.T, games int) {
	for _, limit := range []uint16{defaultLimit, 0, 1, 7, 8, 30, maxLimit} {
		for _, r := range wordRules(limit) {
			t.Run((Variant{r}).Settings().String(), func(t *testing.T) {
				t.Parallel()
				for n := range games {
					p := newPair(r, rules.Seed{}.Derive(fmt.Sprint("naive ", n)))
					if err := p.differ(); err != nil {
						t.Fatalf("game %d: %v", n, err)
					}
					rand := rules.NewRand(uint64(n))
					for p.naive.turn >= 0 {
						legal := p.naive.legal()
						if err := p.try(legal[rand.Below(len(legal))]); err != nil {
							t.Fatalf("game %d: %v", n, err)
						}
					}
				}
			})
		}
	}
}

// Openings of all lengths, then the games from there.
func TestTeekoOpenings(t *testing.T) { teekoOpenings(t, 5) }

func teekoOpenings(t *testing.T, seeds int) {
	redraws := 0
	for _, r := range append(wordRules(defaultLimit), wordRules(1)...) {
		for plies := 1; plies <= rules.MaxOpening; plies++ {
			r.Opening = uint8(plies)
			for n := range seeds {
				p := newPair(r, rules.Seed{}.Derive(fmt.Sprint("opening ", n)))
				if err := p.differ(); err != nil {
					t.Fatalf("%+v, seed %d: %v", r, n, err)
				}
				redraws += p.naive.redraws
				rand := rules.NewRand(uint64(n))
				for p.naive.turn >= 0 && p.naive.ply < 20 {
					legal := p.naive.legal()
					if err := p.try(legal[rand.Below(len(legal))]); err != nil {
						t.Fatalf("%+v, seed %d: %v", r, n, err)
					}
				}
			}
		}
	}
	if redraws < seeds {
		t.Errorf("%d openings were drawn again", redraws)
	}
}

// A game of which every opening was rejected goes on from the start.
func TestTeekoOpeningsRejected(t *testing.T) {
	for plies := uint8(1); plies < 10; plies++ {
		for _, r := range wordRules(defaultLimit) {
			r.Opening = plies
			src := rules.FastStream(rules.NewRand(uint64(plies)))
			var s State
			s.setUp(r, &src)
			begin(&s, rules.Opening{})
			rulestest.WithoutGoodOpening(t, Variant{r}, &s)
		}
	}
}

// The random start is shuffled again while somebody has won: about one seed in
// 150 shows it.
func TestTeekoStartIsNotWon(t *testing.T) {
	for _, r := range wordRules(defaultLimit)[:2] {
		again := 0
		for n := range 2000 {
			p := newPair(r, rules.Seed{}.Derive(fmt.Sprint("start ", n)))
			if err := p.differ(); err != nil {
				t.Fatalf("seed %d: %v", n, err)
			}
			again += p.naive.reshuffs
		}
		if again == 0 {
			t.Errorf("%+v: no start was shuffled again", r)
		}
	}
}

// Any texts as moves, with a checker that shrinks what it finds.
func TestTeekoAgainstNaiveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(wordRules(rapid.Uint16Range(0, 60).Draw(t, "limit"))).Draw(t, "rules")
		p := newPair(r, [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")))
		for range rapid.IntRange(0, 80).Draw(t, "moves") {
			if p.naive.turn < 0 {
				break
			}
			text := fmt.Sprintf("%d-%d", rapid.IntRange(-1, 25).Draw(t, "from"), rapid.IntRange(-1, 25).Draw(t, "to"))
			if rapid.Bool().Draw(t, "legal") {
				text = rapid.SampledFrom(p.naive.legal()).Draw(t, "move")
			}
			kit.Must(t, p.try(text))
		}
	})
}
