package teeko

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/rulestest"
)

func TestTeekoConformance(t *testing.T) {
	rulestest.Run(t, Game, rulestest.Options{
		CheckTotal: func(_ *rules.Variant, s rules.State) error {
			if p := s.Points(); p[0]+p[1] != 1 {
				return fmt.Errorf("points %v do not add up to 1", p)
			}
			return nil
		},
	})
}

// TestTeekoStartZeroSeed checks the worked example of SPEC.md for the seed of 32 zero bytes.
func TestTeekoStartZeroSeed(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(Game.Resolve(nil))
	stream := rules.NewStream(rules.Seed{})
	s := v.Deal(&stream).(*State)
	if want := [2]Board{boardOf([]uint8{1, 14, 10, 7}), boardOf([]uint8{23, 15, 5, 0})}; s.board != want {
		t.Errorf("got %025b, want %025b", s.board, want)
	}
	const want = "board=wb...w.b..b...bw.......w. me=w phase=move"
	if got := string(s.View(nil, white)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// diagram parses a board drawn in five rows.
func diagram(rows string) (board [2]Board) {
	for sq, c := range strings.ReplaceAll(rows, "/", "") {
		if side := strings.IndexRune(letters, c); side >= 0 {
			board[side] |= 1 << sq
		}
	}
	return board
}

// upToFour yields every set of one to four squares.
func upToFour(yield func(Board) bool) {
	for k := range pieces {
		// b takes all numbers with k+1 bits in increasing order: the top bit of the lowest run of bits moves up.
		for b := Board(1)<<(k+1) - 1; b <= everySquare; {
			if !yield(b) {
				return
			}
			carry := b + b&-b
			b = carry | (b^carry)>>2/(b&-b)
		}
	}
}

// TestTeekoWinningShapes checks that 28 lines and 16 squares win, 14 more squares in the advanced game, and
// no other set of four.
func TestTeekoWinningShapes(t *testing.T) {
	for _, c := range []struct {
		rows               string
		standard, advanced bool
	}{
		{"bbbb./...../...../...../.....", true, true},
		{".bbbb/...../...../...../.....", true, true},
		{"...bb/bb.../...../...../.....", false, false}, // a line does not continue at the other edge
		{"bbb.b/...../...../...../.....", false, false},
		{"...../..b../..b../..b../..b..", true, true},
		{"b..../.b.../..b../...b./.....", true, true},
		{"...b./..b../.b.../b..../.....", true, true},
		{"...../b..../.b.../..b../...b.", true, true},
		{"...../...bb/...bb/...../.....", true, true},
		{"....b/b...b/b..../...../.....", false, false},
		{"b.b../...../b.b../...../.....", false, true},
		{"...../b..b./...../...../b..b.", false, true},
		{"b...b/...../...../...../b...b", false, true},
		{"..b../.b.b./..b../...../.....", false, false}, // a square that is not parallel to the board
		{"bb.../...../bb.../...../.....", false, false},
	} {
		b := diagram(c.rows)[black]
		if got := (Rules{}).wins(b); got != c.standard {
			t.Errorf("%s: standard %v", c.rows, got)
		}
		if got := (Rules{Advanced: true}).wins(b); got != c.advanced {
			t.Errorf("%s: advanced %v", c.rows, got)
		}
	}
	for _, c := range []struct {
		advanced bool
		want     int
	}{{false, 44}, {true, 58}} {
		n, lines := 0, 0
		for b := range upToFour {
			if !(Rules{Advanced: c.advanced}).wins(b) {
				continue
			}
			n++
			if s := (State{board: [2]Board{b}, winner: black, turn: rules.Over}); s.EndReason() == EndLine {
				lines++
			}
		}
		if lines != 28 {
			t.Errorf("advanced %v: %d lines win, want 28", c.advanced, lines)
		}
		if n != c.want || len(shapes(c.advanced)) != c.want {
			t.Errorf("advanced %v: %d of all sets win, of %d shapes; want %d", c.advanced, n, len(shapes(c.advanced)), c.want)
		}
	}
}

// TestTeekoAlwaysAMove checks that a side can always move: four squares and their neighbors are at least nine
// squares, and there are eight pieces.
func TestTeekoAlwaysAMove(t *testing.T) {
	least := squares
	for b := range upToFour {
		if count(b) != pieces {
			continue
		}
		near := b
		for left := b; left != 0; left &= left - 1 {
			near |= neighbours[first(left)]
		}
		least = min(least, count(near))
	}
	if least != 9 {
		t.Errorf("four squares and their neighbours can be as few as %d squares", least)
	}
}

// TestTeekoEnd checks that only the side that has moved can win, and that a win counts at the limit.
func TestTeekoEnd(t *testing.T) {
	const far = "bbb../b..../...../...../wwww."
	for _, c := range []struct {
		name, rows string
		rules      Rules
		ply        uint16
		moves      string
		turn       int
		points     string
		reason     string
	}{
		{"black wins", "bbb../...../...b./...../w.w.w", Rules{}, 0, "13-8 22-17 8-3", rules.Over, "[1 0]", EndLine},
		{"white wins", "b..../.ww../.w.../b.w../bb...", Rules{}, 1, "17-12", rules.Over, "[0 1]", EndSquare},
		{"the game runs", "bbb../...../...b./...../w.w.w", Rules{}, 0, "13-8", white, "[0 0]", ""},
		{"the other's shape does not win", far, Rules{}, 0, "5-10", white, "[0 0]", ""},
		{"a win on the last ply", "bbb../...../...b./...../w.w.w", Rules{Limit: 3}, 0, "13-8 22-17 8-3", rules.Over, "[1 0]", EndLine},
		{"a draw on the last ply", "bbb../...../...b./...../w.w.w", Rules{Limit: 2}, 0, "13-8 22-17", rules.Over, "[0.5 0.5]", EndLimit},
		{"placings count", ".../", Rules{Drop: true, Limit: 3}, 0, "0 1 2", rules.Over, "[0.5 0.5]", EndLimit},
		{"a placing wins", ".../", Rules{Drop: true}, 0, "0 10 1 11 2 12 3", rules.Over, "[1 0]", EndLine},
		{"white's placing wins", ".../", Rules{Drop: true}, 0, "0 10 1 11 2 15 4 16", rules.Over, "[0 1]", EndSquare},
		{"a large square", "b...b/...../...../...../b..b.", Rules{Advanced: true}, 0, "23-24", rules.Over, "[1 0]", EndSquare},
		{"a large square in the standard game", "b...b/...../...../...../b..b.", Rules{}, 0, "23-24", white, "[0 0]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := State{board: diagram(c.rows), rules: c.rules, lastPly: c.rules.lastPly(), winner: noOne, ply: c.ply, turn: int8(c.ply % 2)}
			for word := range strings.FieldsSeq(c.moves) {
				m, err := s.ParseMove(word)
				if err == nil {
					err = rules.Play(&s, m, nil)
				}
				kit.Must(t, err)
			}
			if got := s.EndReason(); got != c.reason {
				t.Errorf("ending %q, want %q", got, c.reason)
			}
			if got := fmt.Sprint(s.Points()); s.Turn() != c.turn || got != c.points {
				t.Errorf("turn %d and points %s, want %d and %s", s.Turn(), got, c.turn, c.points)
			}
		})
	}
}

// TestTeekoNoLimit checks that a game without a limit ends at rules.MaxPlies.
func TestTeekoNoLimit(t *testing.T) {
	s := State{board: diagram("b..../b..../..b../b..../w.w.w"), lastPly: Rules{}.lastPly(), winner: noOne}
	s.board[white] |= 1 << 4
	cycle := []rules.Move{move(0, 1), move(4, 3), move(1, 0), move(3, 4)}
	for s.Turn() >= 0 {
		if err := rules.Play(&s, cycle[s.Ply()%4], nil); err != nil {
			t.Fatalf("ply %d: %v", s.Ply(), err)
		}
	}
	if got := fmt.Sprint(s.Points()); s.Ply() != rules.MaxPlies || got != "[0.5 0.5]" {
		t.Errorf("ends at ply %d with %s", s.Ply(), got)
	}
}

// TestTeekoErrors checks that errors say what is wrong and what to do.
func TestTeekoErrors(t *testing.T) {
	moving := State{board: diagram("b.w../bb.../...../....w/b.w.w"), lastPly: 200, winner: noOne}
	placing := State{board: diagram("bw.../...../...../...../....."), rules: Rules{Drop: true}, ply: 2, lastPly: 200, winner: noOne}
	over := moving
	over.turn = rules.Over
	for _, c := range []struct {
		s                State
		move, want, code string
	}{
		{moving, "12", `"12" places a piece when all are placed: move one, such as 0-1`, ""},
		{moving, "1-7", `"1-7" moves no piece of black: try a move such as 0-1`, "no-own-piece square=1"},
		{moving, "2-7", `"2-7" moves no piece of black: try a move such as 0-1`, "no-own-piece square=2"},
		{moving, "0-2", `"0-2" does not end on a neighbour of 0: try a move such as 0-1`, "too-far square=0"},
		{moving, "0-0", `"0-0" does not end on a neighbour of 0: try a move such as 0-1`, "too-far square=0"},
		{moving, "5-4", `"5-4" does not end on a neighbour of 5: try a move such as 0-1`, "too-far square=5"},
		{moving, "6-2", `"6-2" ends on a square that is taken: try a move such as 0-1`, "taken square=2"},
		{moving, "0-6", `"0-6" ends on a square that is taken: try a move such as 0-1`, "taken square=6"},
		{placing, "1", `"1" is taken: name an empty square, such as 2`, "taken square=1"},
		{placing, "0-5", `"0-5" moves a piece while pieces are placed: name one empty square, such as 2`, ""},
		{over, "0-1", `"0-1" cannot be played: the game is over`, ""},
		{moving, "25", `"25" is not a move: write a square from 0 to 24 to place a piece (12) or two to move it (12-13)`, ""},
		{moving, "0-01", `"0-01" is not a move: write a square from 0 to 24 to place a piece (12) or two to move it (12-13)`, ""},
		{moving, "0-", `"0-" is not a move: write a square from 0 to 24 to place a piece (12) or two to move it (12-13)`, ""},
	} {
		m, err := c.s.ParseMove(c.move)
		if err == nil {
			err = c.s.Check(m)
		}
		if err == nil || err.Error() != c.want || rulestest.Refusal(err) != c.code {
			t.Errorf("%s: got  %v, %s\nwant %s, %s", c.move, err, rulestest.Refusal(err), c.want, c.code)
		}
	}
}

// TestTeekoOptions checks options out of range.
func TestTeekoOptions(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"start", "empty", `option start cannot be "empty": try random or drop`},
		{"squares", "2x2", `option squares cannot be "2x2": try standard or advanced`},
		{"limit", "1001", `option limit cannot be "1001": try 0 to 1000`},
		{"limit", "-1", `option limit cannot be "-1": try 0 to 1000`},
	} {
		if _, err := Game.Resolve(map[string]string{c.name: c.value}); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: got  %v\nwant %s", c.name, c.value, err, c.want)
		}
	}
}
