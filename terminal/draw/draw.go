package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// Position is what is drawn: a seat's view of a game, and what else is known.
type Position struct {
	Game    string
	Display rules.Display  // of the game
	Options protocol.Pairs // as the "game" line has them
	View    protocol.Pairs // of Seat, as the "view" line has it
	Seat    int
	Ply     int
	Turn    int      // the seat to move, -1 when nobody is
	Names   []string // by seat; nil where they are not known
	Open    []string // by seat, views of all: their cards lie face up. nil for none
	Last    string   // the move that led here, "" for none; boards mark it
	LastBy  int      // whose move it was
	Move    string   // the move that will be made here, "" where it is not known
	// Keys has by move what a person types for it, which is shown below its card; nil to
	// leave that out.
	Keys map[string]string
}

// Position returns the drawing of a position, by its game's display and view.
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

// view returns the view as it is.
func (d *drawing) view() block { return wrap(strings.Fields(Clean(string(d.p.View))), d.Columns()-1) }

// drawing is a position on its way to the terminal.
type drawing struct {
	Style
	p     Position
	seats int
}

// players counts the seats.
func (p Position) players() int {
	if n := p.Options.Int("players"); n > 0 {
		return n
	}
	return 2
}

// Name returns the name of a seat, given the names by seat.
func Name(names []string, seat int) string {
	if seat >= 0 && seat < len(names) {
		return Clean(names[seat])
	}
	return "seat " + strconv.Itoa(seat)
}

func (d *drawing) name(seat, columns int) string { return d.shorten(Name(d.p.Names, seat), columns) }

// title says which game it is, and who is to move, at the other end of the line. What
// does not fit is left out: first the seat, then options, then the end of the name.
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

// toMove says who is to move in so many columns.
func (d *drawing) toMove(columns int) string {
	start, end := d.pick(" · ", ", "), " to move"
	who := d.name(d.p.Turn, 20)
	if seat := fmt.Sprintf(" (seat %d)", d.p.Turn); d.p.Names != nil && width(start+who+seat+end) <= columns {
		end = seat + end
	}
	return start + d.shorten(who, columns-width(start+end)) + end
}

// list returns the items of a list in a view: none when it is "-".
func list(value string) []string {
	if value == "" || value == "-" {
		return nil
	}
	return strings.Split(value, ",")
}

// itemAt returns item i, "" where there is none.
func itemAt(items []string, i int) string {
	if i < 0 || i >= len(items) {
		return ""
	}
	return items[i]
}
