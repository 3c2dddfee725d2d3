// Package draw draws in a terminal what one seat sees of a game, from the view line that its bot gets: cards
// and boards, with colors if the terminal has them, and in ASCII if it has nothing else.
package draw

import (
	"cmp"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/screen"
)

// Style says what a terminal can show. The zero Style is 80 columns wide, in ASCII and without colors.
type Style struct {
	Width   int // in columns; 0 means 80
	Colour  bool
	Unicode bool
}

// The usual width in columns, and the bounds between which drawings adapt to the terminal.
const (
	normalWidth = 80
	minWidth    = 40
	maxWidth    = 100
)

// StyleFor returns the Style for writing to w. It has colors only if w is a terminal and NO_COLOR is not set, and
// characters beyond ASCII only in a UTF-8 locale.
func StyleFor(w io.Writer) Style {
	s := Style{Width: normalWidth, Unicode: utf8Locale()}
	file := screen.Terminal(w)
	if file == nil {
		return s
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return s
}

func utf8Locale() bool {
	locale := strings.ToLower(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	if locale == "" {
		return runtime.GOOS == "windows"
	}
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// Columns returns the number of columns to draw in: the width of the terminal, but at least 40 and at most 100.
func (s Style) Columns() int {
	if s.Width == 0 {
		return normalWidth
	}
	return min(max(s.Width, minWidth), maxWidth)
}

// SGR codes, which set colors and weights in a terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "38;5;203"
	yellow = "38;5;220"
	blue   = "38;5;75"
	green  = "38;5;78"

	lightSquare  = "48;5;180"
	paleSquare   = "48;5;186"
	darkSquare   = "48;5;94"
	markedSquare = "48;5;142"
	blackPiece   = "1;38;5;16"
	whitePiece   = "1;38;5;231"
	darkNumber   = "38;5;180"
	lightNumber  = "38;5;94"
)

func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Wrap breaks a text at its spaces into lines that fit the terminal, without the last LF. The first line begins
// with mark, and the others are indented by the width of mark. A word that is too long is not broken, so that a
// path can be copied.
func (s Style) Wrap(mark, words string) string { return text.Paragraph(mark, words, s.Columns()) }

// Digits returns mark and a long number. If they do not fit in one line, the number is broken in the middle.
func (s Style) Digits(mark, digits string) string {
	if width(mark+digits) > s.Columns() {
		digits = digits[:len(digits)/2] + " " + digits[len(digits)/2:]
	}
	return s.Wrap(mark, digits)
}

// Bold makes a text bold.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// Dim makes a text faint.
func (s Style) Dim(text string) string { return s.paint(dim, text) }

// Alert returns the text in the color of errors.
func (s Style) Alert(text string) string { return s.paint("1;"+red, text) }

// pick returns fine if the terminal can show Unicode, otherwise plain, which is ASCII.
func (s Style) pick(fine, plain string) string {
	if s.Unicode {
		return fine
	}
	return plain
}

// Rule returns a horizontal line with a title in it. A title that is too long follows below the line.
func (s Style) Rule(title string) string {
	dash := s.pick("─", "-")
	if lines := wrap(strings.Fields(title), s.Columns()-3); len(lines) > 1 || width(title) > s.Columns()-6 {
		return s.Dim(strings.Repeat(dash, s.Columns())) + "\n" + strings.Join(lines.indent(1), "\n")
	}
	rest := max(2, s.Columns()-width(title)-4)
	return s.Dim(strings.Repeat(dash, 2)) + " " + title + " " + s.Dim(strings.Repeat(dash, rest))
}

// Clean replaces characters that are not printable by "?", so that the text cannot control the terminal.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// shorten cuts a bot's name to the given number of columns and marks the cut by an ellipsis. A number at its end,
// as in "#2", is not cut.
func (s Style) shorten(name string, columns int) string {
	runes := []rune(name)
	if len(runes) <= columns {
		return name
	}
	dots := s.pick("…", "..")
	tail := ""
	if i := strings.LastIndexByte(name, '#'); i >= 0 && width(name[i:])+width(dots) < columns {
		tail = name[i:]
	}
	kept := columns - width(dots) - width(tail)
	if kept <= 0 {
		return string(runes[:max(0, columns)])
	}
	return string(runes[:kept]) + dots + tail
}
