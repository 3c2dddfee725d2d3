// Package screen draws lines in a terminal again and again in the same place.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/timba-arena/timba/rules/text"
)

// normalColumns is the width of a terminal that does not say its own.
const normalColumns = 80

// Live is a few lines at the end of what a terminal shows, which are drawn again and again in
// the same place. It is nil where the output is not a terminal; its methods then do nothing.
type Live struct {
	terminal *os.File
	lines    []string // on the terminal now
}

// Terminal returns the terminal that an input or output is; nil if it is none.
func Terminal(stream any) *os.File {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// NewLive returns the lines of a terminal, nil if w is none.
func NewLive(w io.Writer) *Live {
	if f := Terminal(w); f != nil {
		return &Live{terminal: f}
	}
	return nil
}

// Columns returns how wide the lines may be. The last column stays free, because some terminals
// wrap a line that fills it.
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

// Draw replaces the lines by others. The cursor stays behind the last of them.
func (l *Live) Draw(lines []string) {
	if l != nil {
		io.WriteString(l.terminal, eraseCodes(l.lines, l.columns())+strings.Join(lines, "\n"))
		l.lines = lines
	}
}

// WriteAbove writes a line of text to w, the terminal's or another's output, above the lines.
func (l *Live) WriteAbove(w io.Writer, line string) {
	var lines []string
	if l != nil {
		lines = l.lines
	}
	l.Clear()
	fmt.Fprintln(w, line)
	l.Draw(lines)
}

// Clear removes the lines, so that other output can follow in their place.
func (l *Live) Clear() { l.Draw(nil) }

// eraseCodes returns what removes lines from a terminal of so many columns, which may have become
// narrower since: longer lines then take several rows.
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
