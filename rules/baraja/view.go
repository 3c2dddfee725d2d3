package baraja

import (
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

// LogDeal logs the deal: to each seat its own cards, and to all seats the trump card. It must be called before the
// first move.
func (t *Table) LogDeal(log *rules.Log) {
	players := int(t.Players)
	for seat := range players {
		var hand []Card
		for n := seat; n < int(t.NextDraw); n += players {
			hand = append(hand, t.Pack[n])
		}
		log.Add(rules.OneSeat(seat), "deal", string(Text(nil, hand)))
	}
	log.Add(rules.AllSeats, "trump", t.Trump)
}

// View appends to dst what a seat may know, as "key=value" pairs. It writes only the keys that Brisca and Tute have
// in common.
func (t *Table) View(dst []byte, seat int) []byte {
	dst = append(dst, "hand="...)
	dst = t.Hands[seat].Text(dst)
	dst = append(dst, " trump="...)
	dst = append(dst, t.Trump.String()...)
	dst = append(dst, " stock="...)
	dst = strconv.AppendInt(dst, int64(t.StockSize()), 10)
	dst = append(dst, " leader="...)
	dst = strconv.AppendInt(dst, int64(t.Leader), 10)
	dst = append(dst, " trick="...)
	dst = Text(dst, t.Trick())
	for i, p := range t.Points[:t.Players] {
		dst = append(dst, separator(i, " points=", ",")...)
		dst = strconv.AppendInt(dst, int64(p), 10)
	}
	dst = append(dst, " played="...)
	dst = Text(dst, t.Pack[:t.PlayedCount-t.TrickSize])
	dst = t.leaders(append(dst, " leaders="...))
	for i, known := range t.KnownCards[:t.Players] {
		dst = append(dst, separator(i, " known=", "/")...)
		dst = known.Text(dst)
	}
	return dst
}

// leaders appends to dst the seats that led the finished tricks, in order and joined by commas, or "-" if
// there are none.
func (t *Table) leaders(dst []byte) []byte {
	finished := int(t.PlayedCount-t.TrickSize) / int(t.Players)
	if finished == 0 {
		return append(dst, '-')
	}
	for p := range t.Plays {
		if p.Led != NoCard {
			continue
		}
		dst = append(dst, '0'+byte(p.Seat))
		if finished--; finished == 0 {
			break
		}
		dst = append(dst, ',')
	}
	return dst
}

func separator(i int, key, sep string) string {
	if i == 0 {
		return key
	}
	return sep
}

// MoveText appends to dst the text of a move that plays a card, such as "12c", or exchanges one, such as
// "swap:7o". Any other move becomes a question mark and its number.
func MoveText(dst []byte, m rules.Move) []byte {
	switch {
	case m < SwapMove:
		return append(dst, Card(m).String()...)
	case m < SwapMove+Cards:
		dst = append(dst, "swap:"...)
		return append(dst, Card(m-SwapMove).String()...)
	}
	return strconv.AppendUint(append(dst, '?'), uint64(m), 10)
}

// ParseMove parses the text of a move: a card to play, such as "12c", or a card to exchange for the trump card, such
// as "swap:7o". It returns an error for any other text, but does not check whether the move is legal.
func ParseMove(text string) (rules.Move, error) {
	word, swap := strings.CutPrefix(text, "swap:")
	c, err := Parse(word)
	switch {
	case err != nil:
		return 0, phrase.Errorf("%q is not a move: write a card, as in 12c, or swap: and a card, as in swap:7o", text)
	case swap:
		return SwapMove + rules.Move(c), nil
	}
	return rules.Move(c), nil
}
