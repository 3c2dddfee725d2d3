package protocol

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

// TestProtocolFromTheReferee formats each line of SPEC.md, "Lines from the referee", and parses it again.
func TestProtocolFromTheReferee(t *testing.T) {
	turn := append(AppendTurn(nil, 3, 1000), " 12c 3o\n"...)
	for _, c := range []struct {
		line []byte
		text string
		want RefLine
	}{
		{AppendGreeting(nil), "timba 1", RefLine{Verb: RefTimba, Version: 1}},
		{
			AppendGame(nil, "brisca", KeyValue{"players", "2"}, KeyValue{"seat", "1"}, KeyValue{"seed", "9007199254740991"}),
			"game brisca players=2 seat=1 seed=9007199254740991",
			RefLine{Verb: RefGame, Name: []byte("brisca"), Pairs: Pairs("players=2 seat=1 seed=9007199254740991")},
		},
		{AppendGame(nil, "teeko"), "game teeko", RefLine{Verb: RefGame, Name: []byte("teeko")}},
		{
			[]byte(EventPrefix + "draw 1 ?\n"), "event draw 1 ?",
			RefLine{Verb: RefEvent, Name: []byte("draw"), Args: Words("1 ?")},
		},
		{
			[]byte(ViewPrefix + "hand=12c,3o trick=-\n"), "view hand=12c,3o trick=-",
			RefLine{Verb: RefView, Pairs: Pairs("hand=12c,3o trick=-")},
		},
		{turn, "turn 3 1000 12c 3o", RefLine{Verb: RefTurn, Ply: 3, MS: 1000, Moves: Words("12c 3o")}},
		{
			AppendFault(nil, 2, Timeout, "no answer in 1050 ms"), "fault 2 timeout no answer in 1050 ms",
			RefLine{Verb: RefFault, Seat: 2, Code: Timeout, Text: []byte("no answer in 1050 ms")},
		},
		{AppendFault(nil, 11, Exit, ""), "fault 11 exit", RefLine{Verb: RefFault, Seat: 11, Code: Exit}},
		{
			AppendFault(nil, 0, Garbled, " \ttwo\nlines, ñ \x00\n"), "fault 0 garbled two lines, ?? ?",
			RefLine{Verb: RefFault, Code: Garbled, Text: []byte("two lines, ?? ?")},
		},
		{
			AppendEnd(nil, []int{1, 2}, []float64{61, 59}), "end ranks=1,2 points=61,59",
			RefLine{Verb: RefEnd, Pairs: Pairs("ranks=1,2 points=61,59"), Ranks: []int{1, 2}, Points: []float64{61, 59}},
		},
		{
			AppendEnd(nil, []int{1, 1, 3}, []float64{0.5, math.Copysign(0, -1), -10}), "end ranks=1,1,3 points=0.5,0,-10",
			RefLine{Verb: RefEnd, Pairs: Pairs("ranks=1,1,3 points=0.5,0,-10"), Ranks: []int{1, 1, 3}, Points: []float64{0.5, 0, -10}},
		},
		{AppendBye(nil), "bye", RefLine{Verb: RefBye}},
		{[]byte("novelty of a later version\n"), "novelty of a later version", RefLine{}},
	} {
		if string(c.line) != c.text+"\n" {
			t.Errorf("got %q, want %q and a line feed", c.line, c.text)
		}
		for _, end := range []string{"", "\r"} {
			got, err := ParseReferee([]byte(c.text + end))
			if err != nil {
				t.Error(err)
			} else if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.text, diff)
			}
		}
	}
}

func TestProtocolFromTheRefereeRefused(t *testing.T) {
	for _, line := range []string{
		"", " ", " bye", "bye now", "timba", "timba 0", "timba one", "timba 1 2", "timba 01",
		"game", "game brisca players", "game brisca =2", "game  brisca", "event", "view hand",
		"turn", "turn 1", "turn 1 1000", "turn x 1000 12c", "turn -1 1000 12c", "turn 1 -1 12c", "turn 1 1000 12c ",
		"turn 01 1000 12c", "turn 99999999999999999999 1 12c", "fault", "fault 0", "fault x exit", "fault -1 exit",
		"fault 0 exit ", "fault 0 exit  text", "end", "end ranks=1", "end ranks=1 points=1,2", "end ranks=0 points=1",
		"end ranks=1 points=1e5", "end ranks=1 points=inf", "end ranks=1 points=", "end ranks= points=",
		"view hand=\x01", "event pl\xc3\xa1y",
	} {
		got, err := ParseReferee([]byte(line))
		if err == nil {
			t.Errorf("%q is read as %+v, want an error", line, got)
		} else if !strings.HasPrefix(err.Error(), Quote([]byte(line))) {
			t.Errorf("%q: the error does not begin with the line: %v", line, err)
		}
	}
}

// TestProtocolFaultFitsTheLine checks that a fault always fits into a line, and is not cut if it does anyway.
func TestProtocolFaultFitsTheLine(t *testing.T) {
	head := len("fault 0 exit ")
	for _, n := range []int{MaxLine - head - 1, MaxLine - head, MaxLine - head + 1, 3 * MaxLine} {
		text := strings.Repeat("a", n)
		line := AppendFault([]byte("before"), 0, Exit, text)[len("before"):]
		l := kit.Get[RefLine](t)(ParseReferee(bytes.TrimSuffix(line, []byte{'\n'})))
		if want := min(head+n, MaxLine) + 1; len(line) != want {
			t.Errorf("%d bytes of text: the line has %d bytes, want %d", n, len(line), want)
		}
		if cut := strings.HasSuffix(string(l.Text), ellipsis); cut != (head+n > MaxLine) {
			t.Errorf("%d bytes of text: cut is %v", n, cut)
		}
	}
}

// TestProtocolRoundTrip checks that formatting and parsing a line returns the same values.
func TestProtocolRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[!-~]{1,12}`)
	key := rapid.StringMatching(`[a-z][a-z0-9]{0,8}`)
	text := rapid.StringMatching(`([!-~]([ -~]{0,60}[!-~])?)?`)
	rapid.Check(t, func(t *rapid.T) {
		seats := rapid.IntRange(1, 12).Draw(t, "seats")
		ranks := rapid.SliceOfN(rapid.IntRange(1, 12), seats, seats).Draw(t, "ranks")
		points := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), seats, seats).Draw(t, "points")
		end := parse(t, AppendEnd(nil, ranks, points))
		if !cmp.Equal(end.Ranks, ranks) || !cmp.Equal(end.Points, points) {
			t.Fatalf("ranks %v points %v became %v %v", ranks, points, end.Ranks, end.Points)
		}

		seat, code, why := rapid.IntRange(0, 11).Draw(t, "seat"), rapid.SampledFrom(Codes).Draw(t, "code"), text.Draw(t, "why")
		fault := parse(t, AppendFault(nil, seat, code, why))
		if fault.Seat != seat || fault.Code != code || string(fault.Text) != why {
			t.Fatalf("fault %d %s %q became %+v", seat, code, why, fault)
		}

		name, settings := key.Draw(t, "name"), rapid.MapOfN(key, word, 0, 6).Draw(t, "settings")
		var pairs []KeyValue
		for k, v := range settings {
			pairs = append(pairs, KeyValue{k, v})
		}
		game := parse(t, AppendGame(nil, name, pairs...))
		if string(game.Name) != name || !cmp.Equal(game.Pairs.Map(), settings) {
			t.Fatalf("game %s %v became %+v", name, settings, game)
		}

		ply, ms := rapid.IntRange(0, 65535).Draw(t, "ply"), rapid.IntRange(0, 1<<40).Draw(t, "ms")
		moves := rapid.SliceOfN(word, 1, 20).Draw(t, "moves")
		turn := parse(t, append(AppendTurn(nil, ply, ms), " "+strings.Join(moves, " ")+"\n"...))
		if turn.Ply != ply || turn.MS != ms || !cmp.Equal(turn.Moves.Strings(), moves) {
			t.Fatalf("turn %d %d %v became %+v", ply, ms, moves, turn)
		}
	})
}

func parse(t *rapid.T, line []byte) RefLine {
	if bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("%q is not one line", line)
	}
	return kit.Get[RefLine](t)(ParseReferee(line[:len(line)-1]))
}

func FuzzParseReferee(f *testing.F) {
	for _, line := range []string{
		"timba 1", "game brisca players=2 seat=0 seed=5 movetime=1000", "event play 1 12c", "view hand=12c trick=-",
		"turn 3 1000 12c 3o", "fault 0 exit status 3", "end ranks=1,2 points=61,59", "end ranks=1,1 points=0.5,-0", "bye",
		"bye\r", "what is this", "", "turn 1 2", "end ranks=1 points=.", "fault 0 x  y",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := ParseReferee(line)
		if err != nil {
			if !strings.HasPrefix(err.Error(), Quote(dropCR(line))) {
				t.Errorf("%v does not quote the line %q", err, line)
			}
			return
		}
		var again []byte
		switch l.Verb {
		case RefTimba:
			if l.Version != Version {
				return
			}
			again = AppendGreeting(nil)
		case RefGame:
			var pairs []KeyValue
			for k, v := range l.Pairs.All() {
				pairs = append(pairs, KeyValue{string(k), string(v)})
			}
			again = AppendGame(nil, string(l.Name), pairs...)
		case RefTurn:
			again = AppendTurn(nil, l.Ply, l.MS)
			for m := range l.Moves.All() {
				again = append(append(again, ' '), m...)
			}
			again = append(again, '\n')
		case RefFault:
			if len(line) > MaxLine {
				return // it would be cut
			}
			again = AppendFault(nil, l.Seat, l.Code, string(l.Text))
		case RefEnd:
			checkEnd(t, l)
			return
		case RefBye:
			again = AppendBye(nil)
		default:
			return
		}
		if want := slices.Concat(dropCR(line), []byte{'\n'}); !bytes.Equal(again, want) {
			t.Errorf("%q is formatted as %q", line, again)
		}
	})
}

// checkEnd formats a result and parses it again. The numbers must be the same, also if they were written in
// another way ("1.0").
func checkEnd(t *testing.T, l RefLine) {
	again, err := ParseReferee(bytes.TrimSuffix(AppendEnd(nil, l.Ranks, l.Points), []byte{'\n'}))
	if err != nil || !cmp.Equal(again.Ranks, l.Ranks) || !cmp.Equal(again.Points, l.Points) {
		t.Errorf("%v %v became %+v, %v", l.Ranks, l.Points, again, err)
	}
}

func TestWordsAndPairs(t *testing.T) {
	w := Words("12c 3o swap:7o")
	if w.Len() != 3 || string(w.Token(2)) != "swap:7o" || w.Token(3) != nil || !w.Has([]byte("3o")) || w.Has([]byte("3")) {
		t.Errorf("words: %d, %q, %q", w.Len(), w.Token(2), w.Token(3))
	}
	if (Words)(nil).Len() != 0 || len((Words)(nil).Strings()) != 0 {
		t.Error("no words have tokens")
	}
	p := Pairs("me=b board=b..w me=w ply=7 eq=a=b none=")
	for key, want := range map[string]string{"me": "b", "board": "b..w", "eq": "a=b", "none": "", "m": "", "boards": "", "": ""} {
		if got := p.Get(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if _, ok := p.Lookup("m"); ok || p.Int("ply") != 7 || p.Int("me") != 0 {
		t.Error("lookup of a key that is not there, or a number, is wrong")
	}
	want := map[string]string{"me": "b", "board": "b..w", "ply": "7", "eq": "a=b", "none": ""}
	if diff := cmp.Diff(want, p.Map()); diff != "" {
		t.Error(diff)
	}
}

var sampleView = []byte("view hand=12c,3o,7b trump=5c stock=31 leader=1 trick=4e points=11,20 played=1o,2o,3e,4b known=-/-")

func BenchmarkParseReferee(b *testing.B) {
	for _, line := range [][]byte{sampleView, []byte("turn 14 1000 12c 3o 7b")} {
		b.Run(string(line[:4]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseReferee(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	buf := make([]byte, 0, 1<<16)
	pairs := []KeyValue{{"players", "2"}, {"seat", "0"}, {"seed", "1234567"}, {"movetime", "1000"}}
	ranks, points := []int{1, 2}, []float64{61, 59}
	for name, f := range map[string]func([]byte) []byte{
		"greeting": AppendGreeting,
		"game":     func(d []byte) []byte { return AppendGame(d, "brisca", pairs...) },
		"turn":     func(d []byte) []byte { return AppendTurn(d, 14, 1000) },
		"fault":    func(d []byte) []byte { return AppendFault(d, 0, Timeout, "no answer in 1050 ms") },
		"end":      func(d []byte) []byte { return AppendEnd(d, ranks, points) },
		"bye":      AppendBye,
	} {
		if n := testing.AllocsPerRun(10, func() { f(buf) }); n != 0 {
			b.Errorf("%s: %v allocations", name, n)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(buf)
			}
		})
	}
}
