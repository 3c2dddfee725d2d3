// Package barajatest implements the table of Brisca and Tute a second time, slowly and plainly, with slices
// of words. It was written from the rules in SPEC.md and shares no code with package baraja; rulestest.Pair
// compares the two. Begin with Naive.
package barajatest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// Naive is the table of a game of Brisca or Tute: the hands, the stock (the cards still to be drawn), the trick
// and the points. Cards are texts such as "12c".
type Naive struct {
	Option       map[string]string // the values of the game's options
	Seats        int               // number of seats
	Hands        [][]string        // by seat
	KnownCards   [][]string        // by seat: the cards that all seats know to be in the hand
	Stock        []string          // cards still to be drawn; the trump card is last unless it is never drawn
	Trump        string            // the trump card
	TrumpOnTable bool              // the trump card still lies on the table
	Leader       int
	Trick        []string
	PlayedCards  []string // the cards of finished tricks
	Leaders      []string // by finished trick: the seat that led it
	Score        []int    // points by seat
	Over         bool
	Plies        int
	EventCounts  map[string]int // number of events that seat 0 got, by verb, or by verb and kind for instant wins

	unread [][]string // by seat: events since the last call of NewEvents
}

var (
	packOrder = strings.Fields("1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c 2c 3c 4c 5c 6c 7c 10c 11c 12c " +
		"1e 2e 3e 4e 5e 6e 7e 10e 11e 12e 1b 2b 3b 4b 5b 6b 7b 10b 11b 12b")
	byStrength = strings.Fields("2 4 5 6 7 10 11 12 3 1")
	worth      = map[string]int{"1": 11, "3": 10, "12": 4, "11": 3, "10": 2}
)

// Rank returns the rank of a card, such as "12" for "12c". Suit returns its suit, such as "c".
func Rank(card string) string { return card[:len(card)-1] }
func Suit(card string) string { return card[len(card)-1:] }

// Strength returns the strength of a card within its suit; a higher number beats a lower one.
func Strength(card string) int { return slices.Index(byStrength, Rank(card)) }

// NewNaive returns a table on which each seat was dealt perSeat cards from pack, the shuffled cards. option has the
// values of the game's options by name.
func NewNaive(option map[string]string, pack []string, perSeat int) *Naive {
	n, _ := strconv.Atoi(option["players"])
	g := &Naive{Option: option, Seats: n, TrumpOnTable: true, EventCounts: map[string]int{}}
	g.Hands, g.KnownCards = make([][]string, n), make([][]string, n)
	g.Score, g.unread = make([]int, n), make([][]string, n)
	for range perSeat {
		for seat := range n {
			g.Hands[seat] = append(g.Hands[seat], pack[0])
			pack = pack[1:]
		}
	}
	g.Trump, g.Stock = pack[0], slices.Clone(pack[1:])
	if n != 3 || option["without2"] == "yes" {
		g.Stock = append(g.Stock, g.Trump)
	}
	for seat := range n {
		g.Notify(seat, "deal "+strings.Join(g.Hands[seat], ","))
	}
	g.NotifyAll("trump %s", g.Trump)
	return g
}

func (g *Naive) Notify(seat int, event string) {
	g.unread[seat] = append(g.unread[seat], event)
	if words := strings.Fields(event); seat == 0 && words[0] == "instant" {
		g.EventCounts[words[0]+" "+words[2]]++
	} else if seat == 0 {
		g.EventCounts[words[0]]++
	}
}

func (g *Naive) NotifyAll(format string, args ...any) {
	for seat := range g.Seats {
		g.Notify(seat, fmt.Sprintf(format, args...))
	}
}

// NewEvents returns the events that a seat got since the last call for that seat.
func (g *Naive) NewEvents(seat int) []string {
	told := g.unread[seat]
	g.unread[seat] = nil
	return told
}

// Ply returns the number of moves made.
func (g *Naive) Ply() int { return g.Plies }

// Points returns the points by seat.
func (g *Naive) Points() (points []float64) {
	for _, n := range g.Score {
		points = append(points, float64(n))
	}
	return points
}

// Turn returns the seat that plays the next card, or rules.Over.
func (g *Naive) Turn() int {
	if g.Over {
		return rules.Over
	}
	return (g.Leader + len(g.Trick)) % g.Seats
}

// InPackOrder returns the cards in the order of the unshuffled pack.
func InPackOrder(cards []string) []string {
	sorted := slices.Clone(cards)
	slices.SortFunc(sorted, func(a, b string) int { return slices.Index(packOrder, a) - slices.Index(packOrder, b) })
	return sorted
}

// RemoveCard returns the given cards without the second argument.
func RemoveCard(cards []string, card string) []string {
	return slices.DeleteFunc(slices.Clone(cards), func(c string) bool { return c == card })
}

// Swaps returns the text of the move that exchanges a card of hand for the trump card, as a list of one element. The
// list is empty if there is no legal exchange.
func (g *Naive) Swaps(hand []string) []string {
	if g.Option["exchange"] == "no" || !g.TrumpOnTable {
		return nil
	}
	price := ""
	if slices.Contains([]string{"1", "3", "12", "11", "10"}, Rank(g.Trump)) {
		price = "7" + Suit(g.Trump)
	}
	if slices.Contains([]string{"7", "6", "5", "4"}, Rank(g.Trump)) {
		price = "2" + Suit(g.Trump)
	}
	if slices.Contains(hand, price) {
		return []string{"swap:" + price}
	}
	return nil
}

// Swap exchanges a card of the seat to move for the trump card.
func (g *Naive) Swap(card string) {
	seat := g.Turn()
	g.Hands[seat] = append(RemoveCard(g.Hands[seat], card), g.Trump)
	g.KnownCards[seat] = append(RemoveCard(g.KnownCards[seat], card), g.Trump)
	if slices.Contains(g.Stock, g.Trump) {
		g.Stock[len(g.Stock)-1] = card
	}
	g.Trump = card
	g.NotifyAll("swap %d %s", seat, card)
}

// PlayCard plays a card and reports whether the trick is complete.
func (g *Naive) PlayCard(card string) bool {
	seat := g.Turn()
	g.Hands[seat], g.KnownCards[seat] = RemoveCard(g.Hands[seat], card), RemoveCard(g.KnownCards[seat], card)
	g.Trick = append(g.Trick, card)
	g.NotifyAll("play %d %s", seat, card)
	return len(g.Trick) == g.Seats
}

// Winner returns the index, in the current trick, of the card that wins the trick.
func (g *Naive) Winner() int {
	for _, suit := range []string{Suit(g.Trump), Suit(g.Trick[0])} {
		for i := len(byStrength) - 1; i >= 0; i-- {
			if at := slices.Index(g.Trick, byStrength[i]+suit); at >= 0 {
				return at
			}
		}
	}
	panic("nobody wins")
}

// FinishTrick gives the trick to its winner. It calls song with the number of the winner's seat; in Tute, song can
// then score a 12 and 11 that this seat has declared. Then all seats draw, unless the game has ended. FinishTrick
// reports whether the game continues.
func (g *Naive) FinishTrick(song func(winner int)) bool {
	last := !slices.ContainsFunc(g.Hands, func(hand []string) bool { return len(hand) > 0 })
	points := 0
	for _, card := range g.Trick {
		points += worth[Rank(card)]
	}
	if last && g.Option["last10"] == "yes" {
		points += 10
	}
	seat := (g.Leader + g.Winner()) % g.Seats
	g.Score[seat] += points
	g.NotifyAll("trick %d %d", seat, points)
	song(seat)
	one, three := "1"+Suit(g.Trump), "3"+Suit(g.Trump)
	hunted := slices.Equal(g.Trick, []string{three, one}) || last && slices.Equal(g.Trick, []string{one, three})
	g.Leaders = append(g.Leaders, strconv.Itoa(g.Leader))
	g.Leader, g.PlayedCards, g.Trick = seat, append(g.PlayedCards, g.Trick...), nil
	if hunted && g.Option["hunt3"] == "yes" {
		g.NotifyAll("instant %d hunt3", seat)
		g.win([]int{seat})
		return false
	}
	if last {
		g.Over = true
		return false
	}
	for i := range g.Seats {
		if len(g.Stock) > 0 {
			g.draw((g.Leader + i) % g.Seats)
		}
	}
	return true
}

func (g *Naive) draw(seat int) {
	card := g.Stock[0]
	g.Stock = g.Stock[1:]
	g.Hands[seat] = append(g.Hands[seat], card)
	if card == g.Trump {
		g.TrumpOnTable = false
		g.KnownCards[seat] = append(g.KnownCards[seat], card)
	}
	for other := range g.Seats {
		if other == seat || card == g.Trump {
			g.Notify(other, fmt.Sprintf("draw %d %s", seat, card))
		} else {
			g.Notify(other, fmt.Sprintf("draw %d ?", seat))
		}
	}
}

// CheckInstantWins ends the game if any seat holds a hand that wins at once: 1, 3 and 12 of trumps if the option
// blackhand is set, and four 12s or four 11s if tute is set. It sends the events of these wins, beginning with
// the seat that leads the trick.
func (g *Naive) CheckInstantWins(tute bool) {
	var winners []int
	for i := range g.Seats {
		seat := (g.Leader + i) % g.Seats
		count := map[string]int{}
		for _, card := range g.Hands[seat] {
			count[Rank(card)]++
			if Suit(card) == Suit(g.Trump) && slices.Contains([]string{"1", "3", "12"}, Rank(card)) {
				count["black"]++
			}
		}
		if count["black"] == 3 && g.Option["blackhand"] == "yes" {
			g.NotifyAll("instant %d blackhand", seat)
			winners = append(winners, seat)
		}
		if tute && (count["12"] == 4 || count["11"] == 4) {
			g.NotifyAll("instant %d tute", seat)
			winners = append(winners, seat)
		}
	}
	if len(winners) > 1 {
		g.EventCounts["two at once"]++
	}
	if len(winners) > 0 {
		g.win(winners)
	}
}

func (g *Naive) win(seats []int) {
	full := 120
	if g.Option["last10"] == "yes" {
		full = 130
	}
	g.Score = make([]int, g.Seats)
	for _, seat := range seats {
		g.Score[seat] = full
	}
	g.Over = true
}

// List joins words by commas. It returns "-" if there are none.
func List(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}

// View returns what a seat may know of the game, as the text of a "view" line of the protocol.
func (g *Naive) View(seat int) string {
	var points, known []string
	for other := range g.Seats {
		points = append(points, strconv.Itoa(g.Score[other]))
		known = append(known, List(InPackOrder(g.KnownCards[other])))
	}
	return fmt.Sprintf("hand=%s trump=%s stock=%d leader=%d trick=%s points=%s played=%s leaders=%s known=%s",
		List(InPackOrder(g.Hands[seat])), g.Trump, len(g.Stock), g.Leader, List(g.Trick),
		strings.Join(points, ","), List(g.PlayedCards), List(g.Leaders), strings.Join(known, "/"))
}

// Pick returns one of the legal moves. In mode 0 it is random. Modes 1 and 2 make rare events more frequent: mode
// 1 avoids playing the high trumps, and mode 2 leads the 3 of trumps or captures it with the 1.
func (g *Naive) Pick(legal []string, mode int, r *rules.Rand) string {
	one, three, king := "1"+Suit(g.Trump), "3"+Suit(g.Trump), "12"+Suit(g.Trump)
	move := legal[r.Below(len(legal))]
	switch {
	case mode == 1 && slices.Contains([]string{one, three, king}, move):
		return legal[r.Below(len(legal))]
	case mode == 2 && len(g.Trick) == 0 && slices.Contains(legal, three):
		return three
	case mode == 2 && slices.Contains(g.Trick, three) && slices.Contains(legal, one):
		return one
	case mode == 2 && move == one:
		return legal[r.Below(len(legal))]
	}
	return move
}
