package draw

import (
	"strings"

	"github.com/timba-arena/timba/rules/text"
)

// block is a group of lines of a drawing that are placed together, such as a row of cards.
type block []string

func width(line string) int { return text.Width(line) }

func (b block) width() int {
	n := 0
	for _, line := range b {
		n = max(n, width(line))
	}
	return n
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-width(text)))
}

func padLeft(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-width(text))) + text
}

func centre(text string, columns int) string {
	left := max(0, columns-width(text)) / 2
	return pad(strings.Repeat(" ", left)+text, columns)
}

// arrange places blocks in rows of at most the given number of columns, with gap columns between two blocks.
func arrange(columns, gap int, blocks ...block) block {
	var all, row block
	for _, b := range blocks {
		if len(b) == 0 {
			continue
		}
		if len(row) > 0 && row.width()+gap+b.width() > columns {
			all, row = append(all, row...), nil
		}
		if len(row) == 0 {
			row = append(block(nil), b...)
			continue
		}
		edge := row.width() + gap
		for i, line := range b {
			if i == len(row) {
				row = append(row, "")
			}
			row[i] = pad(row[i], edge) + line
		}
	}
	return append(all, row...)
}

func (b block) indent(n int) block {
	moved := make(block, len(b))
	for i, line := range b {
		if line != "" {
			line = strings.Repeat(" ", n) + line
		}
		moved[i] = line
	}
	return moved
}

func wrap(words []string, columns int) block { return text.Wrap(words, columns) }

// widthsOf returns the width of each column of a table, and that of the table with gap columns between them.
func widthsOf(rows [][]string, gap int) (widths []int, all int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(strings.TrimPrefix(cell, " ")))
		}
	}
	for i, w := range widths {
		if i > 0 {
			all += gap
		}
		all += w
	}
	return widths, all
}

// grid draws a table, with gap columns between its columns. The first row is the head. A column whose head begins
// with a space is aligned to the right.
func (s Style) grid(rows [][]string, gap int) block {
	widths, _ := widthsOf(rows, gap)
	var lines block
	for n, row := range rows {
		line := ""
		for i, cell := range row {
			number := strings.HasPrefix(rows[0][i], " ")
			cell = strings.TrimPrefix(cell, " ")
			if number {
				cell = padLeft(cell, widths[i])
			} else {
				cell = pad(cell, widths[i])
			}
			if n == 0 {
				cell = s.Dim(cell)
			}
			if i > 0 {
				line += strings.Repeat(" ", gap)
			}
			line += cell
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// List arranges texts in columns of equal width, as many as fit. Each line ends with LF.
func (s Style) List(entries []string) string {
	widest := 0
	for _, e := range entries {
		widest = max(widest, width(e))
	}
	perRow := max(1, (s.Columns()-1)/(widest+3))
	var out strings.Builder
	for i, e := range entries {
		out.WriteString("  ")
		if last := i == len(entries)-1; last || (i+1)%perRow == 0 {
			out.WriteString(e + "\n")
			continue
		}
		out.WriteString(pad(e, widest+1))
	}
	return out.String()
}
