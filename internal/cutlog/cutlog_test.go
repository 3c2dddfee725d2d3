package cutlog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLogKeepsBothEnds: a long log keeps its first and last lines whole, whatever the writes were.
func TestLogKeepsBothEnds(t *testing.T) {
	l := Buffer{Limit: 1000}
	for i := range 5000 {
		fmt.Fprintf(&l, "line %d\n", i)
	}
	fmt.Fprint(&l, "KeyError: 'x'")
	if l.EndsLine() {
		t.Error("the log does not end with a line feed")
	}
	text := string(l.Take())
	lines := strings.Split(text, "\n")
	if lines[0] != "line 0" || lines[len(lines)-1] != "KeyError: 'x'" || !strings.Contains(text, " bytes are left out here]\n") || len(text) > 1000+MaxNote {
		t.Errorf("%d bytes: %q", len(text), text)
	}
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "line %d", &n); strings.HasPrefix(line, "line") && (err != nil || line != fmt.Sprintf("line %d", n)) {
			t.Errorf("the cut broke a line: %q", line)
		}
	}
	if l.Take() != nil || !l.EndsLine() {
		t.Error("a log is not empty after Take")
	}
}

// TestLogIsCut: a Log and Cut make the same of the same bytes, and cutting twice changes nothing.
func TestLogIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 300).Draw(t, "limit")
		parts := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 100), 0, 20).Draw(t, "parts")
		l := Buffer{Limit: limit}
		for _, p := range parts {
			l.Write(p)
		}
		log, got := bytes.Join(parts, nil), l.Take()
		if len(got) > limit+MaxNote {
			t.Fatalf("%d bytes, more than %d", len(got), limit+MaxNote)
		}
		if want := Cut(log, limit); len(log) > limit+MaxNote && !bytes.Equal(got, want) {
			t.Fatalf("Log has %q, Cut %q", got, want)
		}
		if len(log) <= limit && !bytes.Equal(got, log) {
			t.Fatalf("a log of %d bytes was changed", len(log))
		}
		if again := Cut(got, limit); !bytes.Equal(again, got) {
			t.Fatalf("%q was cut again to %q", got, again)
		}
	})
}
