package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// terminal is what a terminal of so many columns shows. It knows what programs here write: text,
// CR, LF, and the sequences to go up and to erase what follows.
type terminal struct {
	columns  int
	rows     [][]rune
	row, col int
	wrapped  []string // rows that ran over the edge
}

var control = regexp.MustCompile(`^\x1b\[([0-9]*)([A-Z])`)

func (t *terminal) write(output string) error {
	for len(output) > 0 {
		if m := control.FindStringSubmatch(output); m != nil {
			n, _ := strconv.Atoi(m[1])
			switch m[2] {
			case "A":
				t.row = max(0, t.row-max(1, n))
			case "J":
				t.rows = t.rows[:min(len(t.rows), t.row+1)]
				if t.row < len(t.rows) {
					t.rows[t.row] = t.rows[t.row][:min(len(t.rows[t.row]), t.col)]
				}
			default:
				return fmt.Errorf("unknown sequence %q", m[0])
			}
			output = output[len(m[0]):]
			continue
		}
		r, size := utf8.DecodeRuneInString(output)
		output = output[size:]
		t.put(r)
	}
	return nil
}

func (t *terminal) put(r rune) {
	switch r {
	case '\r':
		t.col = 0
		return
	case '\n':
		t.row, t.col = t.row+1, 0
		return
	}
	if t.col == t.columns {
		t.wrapped = append(t.wrapped, string(t.rows[t.row]))
		t.row, t.col = t.row+1, 0
	}
	for len(t.rows) <= t.row {
		t.rows = append(t.rows, nil)
	}
	for len(t.rows[t.row]) <= t.col {
		t.rows[t.row] = append(t.rows[t.row], ' ')
	}
	t.rows[t.row][t.col] = r
	t.col++
}

// String returns the rows, without empty ones at the end.
func (t *terminal) String() string {
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// screen COLUMNS FILE writes what a terminal of so many columns shows in the end after ttyout to a
// file. Lines that ran over its edge are an error.
func screen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: screen COLUMNS FILE")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	t := &terminal{columns: columns}
	ts.Check(t.write(ts.ReadFile("ttyout")))
	if len(t.wrapped) > 0 {
		ts.Fatalf("lines are wider than %d columns: %q", columns, t.wrapped)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(t.String()), 0o644))
}

func TestTerminal(t *testing.T) {
	s := &terminal{columns: 5}
	if err := s.write("ab\r\ncd\x1b[1A\r\x1b[Jx\r\nlonger\rL"); err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "x\nlonge\nL"; got != want || len(s.wrapped) != 1 {
		t.Errorf("%q and %q, want %q", got, s.wrapped, want)
	}
}
