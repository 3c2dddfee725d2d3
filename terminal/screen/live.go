// Package screen repeatedly draws a few lines in the same place of a terminal.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/timba-arena/timba/rules/text"
)

// normalColumns is the assumed width of a terminal of unknown width.
const normalColumns = 80

// Live is a group of lines at the end of a terminal's output that are redrawn in the same place. A nil *Live
// stands for output that is not a terminal, and draws nothing.
type Live struct {
	terminal *os.File
	lines    []string // the lines that are on the terminal
}

// Terminal returns stream as a file if it is a terminal, otherwise nil.
func Terminal(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// NewLive returns a Live without lines, or nil if w is not a terminal.
func NewLive(w io.Writer) *Live {
	if f := Terminal(w); f != nil {
		return &Live{terminal: f}
	}
	return nil
}

// Columns returns the largest width of a line in columns. It leaves the last column of the terminal free, because
// some terminals break a line that fills it.
func (l *Live) Columns() int { return l.columns() - 1 }

func (l *Live) columns() int {
	if l == nil {
		return normalColumns
	}
	columns, _, err := term.GetSize(int(l.terminal.Fd()))
	if err != nil || columns <= 1 {
		return normalColumns
	}
	return columns
}

// Draw replaces the lines on the terminal by the given ones. The cursor stays behind the last of them.
func (l *Live) Draw(lines []string) {
	if l != nil {
		io.WriteString(l.terminal, eraseCodes(l.lines, l.columns())+strings.Join(lines, "\n"))
		l.lines = lines
	}
}

// WriteAbove writes a line to w and then redraws the lines of l below it. w may be the terminal or another output.
func (l *Live) WriteAbove(w io.Writer, line string) {
	var lines []string
	if l != nil {
		lines = l.lines
	}
	l.Clear()
	fmt.Fprintln(w, line)
	l.Draw(lines)
}

// Clear removes the lines from the terminal, so that other output can follow in their place.
func (l *Live) Clear() { l.Draw(nil) }

// eraseCodes returns the escape codes that erase lines from a terminal with the given number of columns. A line
// takes several rows if the terminal has become narrower than the line since it was drawn.
func eraseCodes(lines []string, columns int) string {
	if len(lines) == 0 {
		return ""
	}
	rows := 0
	for _, line := range lines {
		rows += max(1, (text.Width(line)+columns-1)/columns)
	}
	up := ""
	if rows > 1 {
		up = fmt.Sprintf("\x1b[%dA", rows-1)
	}
	return "\r" + up + "\x1b[J"
}
