package screen

import (
	"bytes"
	"os"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestErased checks that lines are erased with all rows that they take, also on a terminal that has become
// narrower.
func TestErased(t *testing.T) {
	for _, c := range []struct {
		lines   []string
		columns int
		want    string
	}{
		{nil, 80, ""},
		{[]string{"one"}, 80, "\r\x1b[J"},
		{[]string{"one", ""}, 80, "\r\x1b[1A\x1b[J"},
		{[]string{"± five"}, 6, "\r\x1b[J"},
		{[]string{"sixteen columns.", "two"}, 5, "\r\x1b[4A\x1b[J"},
	} {
		if got := eraseCodes(c.lines, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.lines, c.columns, got, c.want)
		}
	}
}

// TestLiveElsewhere checks that nothing is drawn if the output is no terminal, and that lines above are normal
// lines.
func TestLiveElsewhere(t *testing.T) {
	file := kit.Get[*os.File](t)(os.Create(t.TempDir() + "/file"))
	defer file.Close()
	var b bytes.Buffer
	if NewLive(file) != nil || NewLive(&b) != nil {
		t.Error("a file is a terminal")
	}
	var l *Live
	l.Draw([]string{"score"})
	l.WriteAbove(&b, "line")
	l.Clear()
	if b.String() != "line\n" || l.Columns() != normalColumns-1 {
		t.Errorf("%q, %d columns", b.String(), l.Columns())
	}
}
