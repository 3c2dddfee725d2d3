package match

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
)

// cutUp feeds data to a line buffer in pieces, and returns the lines and the error.
func cutUp(data []byte, piece func(room int) int) (lines []string, err error) {
	var b lineBuffer
	for {
		line, ok, err := b.next()
		if err != nil {
			return lines, err
		}
		if ok {
			lines = append(lines, string(line))
			continue
		}
		if len(data) == 0 {
			return lines, nil
		}
		room := b.room()
		n := copy(room[:min(len(room), piece(len(room)))], data)
		data = data[n:]
		b.advance(n)
	}
}

func all(room int) int { return room }
func one(int) int      { return 1 }

// Limits and faults: 4,096 bytes a line, the line ending not counted, and 64 KiB
// between two turns; in whatever pieces they come.
func TestLimitsAndFaultsLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	comments := func(n int) string { return strings.Repeat("#23456\n", n/7) + strings.Repeat("\n", n%7) }
	for _, c := range []struct {
		name string
		data string
		want []string // the last lines
		code protocol.Code
		text string
	}{
		{"nothing", "", nil, "", ""},
		{"lines", "a\nb c\n\nd\r\n", []string{"a", "b c", "", "d\r"}, "", ""},
		{"unfinished", "a\nb", []string{"a"}, "", ""},
		{"4096", x(4096) + "\n", []string{x(4096)}, "", ""},
		{"4096 and CR", x(4096) + "\r\n", []string{x(4096) + "\r"}, "", ""},
		{"4096 unfinished", x(4096), nil, "", ""},
		{"4096 and CR unfinished", x(4096) + "\r", nil, "", ""},
		{"4097", x(4097) + "\n", nil, protocol.Garbled, `is longer than 4096 bytes: end every line with LF and write logs to stderr`},
		{"4097 unfinished", x(4097), nil, protocol.Garbled, `"` + x(80) + `"... is longer than 4096 bytes`},
		{"4096 and two CRs", x(4096) + "\r\r\n", nil, protocol.Garbled, "longer than 4096"},
		{"4097 after a line", "a\n" + x(4097), []string{"a"}, protocol.Garbled, "longer than 4096"},
		{"a megabyte", x(1 << 20), nil, protocol.Garbled, "longer than 4096"},
		{"64 KiB", comments(65536), []string{"#23456", "#23456", "", ""}, "", ""},
		{"64 KiB unfinished", comments(65530) + x(6), []string{"#23456", "", "", ""}, "", ""},
		{"a byte more", comments(65537), nil, protocol.Output, "more than 64 KiB on stdout between two turns: write logs to stderr"},
		{"a byte more unfinished", comments(65530) + x(7), []string{""}, protocol.Output, "more than 64 KiB"},
		{"long before much", comments(61439) + x(5000), nil, protocol.Garbled, "longer than 4096"},
		{"much before long", comments(61440) + x(5000), nil, protocol.Output, "more than 64 KiB"},
	} {
		for pieces, piece := range map[string]func(int) int{"at once": all, "byte by byte": one} {
			lines, err := cutUp([]byte(c.data), piece)
			if codeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s, %s: error %v, want %s: %s", c.name, pieces, err, c.code, c.text)
			}
			if n := len(c.want); len(lines) < n || cmp.Diff(c.want, lines[len(lines)-n:], equateEmpty) != "" {
				t.Errorf("%s, %s: the last of %d lines are not %.80q", c.name, pieces, len(lines), c.want)
			}
		}
	}
}

var equateEmpty = cmp.Comparer(func(a, b []string) bool {
	return strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) == len(b)
})

// What comes of bytes does not depend on the pieces in which they come.
func TestLimitsAndFaultsPieces(t *testing.T) {
	piece := rapid.OneOf(
		rapid.Just([]byte("\n")),
		rapid.Just([]byte("\r\n")),
		rapid.SliceOfN(rapid.Byte(), 0, 20),
		rapid.Map(rapid.IntRange(4090, 4100), func(n int) []byte { return bytes.Repeat([]byte("y"), n) }),
		rapid.Map(rapid.IntRange(100, 3000), func(n int) []byte { return append(bytes.Repeat([]byte("z"), n), '\n') }),
	)
	rapid.Check(t, func(t *rapid.T) {
		data := bytes.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "data"), nil)
		want, wantErr := cutUp(data, all)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9000), 1, 20).Draw(t, "pieces")
		i := 0
		got, err := cutUp(data, func(int) int { i++; return sizes[i%len(sizes)] })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if codeOf(err) != codeOf(wantErr) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%v, at once it is %v", err, wantErr)
		}
	})
}

// After an answer output counts anew, what was read with the answer included.
func TestLimitsAndFaultsOutputCountsAnew(t *testing.T) {
	var b lineBuffer
	feed := func(text string) error {
		for len(text) > 0 {
			n := copy(b.room(), text)
			text = text[n:]
			b.advance(n)
			for {
				_, ok, err := b.next()
				if err != nil {
					return err
				}
				if !ok {
					break
				}
			}
		}
		return nil
	}
	line := strings.Repeat("#", 1023) + "\n"
	for range 3 {
		kit.Must(t, feed(strings.Repeat(line, 63)+line[:1023]))
		kit.Must(t, feed("\n"))
		b.endTurn()
	}
	kit.Must(t, feed(strings.Repeat(line, 64)))
	if err := feed("x"); codeOf(err) != protocol.Output {
		t.Errorf("a byte more: %v", err)
	}
}
