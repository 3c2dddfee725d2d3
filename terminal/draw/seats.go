package draw

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// seatColumns are the columns of the table of seats (the players of a card game). key is a key in the view line of
// the protocol. Its value has an entry for each seat, separated by commas.
var seatColumns = []struct{ head, key string }{
	{" bid", "bids"},
	{" won", "tricks"},
	{" points", "points"},
	{"sings", "declared"},
}

// The index of the column with names in the table of seats, and the smallest and largest width of that column.
const (
	nameColumn = 2
	minName    = 5
	maxName    = 18
)

// seatTable draws a table of the seats in a card game, with a row for each seat. Below the row are the seat's hand,
// if that is shown, or the cards of the seat that all seats know.
func (d *drawing) seatTable(c *rules.Cards) block {
	head := []string{"  ", " seat", "bot"} // the first column is one column wide
	teams := d.p.Options.Get("teams") == "yes"
	if teams {
		head = append(head, "team")
	}
	var columns [][]string
	for _, c := range seatColumns {
		value, ok := d.p.View.Lookup(c.key)
		if !ok {
			continue
		}
		var cells []string
		for _, text := range strings.Split(string(value), ",") {
			if c.key == "declared" {
				cells = append(cells, d.SuitOf(text))
			} else {
				cells = append(cells, Clean(text))
			}
		}
		columns = append(columns, cells)
		head = append(head, c.head)
	}
	if d.isCrowded() {
		columns = append(columns, d.trickColumn(c))
		head = append(head, " trick")
	}
	rows := [][]string{head}
	for seat := range d.seats {
		mark := ""
		if seat == d.p.Turn {
			mark = d.Bold(d.pick("▸", ">"))
		}
		row := []string{mark, strconv.Itoa(seat), Name(d.p.Names, seat)}
		if teams {
			row = append(row, "AB"[seat%2:seat%2+1])
		}
		for _, cells := range columns {
			row = append(row, itemAt(cells, seat))
		}
		rows = append(rows, row)
	}
	return d.spread(rows)
}

// spread draws the table of seats from its rows. If the table is too wide for the terminal, spread reduces first
// the gaps between columns and then the names.
func (d *drawing) spread(rows [][]string) block {
	gap, room := 2, d.Columns()-1
	widths, all := widthsOf(rows, gap)
	name := min(maxName, widths[nameColumn])
	if all-widths[nameColumn]+name > room {
		gap = 1
		_, all = widthsOf(rows, gap)
		name = min(name, max(minName, room-(all-widths[nameColumn])))
	}
	for i, row := range rows[1:] {
		row[nameColumn] = d.shorten(row[nameColumn], name)
		if i == d.p.Seat {
			row[nameColumn] = d.Bold(row[nameColumn])
		}
	}
	var lines block
	for i, line := range d.grid(rows, gap) {
		lines = append(lines, line)
		if i > 0 {
			lines = append(lines, d.cardsBelow(i-1)...)
		}
	}
	return lines
}

// cardsBelow returns the lines below a seat's row in the table of seats: the seat's hand if it is shown, otherwise
// the cards in the hand that all seats know.
func (d *drawing) cardsBelow(seat int) block {
	words, open := d.openHand(seat)
	if !open {
		for _, card := range list(itemAt(strings.Split(d.p.View.Get("known"), "/"), seat)) {
			words = append(words, d.Card(card))
		}
		if len(words) > 0 {
			words = append([]string{d.Dim("holds")}, words...)
		}
	}
	return wrap(words, d.Columns()-12).indent(9)
}

// openHand returns the drawn cards of another seat's hand. open is false if the hand is not shown.
func (d *drawing) openHand(seat int) (cards []string, open bool) {
	if seat == d.p.Seat || itemAt(d.p.Open, seat) == "" {
		return nil, false
	}
	for _, card := range list(protocol.Pairs(d.p.Open[seat]).Get(d.p.Display.Cards.Hand)) {
		cards = append(cards, d.Card(card))
	}
	return cards, len(cards) > 0
}
