package draw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// Position is a position of a game to be drawn: what one seat sees of it, and what else is known.
type Position struct {
	Game    string
	Display rules.Display  // how to draw the game
	Options protocol.Pairs // options of the game, in the form of the protocol line "game"
	View    protocol.Pairs // what Seat sees, in the form of the protocol line "view"
	Seat    int
	Ply     int
	Turn    int      // the seat that is to move, or -1
	Names   []string // by seat; nil if unknown
	Open    []string // by seat, the views of other seats whose hands are drawn too; nil means none
	Last    string   // the move that led to the position, which is marked on a board; "" if there is none
	LastBy  int      // the seat that made the move Last
	Move    string   // the move that will be made in the position; "" if unknown
	// Keys has, by move, the text that a person types to make the move. The text is drawn below the card. If Keys
	// is nil, nothing is drawn below cards.
	Keys map[string]string
}

// Position draws a position with cards or a board, if the display of its game has them, or otherwise what the seat
// knows as text.
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

// drawing is the state of drawing a position.
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

// Name returns the name of a seat, or a text such as "seat 1" if names does not contain it.
func Name(names []string, seat int) string {
	if seat >= 0 && seat < len(names) {
		return Clean(names[seat])
	}
	return "seat " + strconv.Itoa(seat)
}

func (d *drawing) name(seat, columns int) string { return d.shorten(Name(d.p.Names, seat), columns) }

// title returns the first line of a drawing: the game and its options, the ply (number of moves so far), and who is
// to move. If the line is too long, title leaves out options, then the seat, and then the end of the name.
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

// toMove returns text with the seat that is to move, shortened to the given number of columns.
func (d *drawing) toMove(columns int) string {
	start, end := d.pick(" · ", ", "), " to move"
	who := d.name(d.p.Turn, 20)
	if seat := fmt.Sprintf(" (seat %d)", d.p.Turn); d.p.Names != nil && width(start+who+seat+end) <= columns {
		end = seat + end
	}
	return start + d.shorten(who, columns-width(start+end)) + end
}

func list(value string) []string {
	if value == "" || value == "-" {
		return nil
	}
	return strings.Split(value, ",")
}

func itemAt(items []string, i int) string {
	if i < 0 || i >= len(items) {
		return ""
	}
	return items[i]
}
