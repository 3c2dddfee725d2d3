// Package text formats text for people: counts of things, paragraphs, tables, and words for a shell.
package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/mattn/go-shellwords"
)

// Count returns the number n followed by the noun thing: "1 match", "2 matches". The noun is in the plural unless n
// is 1.
func Count(n int, thing string) string {
	return fmt.Sprintf("%d %s", n, english.PluralWord(n, thing, ""))
}

// Width returns the number of columns that text takes on a terminal. It ignores color codes and counts every
// other character as one column.
func Width(text string) int {
	n := 0
	for len(text) > 0 {
		if strings.HasPrefix(text, "\x1b[") {
			if end := strings.IndexByte(text, 'm'); end >= 0 {
				text = text[end+1:]
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		n++
	}
	return n
}

// Wrap joins words by spaces into lines of at most the given number of columns. A word that is longer gets a line of
// its own.
func Wrap(words []string, columns int) []string {
	var lines []string
	for _, word := range words {
		last := len(lines) - 1
		if last < 0 || Width(lines[last])+1+Width(word) > columns {
			lines = append(lines, word)
		} else {
			lines[last] += " " + word
		}
	}
	return lines
}

// Paragraph breaks a text into lines of at most the given number of columns. The first line begins with mark, and the
// others are indented by the width of mark.
func Paragraph(mark, text string, columns int) string {
	lines := Wrap(strings.Fields(text), columns-Width(mark))
	return mark + strings.Join(lines, "\n"+strings.Repeat(" ", Width(mark)))
}

// Rows writes a table with at most one row for each item. The function cells returns the cells of an item's row, or
// nil if the item gets no row. head has the column titles, separated by "|".
func Rows[T any](w io.Writer, head string, items []T, cells func(item T) []any) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleLight
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = 0
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var header table.Row
	for _, word := range strings.Split(head, "|") {
		header = append(header, word)
	}
	t.AppendHeader(header)
	for _, item := range items {
		if c := cells(item); c != nil {
			t.AppendRow(table.Row(c))
		}
	}
	t.Render()
}

// Quote returns word as a shell must read it, in quotes if necessary. If word has unprintable characters, the result
// has the form $'\xff', which bash understands.
func Quote(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(word) {
		quoted := strconv.Quote(word)
		return "$'" + strings.ReplaceAll(quoted[1:len(quoted)-1], "'", `\'`) + "'"
	}
	if words, err := shellwords.Parse(word); err == nil && len(words) == 1 && words[0] == word && !strings.ContainsAny(word, "$*?[]#~{}&!=%^") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
