package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// Position is the input of a drawing: one seat's view of a game, and what else is known.
type Position struct {
	Game    string
	Display rules.Display  // how to draw the game
	Options protocol.Pairs // in the form of the "game" line
	View    protocol.Pairs // the view of Seat, in the form of the "view" line
	Seat    int
	Ply     int
	Turn    int      // the seat to move, or -1
	Names   []string // by seat; nil if unknown
	Open    []string // by seat, views whose hands are shown too; nil means none
	Last    string   // the move that led to the position, which boards mark; "" if there is none
	LastBy  int      // the seat that made the move Last
	Move    string   // the move that will be made in the position; "" if unknown
	// Keys has by move what a person types for it. It is shown below the card. nil means to show nothing.
	Keys map[string]string
}

// Position draws a position by the display of its game: cards, a board, or the text of the view.
func (s Style) Position(p Position) string {
	d := drawing{Style: s, p: p, seats: max(1, min(p.players(), rules.MaxSeats))}
	var body block
	switch {
	case p.Display.Cards != nil:
		body = d.table(p.Display.Cards)
	case p.Display.Board != nil:
		body = d.board(p.Display.Board)
	default:
		body = d.view()
	}
	var out strings.Builder
	for _, line := range append(block{d.title()}, body.indent(1)...) {
		out.WriteString(strings.TrimRight(line, " "))
		out.WriteByte('\n')
	}
	return out.String()
}

func (d *drawing) view() block { return wrap(strings.Fields(Clean(string(d.p.View))), d.Columns()-1) }

// drawing is a position that is being drawn.
type drawing struct {
	Style
	p     Position
	seats int
}

func (p Position) players() int {
	if n := p.Options.Int("players"); n > 0 {
		return n
	}
	return 2
}

// Name returns the name of a seat. If names do not have it, it returns a text such as "seat 1".
func Name(names []string, seat int) string {
	if seat >= 0 && seat < len(names) {
		return Clean(names[seat])
	}
	return "seat " + strconv.Itoa(seat)
}

func (d *drawing) name(seat, columns int) string { return d.shorten(Name(d.p.Names, seat), columns) }

// title returns the line with the game and, at its end, who is to move. If it is too long, it leaves out the
// seat, then options, then the end of the name.
func (d *drawing) title() string {
	game, end := Clean(d.p.Game), fmt.Sprintf("ply %d", d.p.Ply)
	if d.p.Turn >= 0 {
		end += d.toMove(d.Columns() - width(game) - 2 - width(end))
	}
	room := d.Columns() - width(end)
	for key, value := range d.p.Options.All() {
		word := " " + Clean(string(key))
		if (string(value) == "yes" || string(key) == "round") && width(game+word)+2 <= room {
			game += word
		}
	}
	return d.Bold(game) + strings.Repeat(" ", max(2, room-width(game))) + d.Dim(end)
}

// toMove says who is to move, in at most the given number of columns.
func (d *drawing) toMove(columns int) string {
	start, end := d.pick(" · ", ", "), " to move"
	who := d.name(d.p.Turn, 20)
	if seat := fmt.Sprintf(" (seat %d)", d.p.Turn); d.p.Names != nil && width(start+who+seat+end) <= columns {
		end = seat + end
	}
	return start + d.shorten(who, columns-width(start+end)) + end
}

// list returns the items of a list in a view. "-" is an empty list.
func list(value string) []string {
	if value == "" || value == "-" {
		return nil
	}
	return strings.Split(value, ",")
}

// itemAt returns item i, or "" if there is none.
func itemAt(items []string, i int) string {
	if i < 0 || i >= len(items) {
		return ""
	}
	return items[i]
}
