package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// suits says how the four Spanish suits are drawn. Spades stand for swords, the French clubs for bastos, and
// hearts for cups.
var suits = [4]struct{ symbol, name, colour string }{
	{"●", "oros", yellow},
	{"♥", "copas", red},
	{"♠", "espadas", blue},
	{"♣", "bastos", green},
}

// suit draws the symbol of a suit, or its letter in a terminal without Unicode.
func (s Style) suit(n baraja.Suit) string {
	return s.paint(suits[n].colour, s.pick(suits[n].symbol, n.String()))
}

// Legend returns lines, each with LF, that explain the symbols of the suits. It returns "" for a game without suits.
func (s Style) Legend(d rules.Display) string {
	if d.Cards == nil || d.Cards.Ranks == nil {
		return ""
	}
	var words []string
	for n := range baraja.Suit(4) {
		words = append(words, s.suit(n)+" "+suits[n].name+s.pick(" ("+n.String()+")", ""))
	}
	if gap := strings.Repeat(" ", 3); width(strings.Join(words, gap)) < s.Columns() {
		return strings.Join(words, gap) + "\n"
	}
	return s.List(words)
}

// Card draws a card, such as 12c, as its rank and the symbol of its suit. It returns other texts unchanged,
// except that it replaces unprintable characters.
func (s Style) Card(text string) string {
	c, err := baraja.Parse(text)
	if err != nil {
		return Clean(text)
	}
	n := c.Suit()
	return s.paint(suits[n].colour, strconv.Itoa(c.Rank())+s.pick(suits[n].symbol, n.String()))
}

// Words returns text, the words of an event or a move, with each card such as 12c replaced by its drawing.
func (s Style) Words(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		i := strings.IndexAny(text, " ,:/=")
		word, sep := text, ""
		if i >= 0 {
			word, sep = text[:i], text[i:i+1]
		}
		text = text[len(word)+len(sep):]
		out.WriteString(s.Card(word))
		out.WriteString(sep)
	}
	return out.String()
}

// boxes draws cards as boxes side by side, in rows of at most the given number of columns, each with a caption
// below. The card "" stands for an empty place.
func (s Style) boxes(cards, captions []string, columns int) block {
	perRow := max(1, (columns-1)/4)
	var all block
	for start := 0; start < len(cards); start += perRow {
		end := min(start+perRow, len(cards))
		all = append(all, s.boxRow(cards[start:end], captions[min(start, len(captions)):min(end, len(captions))])...)
	}
	return all
}

func (s Style) boxRow(cards, captions []string) block {
	n := len(cards)
	edge := func(left, middle, end string) string {
		h := s.pick("───", "---")
		return s.Dim(s.pick(left, "+") + strings.Repeat(h+s.pick(middle, "+"), n-1) + h + s.pick(end, "+"))
	}
	bar := s.Dim(s.pick("│", "|"))
	face, below := bar, ""
	for i, card := range cards {
		if card = s.Card(card); width(card) > 3 {
			card = "???" // a text that is no card must not break the box
		}
		face += padLeft(card, 3) + bar
		below += " " + centre(itemAt(captions, i), 3)
	}
	rows := block{edge("┌", "┬", "┐"), face, edge("└", "┴", "┘")}
	if below = strings.TrimRight(below, " "); below != "" {
		rows = append(rows, below)
	}
	return rows
}

func (s Style) withTitle(title string, b block) block {
	return append(block{s.Dim(title)}, b...)
}

// table draws a position of a card game: trump, stock, the current trick, the seats and the hand.
func (d *drawing) table(c *rules.Cards) block {
	v := d.p.View
	var middle []block
	if trump, ok := v.Lookup("trump"); ok {
		middle = append(middle, d.withTitle("trump", d.boxes([]string{string(trump)}, nil, 8)))
	}
	if stock, ok := v.Lookup("stock"); ok {
		middle = append(middle, d.withTitle("stock", d.boxes([]string{string(stock)}, nil, 8)))
	}
	if v.Int("round") > 0 {
		about := block{"", "round " + v.Get("round"), "cards " + v.Get("cards"), "dealer " + v.Get("dealer")}
		middle = append(middle, about)
	}
	if !d.isCrowded() {
		middle = append(middle, d.trick(c))
	}
	body := arrange(d.Columns()-1, 3, middle...)
	body = append(body, "")
	body = append(body, d.seatTable(c)...)
	body = append(body, "")
	hand := list(v.Get(c.Hand))
	cards := d.boxes(hand, d.captions(hand), d.Columns()-2)
	if len(hand) == 0 {
		cards = block{"-"}
	}
	body = append(body, d.withTitle("hand of seat "+strconv.Itoa(d.p.Seat), cards)...)
	return append(body, d.playedCards(c)...)
}

// isCrowded reports whether the cards of a trick do not fit in a row. They are then drawn in the table of seats.
func (d *drawing) isCrowded() bool { return 4*d.seats+1 > d.Columns()-1 }

// trickCards returns the cards of the current trick in the order of play. leader is the seat that played the first
// card. winning is the index of the card that would win the trick now, or -1.
func (d *drawing) trickCards(c *rules.Cards) (cards []string, leader, winning int) {
	cards = list(d.p.View.Get(c.Trick))
	leader = max(0, d.p.Turn) + d.seats - len(cards)%d.seats // if the view does not have it
	if _, ok := d.p.View.Lookup("leader"); ok {
		leader = d.p.View.Int("leader")
	}
	return cards, leader, d.winningCard(cards, c.Ranks)
}

// trick draws the cards of the current trick with their seats. It marks the card that would win now.
func (d *drawing) trick(c *rules.Cards) block {
	cards, leader, winning := d.trickCards(c)
	var faces, seats []string
	for i := range d.seats {
		faces = append(faces, itemAt(cards, i))
		seat := strconv.Itoa((leader + i) % d.seats)
		switch {
		case i == winning:
			seat = d.Bold(seat + "*")
		case i >= len(cards):
			seat = d.Dim(seat)
		}
		seats = append(seats, seat)
	}
	return d.withTitle("trick, by seat", d.boxes(faces, seats, d.Columns()-1))
}

// trickColumn returns a column for the table of seats: the card of each seat in the current trick. A star marks the
// card that would win the trick now.
func (d *drawing) trickColumn(c *rules.Cards) []string {
	cards, leader, winning := d.trickCards(c)
	column := make([]string, d.seats)
	for i, card := range cards {
		mark := " "
		if i == winning {
			mark = "*"
		}
		if seat := (leader + i) % d.seats; seat >= 0 {
			column[seat] = d.Card(card) + mark
		}
	}
	return column
}

// winningCard returns the index in trick of the card that would win the trick now, or -1. ranks has the ranks of
// cards, the weakest first.
func (d *drawing) winningCard(trick []string, ranks []int) int {
	trump, err := baraja.Parse(d.p.View.Get("trump"))
	if err != nil {
		return -1
	}
	best, top := -1, 0
	var led baraja.Suit
	for i, text := range trick {
		c, err := baraja.Parse(text)
		if err != nil {
			return -1
		}
		if i == 0 {
			led = c.Suit()
		}
		rank := 1 + slices.Index(ranks, c.Rank())
		switch c.Suit() {
		case trump.Suit():
			rank += 200
		case led:
			rank += 100
		}
		if rank > top {
			best, top = i, rank
		}
	}
	return best
}

// captions returns the text below each card of a hand: what a person types to play the card, or a mark if the next
// move plays it.
func (d *drawing) captions(hand []string) []string {
	captions := make([]string, len(hand))
	for i, card := range hand {
		captions[i] = d.Dim(d.p.Keys[card])
		if card == d.p.Move || "swap:"+card == d.p.Move {
			captions[i] = d.Bold(d.pick("▲", "^"))
		}
	}
	return captions
}

// playedCards lists the cards of the finished tricks, by suit if the game has suits. It also lists the suits in
// which a seat has declared king and knight (a bonus).
func (d *drawing) playedCards(c *rules.Cards) block {
	var out block
	if sung := list(d.p.View.Get("sung")); len(sung) > 0 {
		line := d.Dim("sung")
		for _, suit := range sung {
			line += "  " + d.SuitOf(suit)
		}
		out = append(out, line)
	}
	var bySuit [4][]int
	played := list(d.p.View.Get("played"))
	for _, text := range played {
		if card, err := baraja.Parse(text); err == nil {
			bySuit[card.Suit()] = append(bySuit[card.Suit()], card.Rank())
		}
	}
	if len(played) == 0 {
		return out
	}
	if c.Ranks == nil {
		words := []string{d.Dim("gone")}
		for _, card := range played {
			words = append(words, d.Card(card))
		}
		return append(out, wrap(words, d.Columns()-1)...)
	}
	var cells []block
	for n := range baraja.Suit(4) {
		slices.Sort(bySuit[n])
		line := d.suit(n)
		for _, rank := range bySuit[n] {
			line += " " + strconv.Itoa(rank)
		}
		if len(bySuit[n]) == 0 {
			line += " -"
		}
		cells = append(cells, block{pad(line, min(30, d.Columns()-8))})
	}
	lines := arrange(d.Columns()-8, 2, cells...)
	for i := range lines {
		lines[i] = pad(map[bool]string{true: d.Dim("gone")}[i == 0], 6) + lines[i]
	}
	return append(out, lines...)
}
