package playback

import "testing"

func TestTurnPages(t *testing.T) {
	for _, c := range []struct {
		typed string
		from  int
		want  int
		more  bool
	}{
		{"n", 0, 1, true},
		{"nnnp", 0, 2, true},
		{"p", 0, 0, true},
		{"n", 9, 9, true},
		{"G", 0, 9, true},
		{"g", 5, 0, true},
		{"\x1b[C\x1b[C\x1b[D", 3, 4, true},
		{"nq", 3, 4, false},
		{"nqn", 3, 4, false},
		{"\x1b", 3, 3, false},
		{"\x03", 3, 3, false},
		{"x?", 3, 3, true},
		{" \r", 3, 5, true},
	} {
		if got, more := turnPages(c.typed, c.from, 10); got != c.want || more != c.more {
			t.Errorf("%q on page %d leads to %d, %v, want %d, %v", c.typed, c.from, got, more, c.want, c.more)
		}
	}
}
