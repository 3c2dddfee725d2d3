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

func TestTebesConformance(t *testing.T) {
	rulestest.Run(t, Game, rulestest.Options{
		CheckTotal: func(_ *rules.Variant, s rules.State) error {
			if p := s.Points(); p[0]+p[1] != 1 {
				return fmt.Errorf("points %v are not 1 together", p)
			}
			return nil
		},
		CheckState: func(_ *rules.Variant, state rules.State) error {
			s := state.(*State)
			g := s.geometry()
			if both := s.pieces[0] & s.pieces[1]; both != 0 || (s.pieces[0]|s.pieces[1]|s.black)&^g.all != 0 {
				return fmt.Errorf("pieces %x %x on %x", s.pieces[0], s.pieces[1], g.all)
			}
			if n := bits.OnesCount64(uint64(s.black)); n != bits.OnesCount64(uint64(g.all))/2 {
				return fmt.Errorf("%d squares are black", n)
			}
			return nil
		},
	})
}

// start returns the first position for the seed of 32 zero bytes.
func start(t *testing.T, options string) *State {
	t.Helper()
	given := map[string]string{}
	for pair := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(pair, "=")
		given[name] = value
	}
	v := kit.Get[*rules.Variant](t)(Game.Resolve(given))
	stream := rules.NewStream(rules.Seed{})
	return v.Deal(&stream).(*State)
}

// position returns a position with the given pieces, row by row. White is to move.
func position(t *testing.T, options, pieces string) *State {
	t.Helper()
	s := start(t, options)
	rows := strings.Fields(pieces)
	if len(rows) != int(s.rules.Size) {
		t.Fatalf("%d rows", len(rows))
	}
	s.pieces = [2]Board{}
	for row, line := range rows {
		for column, c := range line {
			if seat := strings.IndexRune(letters, c); seat >= 0 {
				s.pieces[seat] |= 1 << (row*8 + column)
			}
		}
	}
	return s
}

// play makes moves and returns the events of the last one.
func play(t *testing.T, s rules.State, moves string) string {
	t.Helper()
	var log rules.Log
	for text := range strings.FieldsSeq(moves) {
		m := kit.Get[rules.Move](t)(s.ParseMove(text))
		log.Reset()
		if err := rules.Play(s, m, &log); err != nil {
			t.Fatalf("after %d moves: %v", s.Ply(), err)
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(log.AppendEvents(nil, 0, "")), "\n"), "\n", "; ")
}

// legal returns the squares to which the piece on a square may move.
func legal(s rules.State, from int) (ends []int) {
	for _, m := range s.Legal(nil) {
		if int(m)/maxSquares == from {
			ends = append(ends, int(m)%maxSquares)
		}
	}
	return ends
}

func TestTebesBoard(t *testing.T) {
	for _, row := range []struct {
		options, view string
	}{
		{"", "size=6 colours=bwbwbwwbwbwbbwbwbwwbwbwbbwbwbwwbwbwb pieces=bbbbbbbbbbbbbbbbbbwwwwwwwwwwwwwwwwww me=w extra=bw bonus=no"},
		{"size=4", "size=4 colours=bwbwwbwbbwbwwbwb pieces=bbbbbbbbwwwwwwww me=w extra=bw bonus=no"},
		{"size=6 board=random", "size=6 colours=wwwbbwwbbbwbbwbbwwbbbwwbwwwbwwbbwbwb pieces=bbbbbbbbbbbbbbbbbbwwwwwwwwwwwwwwwwww me=w extra=bw bonus=no"},
	} {
		if got := string(start(t, row.options).View(nil, 0)); got != row.view {
			t.Errorf("%q:\n got %s\nwant %s", row.options, got, row.view)
		}
	}
}

// TestTebesBoardRandom checks the worked example of SPEC.md for the seed of 32 zero bytes.
func TestTebesBoardRandom(t *testing.T) {
	var got []int
	s := start(t, "board=random")
	for square := range 36 {
		if s.black>>s.geometry().cell[square]&1 != 0 {
			got = append(got, square)
		}
	}
	if want := []int{3, 4, 7, 8, 9, 11, 12, 14, 15, 18, 19, 20, 23, 27, 30, 31, 33, 35}; !slices.Equal(got, want) {
		t.Errorf("black squares %v, want %v", got, want)
	}
}

// TestTebesBoardNoFirstMove checks random boards on which white has no first move: row 2 is white and row 3 black.
func TestTebesBoardNoFirstMove(t *testing.T) {
	v := Rules{Size: 4, Random: true, Limit: defaultLimit}
	lost := 0
	for n := range uint64(20_000) {
		src := rules.FastStream(rules.NewRand(n))
		var s State
		s.Deal(v, &src)
		stuck := s.black&0x0f0f0000 == 0x0f000000
		if stuck != (s.turn == rules.Over) || stuck && !slices.Equal(s.Points(), []float64{0, 1}) {
			t.Fatalf("black squares %x: turn %d, points %v", s.black, s.turn, s.Points())
		}
		if stuck {
			lost++
		}
	}
	if lost < 50 || lost > 200 { // 20,000 * C(8,4)/C(16,8) is 109
		t.Errorf("%d of 20,000 boards are lost at once", lost)
	}
}

func TestTebesMoves(t *testing.T) {
	for _, row := range []struct {
		name, options, pieces string
		from                  int
		ends                  []int
	}{
		{"alone", "", "....bb ...... ...... ..w... w..... ......", 20, []int{6, 8, 10, 13, 14, 15, 18, 19, 21, 22}},
		{"at the left edge", "", "....bb ...... ...... w..... w..... ......", 18, []int{6, 8, 12, 13, 19, 20}},
		{"at the right edge", "", "b..... b..... ...... .....w w..... ......", 23, []int{9, 11, 16, 17, 21, 22}},
		{"over own pieces", "", "....bb ...... .www.. .wwww. w..... ......", 20, []int{6, 8, 10, 18}},
		{"not over the opponent's", "", "...... ...... .bbb.. .bwb.. w..... ......", 20, nil},
		{"captures two away from its own colour", "", "bbbbbb bbbbbb wwwwww bwwwww w..... ......", 21, nil},
		{"at the far row", "", "..w... ...... ...... ...... w....b .....b", 2, []int{0, 1, 3, 4}},
		{"no piece", "", "....bb ...... ...... ..w... w..... ......", 21, nil},
		{"4x4", "size=4", ".... .... .w.. w.bb", 9, []int{1, 3, 4, 5, 6, 8, 10, 11}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := position(t, row.options, row.pieces)
			if got := legal(s, row.from); !slices.Equal(got, row.ends) {
				t.Errorf("from %d: %v, want %v", row.from, got, row.ends)
			}
		})
	}
}

// TestTebesCaptures checks captures. Square 20 is white (3+2 is odd) and square 21 black.
func TestTebesCaptures(t *testing.T) {
	for _, row := range []struct {
		name, pieces string
		from         int
		ends         []int
	}{
		{"own colour, two away", "bbbbbb b.b.b. ...... b.w.b. w..... ......", 20, []int{6, 8, 10, 13, 14, 15, 18, 19, 21, 22}},
		{"own colour, not one away", "bbbbbb b..... .bbb.. .bwb.. w..... ......", 20, nil},
		{"own colour, over its own", "bbbbbb b.b.b. .www.. bwwwb. w..... ......", 20, []int{6, 8, 10, 18, 22}},
		{"other colour, one away", "bbbbbb b..... ..bbb. ..bwb. w..... ......", 21, []int{14, 15, 16, 20, 22}},
		{"other colour, not two away", "bbbbbb bbbbbb bb...b bb.w.b w..... ......", 21, []int{14, 15, 16, 20, 22}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := position(t, "", row.pieces)
			if got := legal(s, row.from); !slices.Equal(got, row.ends) {
				t.Errorf("from %d: %v, want %v", row.from, got, row.ends)
			}
		})
	}
}

func TestTebesEvents(t *testing.T) {
	for _, row := range []struct{ options, pieces, moves, events string }{
		{"", "", "19-14", "play 0 19-14; capture 0 14"},
		{"", "", "19-14 9-21", "play 1 9-21; capture 1 21"},
		{"", "", "19-14 9-21 28-21 11-21", "play 1 11-21; capture 1 21"},
		{"", "...... ..b.w. ...... ...... ...... w.b...", "10-5", "play 0 10-5; extra 0"},
		{"", "..b..b ..b..w ...... ...... ...... w.b...", "11-5", "play 0 11-5; capture 0 5; extra 0"},
		{"", "...... ..b.w. ...... ...... ...... w.b...", "10-9", "play 0 10-9"},
		// A capture that ends the game brings no extra move.
		{"", ".....b .....w ...... ...... ...... w.b...", "11-5", "play 0 11-5; capture 0 5"},
	} {
		s := start(t, row.options)
		if row.pieces != "" {
			s = position(t, row.options, row.pieces)
		}
		if got := play(t, s, row.moves); got != row.events {
			t.Errorf("%s %s: %q, want %q", row.pieces, row.moves, got, row.events)
		}
	}
}

// TestTebesExtraMove checks who is to move, who still has an extra move, and whether the next move is an
// extra move.
func TestTebesExtraMove(t *testing.T) {
	const pieces = "w..w.. b..... ...... ...... .....w ..bb.."
	for _, row := range []struct {
		moves string
		turn  int
		extra string
	}{
		{"", 0, "extra=bw bonus=no"},
		{"3-4", 1, "extra=bw bonus=no"}, // the piece in the corner did not arrive there
		{"3-4 33-34 29-23", 1, "extra=bw bonus=no"},
		{"3-4 33-35", 1, "extra=w bonus=yes"},                  // sideways into the corner
		{"3-4 33-35 32-31", 0, "extra=w bonus=no"},             // any piece makes the extra move
		{"3-4 33-35 35-34 29-23 34-35", 0, "extra=w bonus=no"}, // once a game
	} {
		s := position(t, "", pieces)
		play(t, s, row.moves)
		if view := string(s.View(nil, 0)); s.Turn() != row.turn || !strings.HasSuffix(view, row.extra) {
			t.Errorf("%s: turn %d, %s", row.moves, s.Turn(), view)
		}
	}
}

func TestTebesEnd(t *testing.T) {
	for _, row := range []struct {
		name, options, pieces, moves string
		points                       []float64
		ending                       string
	}{
		{"both corners", "", "w...w. ..b... ...... ...... ...... w.b..b", "4-5", []float64{1, 0}, "corners"},
		{"both corners of black", "", "w....b ..b... ...... ...... w.w.b. b...w.", "26-20 28-35", []float64{0, 1}, "corners"},
		{"one corner", "", "w...w. ..b... ...... ...... ...... w.b..b", "4-3", nil, ""},
		{"own corners are nothing", "", "...... ..b.w. ...... ...... ....w. w.b...", "28-29", nil, ""},
		{"one piece left", "", "...... ..b... ..w... ...... ...... w....b", "14-8", []float64{1, 0}, "too few pieces"},
		{"two pieces left", "", "...... ..b... ..w... ...... ...... w..b.b", "14-8", nil, ""},
		{"no legal move", "", "...... ...... ...... ...... ww.... bbw...", "24-18", []float64{1, 0}, "no moves"},
		{"one legal move", "", "...... ...... ...... ...... ww.... bb.w..", "24-18", nil, ""},
		{"no legal move at the limit", "limit=1", "...... ...... ...... ...... ww.... bbw...", "24-18", []float64{1, 0}, "no moves"},
		{"the limit", "limit=1", "...... ..b... ...... ...... w....w b....b", "24-18", []float64{0.5, 0.5}, "limit"},
		{"a win at the limit", "limit=1", "w...w. ..b... ...... ...... ...... w.b..b", "4-5", []float64{1, 0}, "corners"},
		{"before the limit", "limit=2", "...... ..b... ...... ...... w....w b....b", "24-18", nil, ""},
		{"the limit before the extra move", "limit=1", "...... ..b.w. ...... ...... ...... w.b...", "10-5", []float64{0.5, 0.5}, "limit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := position(t, row.options, row.pieces)
			play(t, s, row.moves)
			over := s.Turn() == rules.Over
			if over != (row.points != nil) || over && !slices.Equal(s.Points(), row.points) {
				t.Errorf("over %v, points %v, want %v", over, s.Points(), row.points)
			}
			if got := s.EndReason(); got != row.ending {
				t.Errorf("ending %q, want %q", got, row.ending)
			}
		})
	}
}

// TestTebesCycles checks a last move that brings back an earlier position. With cycles=forbid it is refused
// if back is set; with cycles=allow it is legal.
func TestTebesCycles(t *testing.T) {
	const plain = "....b. b..... ...... ...... .....w w....."
	for _, row := range []struct {
		name, pieces, moves, last string
		back                      bool
	}{
		{"the start", plain, "29-28 4-3 28-29", "3-4", true},
		{"the start by another way", plain, "29-28 4-3 28-27 3-2 27-29", "2-4", true},
		{"a later position", plain, "29-28 4-3 28-29 3-2 29-28", "2-3", true},
		{"not the start", plain, "29-28 4-3 28-29", "3-2", false},
		{"the position after a forward move", plain, "30-24 4-3 29-28 3-4", "28-29", true},
		{"a position before a forward move", plain, "29-28 4-3 30-24 3-4", "28-29", false},
		{"with the other side to move", "....b. b..... ...... ...... .....w w.....", "29-27 4-3 27-28 3-4", "28-29", false},
		{"with an extra move gone", "....w. b..... ...... ...... ...... w...b.", "4-5 5-3 34-33 3-4", "33-34", false},
		{"before the extra move", "....w. b..... ...... ...... ...... w...b.", "4-5 5-4 34-33 4-3 33-34", "3-4", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			play(t, position(t, "cycles=allow", row.pieces), row.moves+" "+row.last)
			s := position(t, "", row.pieces)
			play(t, s, row.moves)
			m := kit.Get[rules.Move](t)(s.ParseMove(row.last))
			says := ""
			if err := s.Check(m); err != nil {
				says = err.Error() + " " + rulestest.Refusal(err)
			}
			want := ""
			if row.back {
				_, to, _ := strings.Cut(row.last, "-")
				want = fmt.Sprintf("%q is not legal: it brings back an earlier position of this game repeats square=%s", row.last, to)
			}
			if says != want || slices.Contains(s.Legal(nil), m) == row.back {
				t.Errorf("%s says %q, want %q; legal %v", row.last, says, want, s.Legal(nil))
			}
		})
	}
}

func TestTebesErrors(t *testing.T) {
	for _, row := range []struct{ moves, move, says, code string }{
		{"", "0-1", `"0-1" is not legal: w has no piece on 0`, "no-own-piece square=0"},
		{"", "7-13", `"7-13" is not legal: w has no piece on 7`, "no-own-piece square=7"},
		{"", "30-24", `"30-24" is not legal: w's own piece is on 24`, "taken square=24"},
		{"", "19-1", `"19-1" is not legal: a piece goes one or two squares, straight or diagonally forward or straight sideways`, "wrong-way square=19"},
		{"", "18-6", `"18-6" is not legal: the opponent's piece on 12 is in the way`, "between square=12"},
		{"", "18-12", `"18-12" is not legal: from 18, a square of its own colour, a piece captures two squares away`, "capture-two square=18"},
		{"", "24-12", `"24-12" is not legal: from 24, a square of the other colour, a piece captures one square away`, "capture-one square=24"},
		{"", "36-1", `"36-1" is not a move: write two squares from 0 to 35, as in 18-12`, ""},
		{"", "19-14-", `"19-14-" is not a move: write two squares from 0 to 35, as in 18-12`, ""},
	} {
		s := start(t, "")
		play(t, s, row.moves)
		m, err := s.ParseMove(row.move)
		if err == nil {
			err = s.Check(m)
		}
		if err == nil || err.Error() != row.says || rulestest.Refusal(err) != row.code {
			t.Errorf("%s: says %v, %s, want %s, %s", row.move, err, rulestest.Refusal(err), row.says, row.code)
		}
	}
}

// TestTebesPlayout checks that Playout makes the same moves as choosing from Legal with the same random numbers.
func TestTebesPlayout(t *testing.T) {
	r := rules.NewRand(1)
	var space [rules.MaxMoves]rules.Move
	step := func(s *State, r *rules.Rand) {
		legal := s.Legal(space[:0])
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	for n := range 400 {
		v := Rules{Size: uint8(4 + n&2), Random: n&1 != 0, Cycles: n&4 != 0, Limit: uint16(n & 8 * 30), Opening: uint8(n & 16 / 4)}
		if v.Limit == 0 && v.Cycles {
			v.Limit = defaultLimit
		}
		var s State
		src := rules.FastStream(r)
		s.Deal(v, &src)
		for n := r.Below(60); n > 0 && s.turn != rules.Over; n-- {
			step(&s, r)
		}
		slow, draws := s, *r
		for slow.turn != rules.Over {
			step(&slow, &draws)
		}
		if s.Playout(r); s != slow || *r != draws {
			t.Fatalf("%+v: Playout ends with\n%s, not with\n%s", v, s.View(nil, 0), slow.View(nil, 0))
		}
	}
}
