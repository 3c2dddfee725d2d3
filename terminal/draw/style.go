// Package draw draws what a seat sees of a game in a terminal, from the view
// line that its bot is sent: cards and boards, in colours where there are any,
// and in plain ASCII where there is nothing else.
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

// Style is what a terminal can show. The zero Style is plain ASCII of 80 columns.
type Style struct {
	Width   int // columns; 0 for 80
	Colour  bool
	Unicode bool
}

// The widths that drawings are made for.
const (
	normalWidth = 80
	minWidth    = 40
	maxWidth    = 100
)

// StyleFor returns what a writer can show: colours only on a terminal and not with
// NO_COLOR, other than ASCII only in a locale of UTF-8.
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

// Columns returns how many columns there are to draw in.
func (s Style) Columns() int {
	if s.Width == 0 {
		return normalWidth
	}
	return min(max(s.Width, minWidth), maxWidth)
}

// SGR codes: what a terminal is told to look like.
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

// Wrap breaks a text at its spaces into lines that fit, without the last LF. The first
// begins with a mark, the others are indented by its width. A word that is too long is
// not broken: it may be a path to be copied.
func (s Style) Wrap(mark, words string) string { return text.Paragraph(mark, words, s.Columns()) }

// Digits writes a mark and a number of many digits: in two lines where one does not fit.
func (s Style) Digits(mark, digits string) string {
	if width(mark+digits) > s.Columns() {
		digits = digits[:len(digits)/2] + " " + digits[len(digits)/2:]
	}
	return s.Wrap(mark, digits)
}

// Bold makes a text stand out.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// Dim makes a text recede.
func (s Style) Dim(text string) string { return s.paint(dim, text) }

// Alert marks a text that says what went wrong.
func (s Style) Alert(text string) string { return s.paint("1;"+red, text) }

// pick returns one of two texts by what the terminal can show.
func (s Style) pick(fine, plain string) string {
	if s.Unicode {
		return fine
	}
	return plain
}

// Rule returns a line across the width with a title in it.
func (s Style) Rule(title string) string {
	dash := s.pick("─", "-")
	if lines := wrap(strings.Fields(title), s.Columns()-3); len(lines) > 1 || width(title) > s.Columns()-6 {
		return s.Dim(strings.Repeat(dash, s.Columns())) + "\n" + strings.Join(lines.indent(1), "\n")
	}
	rest := max(2, s.Columns()-width(title)-4)
	return s.Dim(strings.Repeat(dash, 2)) + " " + title + " " + s.Dim(strings.Repeat(dash, rest))
}

// Clean returns a text that moves no cursor: what is not printable becomes "?".
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// shorten cuts a name to so many columns: what is left out becomes an ellipsis. The number
// that tells bots of the same name apart ("#2") stays.
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
