package teeko

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/rulestest"
	"pgregory.net/rapid"
)

// naive implements Teeko a second time, from the text of the rules, with maps and strings. rulestest.Pair
// compares it with State.
type naive struct {
	drop, advanced bool
	limit          int

	board    map[place]string // "b" or "w"
	ply      int
	turn     int // -1 if the game is over
	winner   string
	told     []string
	reshuffs int // number of random starts that were rejected
	redraws  int // number of openings that were rejected
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
			legal := next.Legal()
			next.Play(legal[below(uint64(len(legal)))])
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
	next.Play(move)
	return next
}

// canWin reports whether the side to move has a winning move.
func (g *naive) canWin() bool {
	return slices.ContainsFunc(g.Legal(), func(move string) bool { return g.after(move).winner != "" })
}

// canEscape reports whether the side to move has a move after which the other side has no winning move.
func (g *naive) canEscape() bool {
	return slices.ContainsFunc(g.Legal(), func(move string) bool { return !g.after(move).canWin() })
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

// won reports whether a side has a winning shape.
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

func (g *naive) Legal() (moves []string) {
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

func (g *naive) Play(move string) {
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

func (g *naive) View(seat int) string {
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

func (g *naive) Points() []float64 {
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

// NewEvents returns the same events to both seats. The second call deletes them.
func (g *naive) NewEvents(seat int) []string {
	told := g.told
	if seat == 1 {
		g.told = nil
	}
	return told
}

func (g *naive) Turn() int { return g.turn }

func (g *naive) Ply() int { return g.ply }

func newPair(t kit.T, r Rules, seed rules.Seed) *rulestest.Pair[*naive] {
	t.Helper()
	s := rulestest.FirstPosition(newVariant(Game, nil, r), seed)
	return kit.Get[*rulestest.Pair[*naive]](t)(rulestest.NewPair(newVariant(Game, nil, r), s, newNaive(r, seed), rules.Hex(seed)))
}

// wordRules lists the combinations of the options that are words.
func wordRules(limit uint16) []Rules {
	return []Rules{
		{Limit: limit}, {Advanced: true, Limit: limit}, {Drop: true, Limit: limit}, {Drop: true, Advanced: true, Limit: limit},
	}
}

// TestTeekoAgainstNaive compares games in every combination of options, move by move.
func TestTeekoAgainstNaive(t *testing.T) {
	games := 10
	if kit.Soak {
		games = 80
	}
	for _, limit := range []uint16{defaultLimit, 0, 1, 7, 8, 30, maxLimit} {
		for _, r := range wordRules(limit) {
			t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
				t.Parallel()
				for n := range games {
					p := newPair(t, r, rules.Seed{}.Derive(fmt.Sprint("naive ", n)))
					kit.Must(t, p.PlayOn(rules.NewRand(uint64(n)).Below, rules.MaxPlies))
				}
			})
		}
	}
}

// TestTeekoOpenings compares openings of all lengths, then the games from there.
func TestTeekoOpenings(t *testing.T) {
	redraws, seeds := 0, 5
	if kit.Soak {
		seeds = 60
	}
	for _, r := range append(wordRules(defaultLimit), wordRules(1)...) {
		for plies := 1; plies <= rules.MaxOpening; plies++ {
			r.Opening = uint8(plies)
			for n := range seeds {
				p := newPair(t, r, rules.Seed{}.Derive(fmt.Sprint("opening ", n)))
				redraws += p.Naive.redraws
				kit.Must(t, p.PlayOn(rules.NewRand(uint64(n)).Below, 20))
			}
		}
	}
	if redraws < seeds {
		t.Errorf("%d openings were drawn again", redraws)
	}
}

// TestTeekoOpeningsRejected checks that a game whose openings were all rejected begins at the start.
func TestTeekoOpeningsRejected(t *testing.T) {
	for plies := uint8(1); plies < 10; plies++ {
		for _, r := range wordRules(defaultLimit) {
			r.Opening = plies
			src := rules.FastStream(rules.NewRand(uint64(plies)))
			var s State
			s.setUp(r, &src)
			startAfterOpening(&s, rules.Opening{})
			rulestest.CheckWithoutOpening(t, newVariant(Game, nil, r), &s)
		}
	}
}

// TestTeekoStartIsNotWon checks that a random start with a winning shape is shuffled again, which happens for
// about one seed in 150.
func TestTeekoStartIsNotWon(t *testing.T) {
	for _, r := range wordRules(defaultLimit)[:2] {
		again := 0
		for n := range 2000 {
			again += newPair(t, r, rules.Seed{}.Derive(fmt.Sprint("start ", n))).Naive.reshuffs
		}
		if again == 0 {
			t.Errorf("%+v: no start was shuffled again", r)
		}
	}
}

// TestTeekoAgainstNaiveProperty tries arbitrary texts as moves, with a property checker that shrinks failing games.
func TestTeekoAgainstNaiveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(wordRules(rapid.Uint16Range(0, 60).Draw(t, "limit"))).Draw(t, "rules")
		p := newPair(t, r, [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed")))
		for range rapid.IntRange(0, 80).Draw(t, "moves") {
			if p.Naive.turn < 0 {
				break
			}
			text := fmt.Sprintf("%d-%d", rapid.IntRange(-1, 25).Draw(t, "from"), rapid.IntRange(-1, 25).Draw(t, "to"))
			if rapid.Bool().Draw(t, "legal") {
				text = rapid.SampledFrom(p.Naive.Legal()).Draw(t, "move")
			}
			kit.Must(t, p.Try(text))
		}
	})
}

// FuzzPlay compares a game that the input determines with the naive implementation. The first four bytes
// choose the options that are words, the opening, the limit and the seed.
func FuzzPlay(f *testing.F) {
	rulestest.FuzzNaive(f, func(t *testing.T, head [4]byte) *rulestest.Pair[*naive] {
		r := wordRules(uint16(head[2]))[head[0]%4]
		r.Opening = head[1] % (rules.MaxOpening + 1)
		return newPair(t, r, rules.Seed{head[3]})
	})
}
