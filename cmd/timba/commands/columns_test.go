package commands

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
	"github.com/rogpeppe/go-internal/testscript"
)

// busyNotice is a line that is printed only on a busy machine.
var busyNotice = regexp.MustCompile(`the machine is busy: other programs used [0-9,]+ of 1,000 ms\r?\n`)

// shownColumns implements the command screen COLUMNS FILE, which writes to a file what a terminal with that
// number of columns shows after ttyout. Lines that exceed the width are an error.
func shownColumns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: screen COLUMNS FILE")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, wide := shown(busyNotice.ReplaceAllString(ts.ReadFile("ttyout"), ""), columns)
	if len(wide) > 0 {
		ts.Fatalf("lines are wider than %d columns: %q", columns, wide)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// shown returns what a terminal shows after a program's output, without empty lines at the end, and the lines
// that are wider than the terminal.
func shown(output string, columns int) (text string, wide []string) {
	const wider, higher = 100, 300 // than the terminal, so that no line is cut or lost
	terminal := vt10x.New(vt10x.WithSize(columns+wider, higher))
	terminal.Write([]byte(output))
	var lines []string
	for line := range strings.Lines(terminal.String()) {
		line = strings.TrimRight(line, " \n")
		if lines = append(lines, line); utf8.RuneCountInString(line) > columns {
			wide = append(wide, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n"), wide
}

func TestShown(t *testing.T) {
	if got, wide := shown("ab\r\ncd\x1b[1A\r\x1b[Jx\r\nlonger\r\nL\r\n", 5); got != "x\nlonger\nL" || len(wide) != 1 {
		t.Errorf("%q and %q", got, wide)
	}
}
