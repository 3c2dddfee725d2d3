package runner

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee/fault"
)

// The owner of a suspended bot can read the last lines of its stderr, without control characters for the terminal.
func TestLastLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"one\ntwo\n\n", "one\ntwo"},
		{"1\n2\n3\n4\n5\n6\n", "2\n3\n4\n5\n6"},
		{"\x1b]0;title\a\xff", `\x1b]0;title\a\xff`},
		{strings.Repeat("x", 2*shownBytes), strings.Repeat("x", shownBytes/shownLines)},
	} {
		if got := lastLines(fault.Lines([]byte(c.in))); got != c.want {
			t.Errorf("of %q it shows %q, want %q", c.in, got, c.want)
		}
	}
}
