package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
)

// cell is the width of a square of a board in columns. A square is two lines high, so that it looks square.
const cell = 6

// board draws a board: numbered squares, letters and numbers at the edges, and pieces. It marks the squares of the
// next move or, if the next move is unknown, of the last one.
func (d *drawing) board(b *rules.Board) block {
	pieces := d.p.View.Get(b.Pieces)
	colours := d.p.View.Get(b.Colours)
	side := rules.Columns(pieces)
	if side < 1 || len(pieces) != side*side || side > 12 {
		return d.view()
	}
	marked := d.p.Last
	if d.p.Move != "" {
		marked = d.p.Move
	}
	from, to := squaresOf(marked)
	var lines block
	for row := range side {
		numbers, faces := "", ""
		for column := range side {
			n := row*side + column
			q := square{number: n, piece: pieces[n], pale: b.Colours == "" && (row+column)%2 == 0, dark: n < len(colours) && colours[n] == 'b',
				left: n == from, reached: n == to}
			top, bottom := d.square(q)
			numbers += top
			faces += bottom
		}
		lines = append(lines, numbers, faces)
	}
	return arrange(d.Columns()-1, 4, d.frame(lines, side), d.sides(b, pieces))
}

// squaresOf returns the numbers of the squares of a move: 12 and 13 for the move 12-13. A move of a new piece to an
// empty square, such as 12, has no first square; from is then -1.
func squaresOf(move string) (from, to int) {
	a, b, two := strings.Cut(move, "-")
	if !two {
		a, b = "", a
	}
	return squareOf(a), squareOf(b)
}

func squareOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// frame adds edges to the lines of a board: letters for columns and numbers for rows, and a border unless the
// terminal has colors. side is the number of squares along a side.
func (d *drawing) frame(lines block, side int) block {
	edge, bar, left, right := d.pick("─", "-"), d.pick("│", "|"), d.pick("└", "+"), d.pick("┘", "+")
	after := bar
	out := block{d.pick("┌", "+") + strings.Repeat(edge, lines.width()) + d.pick("┐", "+")}
	if d.Colour {
		edge, bar, after, left, right, out = " ", " ", "", " ", "", nil
	}
	margin := strings.Repeat(" ", len(strconv.Itoa(side))-1)
	for i, line := range lines {
		before := margin + bar
		if i%2 == 1 { // the line with the pieces
			before = fmt.Sprintf("%*d", len(margin)+1, side-i/2)
			if d.Colour {
				before = d.Dim(before)
			}
		}
		out = append(out, before+line+after)
	}
	bottom := left
	for column := range side {
		bottom += strings.Repeat(edge, 2) + string(rune('a'+column)) + strings.Repeat(edge, cell-3)
	}
	if bottom = margin + bottom + right; d.Colour {
		return append(out, d.Dim(strings.TrimRight(bottom, " ")))
	}
	out[0] = margin + out[0]
	return append(out, bottom)
}

// square is one square of a board, as it is drawn.
type square struct {
	number        int
	piece         byte
	dark          bool
	pale          bool // draw it lighter; every other square of a board without colors is pale
	left, reached bool // the move that is marked starts or ends here
}

// square returns the two lines that draw a square. The first and the last square of the marked move have brackets.
func (d *drawing) square(q square) (top, bottom string) {
	ground := " "
	if !d.Colour && q.dark {
		ground = d.pick("░", ":")
	}
	fill := func(n int) string { return strings.Repeat(ground, n) }
	number := strconv.Itoa(q.number)
	piece := map[byte]string{'b': d.pick("●", "b"), 'w': d.pick("○", "w")}[q.piece]
	if d.Colour && q.piece == 'w' {
		piece = "●"
		if !d.Unicode {
			piece = "w"
		}
	}
	if piece == "" {
		piece = ground
		if q.left {
			piece = d.pick("·", ".")
		}
	}
	before, after := ground, ground
	if q.left || q.reached {
		before, after = "[", "]"
	}
	if !d.Colour {
		return number + fill(cell-len(number)), fill(1) + before + piece + after + fill(cell-4)
	}
	back, numberColour := lightSquare, lightNumber
	switch {
	case q.dark:
		back, numberColour = darkSquare, darkNumber
	case q.pale:
		back = paleSquare
	}
	if q.left || q.reached {
		back, numberColour = markedSquare, blackPiece
	}
	pieceColour := blackPiece
	if q.piece == 'w' {
		pieceColour = whitePiece
	}
	return d.paint(back+";"+numberColour, number+fill(cell-len(number))),
		d.paint(back+";"+pieceColour, fill(1)+before+piece+after+fill(cell-4))
}

// sides returns lines that say who plays which color with how many pieces, and what the last and the next move are.
func (d *drawing) sides(b *rules.Board, pieces string) block {
	v := d.p.View
	var lines block
	for _, side := range []struct {
		letter, name string
		seat         int
	}{{"w", "white", strings.Index(b.Sides, "w")}, {"b", "black", strings.Index(b.Sides, "b")}} {
		mark := "  "
		if side.seat == d.p.Turn {
			mark = d.Bold(d.pick("▸", ">")) + " "
		}
		sign := d.pick(map[string]string{"w": "○", "b": "●"}[side.letter], side.letter)
		if d.Colour {
			sign = d.paint(lightSquare+";"+map[string]string{"w": whitePiece, "b": blackPiece}[side.letter], " "+d.pick("●", side.letter)+" ")
		}
		name := d.name(side.seat, 16)
		if side.seat == d.p.Seat {
			name = d.Bold(name)
		}
		lines = append(lines, mark+sign+" "+name)
		about := side.name + ", " + text.Count(strings.Count(pieces, side.letter), "piece")
		if extra, ok := v.Lookup("extra"); ok && strings.Contains(string(extra), side.letter) {
			about += d.pick(" · ", ", ") + "extra due"
		}
		lines = append(lines, "    "+d.Dim(about))
	}
	if v.Get("bonus") == "yes" {
		lines = append(lines, "", "this is the extra move")
	}
	if phase, ok := v.Lookup("phase"); ok {
		lines = append(lines, "", d.Dim("phase: "+Clean(string(phase))))
	}
	for i, m := range []struct {
		label, move string
		seat        int
	}{{"last: ", d.p.Last, d.p.LastBy}, {"now:  ", d.p.Move, d.p.Turn}} {
		if m.move != "" {
			if i == 0 || d.p.Last == "" {
				lines = append(lines, "")
			}
			lines = append(lines, d.Dim(m.label)+Clean(m.move)+d.Dim(" by "+d.name(m.seat, 16)))
		}
	}
	return lines
}
