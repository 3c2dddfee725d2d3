package protocol

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProtocolFromTheBot checks the examples of SPEC.md, "Lines from the bot".
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

// TestProtocolGarbled checks which lines are garbled, by SPEC.md, "Limits and faults".
func TestProtocolGarbled(t *testing.T) {
	for flaw, lines := range map[Flaw][]string{
		NoSuchLine: {"", "\r", "hello", "Move 12c", "bye", "moved 12c", "12c", "thinking about 12c", strings.Repeat("x", maxQuoted+1)},
		BadMove:    {"move", "move 12c 3o"},
		BadSpacing: {"move ", " move 12c", "move  12c", "move 12c ", " "},
		BadInfo:    {"info score", "info =3", "info score=1 depth"},
		BadReady:   {"ready a b c"},
		NotASCII:   {"move\t12c", "move 12c\r\r", "move 1\x002c", "# caña", "# 1234567\x7f", "\xff", "\ufeffready"},
		TooLong:    {strings.Repeat("x", MaxLine+1), "#" + strings.Repeat("x", MaxLine)},
	} {
		for _, line := range lines {
			if got, err := ParseBot([]byte(line)); err != flaw {
				t.Errorf("%q is read as %+v, %v; want %s", line, got, err, string(flaw))
			}
		}
	}
}

// TestUnprintable compares unprintable, which reads eight bytes at a time, with a loop over single bytes.
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
			if _, ok := err.(Flaw); !ok {
				t.Errorf("%q: %v is no flaw", line, err)
			}
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

// TestCheckInfo checks that CheckInfo accepts what ParseBot accepts after the verb of an info line.
func TestCheckInfo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "score=0.5", "score=-3 pv=12c,3o note= x==", "score", "=3", "score=1 depth", " score=1", "score=1 ", "a=1  b=2",
		"score=1\r", "score=1\nmove 1o", "note=\x1b[2J", "note=é", "a=" + strings.Repeat("x", MaxLine-len("info a=")), "a=" + strings.Repeat("x", MaxLine-len("info a=")+1),
	} {
		line, want := ParseBot(bytes.TrimSuffix(AppendInfo(nil, []byte(text)), []byte("\n")))
		if want == nil && string(line.Text) != text {
			want = NotASCII // a carriage return, which ParseBot drops
		}
		if got := CheckInfo([]byte(text)); got != want {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
}
