package protocol

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SPEC.md, "Protocol", "From the bot".
func TestProtocolFromTheBot(t *testing.T) {
	long := "# " + strings.Repeat("x", MaxLine-2)
	for _, c := range []struct {
		line string
		want BotLine
	}{
		{"ready", BotLine{Verb: Ready}},
		{"ready\r", BotLine{Verb: Ready}},
		{"ready tuna", BotLine{Verb: Ready, Name: "tuna"}},
		{"ready tuna 1.2-beta", BotLine{Verb: Ready, Name: "tuna", Version: "1.2-beta"}},
		{"move 12c", BotLine{Verb: Move, Move: []byte("12c")}},
		{"move swap:7o\r", BotLine{Verb: Move, Move: []byte("swap:7o")}},
		{"move 12-13", BotLine{Verb: Move, Move: []byte("12-13")}},
		{"info", BotLine{Verb: Info}},
		{"info score=0.5", BotLine{Verb: Info, Text: []byte("score=0.5")}},
		{"info score=-3 pv=12c,3o note= x==", BotLine{Verb: Info, Text: []byte("score=-3 pv=12c,3o note= x==")}},
		{"#", BotLine{Verb: Comment, Text: []byte("#")}},
		{"#anything  goes ", BotLine{Verb: Comment, Text: []byte("#anything  goes ")}},
		{"# move 12c", BotLine{Verb: Comment, Text: []byte("# move 12c")}},
		{long, BotLine{Verb: Comment, Text: []byte(long)}},
		{long + "\r", BotLine{Verb: Comment, Text: []byte(long)}},
	} {
		got, err := ParseBot([]byte(c.line))
		if err != nil {
			t.Errorf("%s", err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
	}
}

// SPEC.md, "Protocol", "Limits and faults": what is garbled, and the text.
func TestProtocolGarbled(t *testing.T) {
	const tail = "; debug output belongs on stderr or in a line that begins with '#'"
	const noLine = " is no line of the protocol: a bot prints ready, move or info"
	const badMove = " is not a move: print move and one of the listed moves, as in move 12c"
	const badInfo = " is not an info: print key=value pairs after it, as in info score=0.5 depth=3"
	const badReady = " is not a ready: print at most a name and a version after it, without spaces in them"
	const badSpace = " has a space too many: tokens are separated by one space, with none before or after"
	xs := strings.Repeat("x", quoted)
	for _, c := range []struct{ line, want string }{
		{"", `""` + noLine},
		{"\r", `""` + noLine},
		{"hello", `"hello"` + noLine},
		{"Move 12c", `"Move 12c"` + noLine},
		{"bye", `"bye"` + noLine},
		{"moved 12c", `"moved 12c"` + noLine},
		{"12c", `"12c"` + noLine},
		{"thinking about 12c", `"thinking about 12c"` + noLine},
		{"move", `"move"` + badMove},
		{"move 12c 3o", `"move 12c 3o"` + badMove},
		{"move ", `"move "` + badSpace},
		{" move 12c", `" move 12c"` + badSpace},
		{"move  12c", `"move  12c"` + badSpace},
		{"move 12c ", `"move 12c "` + badSpace},
		{" ", `" "` + badSpace},
		{"info score", `"info score"` + badInfo},
		{"info =3", `"info =3"` + badInfo},
		{"info score=1 depth", `"info score=1 depth"` + badInfo},
		{"ready a b c", `"ready a b c"` + badReady},
		{"move\t12c", `"move\t12c" is not printable ASCII: byte 5 is 0x09`},
		{"move 12c\r\r", `"move 12c\r" is not printable ASCII: byte 9 is 0x0d`},
		{"move 1\x002c", `"move 1\x002c" is not printable ASCII: byte 7 is 0x00`},
		{"# caña", `"# ca\u00f1a" is not printable ASCII: byte 5 is 0xc3`},
		{"# 1234567\x7f", `"# 1234567\x7f" is not printable ASCII: byte 10 is 0x7f`},
		{"\xff", `"\xff" is not printable ASCII: byte 1 is 0xff`},
		{"\ufeffready", `"\ufeffready" is not printable ASCII: byte 1 is 0xef`},
		{strings.Repeat("x", quoted+1), `"` + xs + `"...` + noLine},
		{strings.Repeat("x", MaxLine+1), `"` + xs + `"... is longer than 4096 bytes`},
		{"#" + strings.Repeat("x", MaxLine), `"#` + xs[1:] + `"... is longer than 4096 bytes`},
	} {
		got, err := ParseBot([]byte(c.line))
		if err == nil {
			t.Errorf("%q is read as %+v, want an error", c.line, got)
		} else if err.Error() != c.want+tail {
			t.Errorf("%q:\n got %s\nwant %s", c.line, err, c.want+tail)
		}
	}
}

// The quick look at eight bytes must agree with a look at each.
func TestUnprintable(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for b := range 256 {
				line := bytes.Repeat([]byte{'a'}, length)
				line[at] = byte(b)
				want := at
				if b >= 0x20 && b <= 0x7e {
					want = -1
				}
				if got := unprintable(line); got != want {
					t.Fatalf("%q: got %d, want %d", line, got, want)
				}
			}
		}
	}
}

func FuzzParseBot(f *testing.F) {
	for _, line := range []string{
		"ready", "ready tuna 1", "move 12c", "move swap:7o\r", "info", "info score=1 pv=a,b", "# hi", "",
		" ", "move", "move 1 2", "info x", "\xff", "move 12c\x00", strings.Repeat("x", 5000),
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := ParseBot(line)
		if err != nil {
			checkGarbled(t, line, err)
			return
		}
		var again []byte
		switch l.Verb {
		case Ready:
			again = AppendReady(nil, l.Name, l.Version)
		case Move:
			again = AppendMove(nil, l.Move)
		case Info:
			again = AppendInfo(nil, l.Text)
		case Comment:
			again = append(again, l.Text...)
			again = append(again, '\n')
		}
		want := slices.Concat(dropCR(line), []byte{'\n'})
		if !bytes.Equal(again, want) {
			t.Errorf("%q is formatted as %q", line, again)
		}
	})
}

// checkGarbled holds an error to its contract: it quotes the line, says where
// debug output belongs, and fits the line of a fault.
func checkGarbled(t *testing.T, line []byte, err error) {
	text := err.Error()
	if start := Quote(dropCR(line)); !strings.HasPrefix(text, start) {
		t.Errorf("%s does not quote the line %q", text, line)
	}
	if !strings.Contains(text, "stderr") || !strings.Contains(text, "'#'") {
		t.Errorf("%s does not say where debug output belongs", text)
	}
	fault, err := ParseReferee(bytes.TrimSuffix(AppendFault(nil, 0, Garbled, text), []byte{'\n'}))
	if err != nil || string(fault.Text) != text {
		t.Errorf("%q comes out of a fault as %q, %v", text, fault.Text, err)
	}
}

func BenchmarkParseBot(b *testing.B) {
	for _, line := range []string{"move 12c", "info score=0.25 depth=12 nodes=183221 pv=12c,3o,1b", "# a comment of some length"} {
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			in := []byte(line)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseBot(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestParseBotAllocatesNothing(t *testing.T) {
	for _, line := range []string{"move 12c", "move 12c\r", "info score=1 depth=2", "# a comment"} {
		in := []byte(line)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := ParseBot(in); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%q: %v allocations", line, n)
		}
	}
}
