package env

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tebes"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/rules/tute"
)

// rowWriter writes what a seat may know of one game into two arrays of the message to the client. The array
// "planes" has only zeros and ones, such as one number for each card; "numbers" has other numbers. If layout is not
// nil, rowWriter writes no values, but appends the names of planes and numbers to layout.
type rowWriter struct {
	planes  []uint8
	numbers []byte
	plane   int // offset of the next plane
	number  int // offset of the next number
	layout  *Layout
}

// Plane is a group of columns of the array "planes", such as the cards of a hand: Size bytes, each 0 or 1.
type Plane struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// bitBytes has, for each value of a byte, its eight bits as eight bytes. The lowest bit comes first.
var bitBytes = func() (s [256]uint64) {
	for b := range s {
		for bit := range 8 {
			s[b] |= uint64(b>>bit&1) << (8 * bit)
		}
	}
	return s
}()

func (r *rowWriter) writeCards(name string, cards baraja.Set) {
	if r.layout != nil {
		r.layout.Planes = append(r.layout.Planes, Plane{name, baraja.Cards})
		return
	}
	r.putCards(cards)
}

func (r *rowWriter) putCards(cards baraja.Set) {
	plane := r.planes[r.plane : r.plane+baraja.Cards]
	for i := range baraja.Cards / 8 {
		binary.LittleEndian.PutUint64(plane[8*i:], bitBytes[uint8(cards>>(8*i))])
	}
	r.plane += baraja.Cards
}

// writeSeatCards writes the cards of each seat as a plane of zeros and ones. cards has the cards by seat. The order
// is that of turns, and begins with the observing seat, which is the argument seat. If from is 1, the observing
// seat is left out; if from is 0, it is not.
func (r *rowWriter) writeSeatCards(name string, from, seat int, cards []baraja.Set) {
	if r.layout != nil {
		for n := from; n < len(cards); n++ {
			r.writeCards(fmt.Sprintf("%s+%d", name, n), 0)
		}
		return
	}
	for n := range cards {
		if n >= from {
			r.putCards(cards[seat])
		}
		if seat++; seat == len(cards) {
			seat = 0
		}
	}
}

// writeBoard writes the board as size*size zeros and ones, row by row. In the bits of board, a row begins apart
// bits after the row before.
func (r *rowWriter) writeBoard(name string, board uint64, size, apart int) {
	if r.layout != nil {
		r.layout.Planes = append(r.layout.Planes, Plane{name, size * size})
		return
	}
	plane := r.planes[r.plane : r.plane+size*size]
	clear(plane)
	for ; board != 0; board &= board - 1 {
		square := bits.TrailingZeros64(board)
		plane[square/apart*size+square%apart] = 1
	}
	r.plane += size * size
}

func (r *rowWriter) add(name string, n int) {
	if r.layout != nil {
		r.layout.Numbers = append(r.layout.Numbers, name)
		return
	}
	binary.LittleEndian.PutUint16(r.numbers[r.number:], uint16(n))
	r.number += 2
}

func (r *rowWriter) writeFlag(name string, on bool) {
	if on {
		r.add(name, 1)
	} else {
		r.add(name, 0)
	}
}

// writeSeatNumbers writes a number for each seat, which it gets by calling the function number. The order is that
// of turns, and begins with the observing seat, which is the argument seat.
func (r *rowWriter) writeSeatNumbers(name string, players, seat int, number func(seat int) int) {
	if r.layout != nil {
		for n := range players {
			r.add(fmt.Sprintf("%s+%d", name, n), 0)
		}
		return
	}
	numbers := r.numbers[r.number : r.number+2*players]
	r.number += 2 * players
	for n := range players {
		binary.LittleEndian.PutUint16(numbers[2*n:], uint16(number(seat)))
		if seat++; seat == players {
			seat = 0
		}
	}
}

// writeTricks writes planes (zeros and ones for cards) in the order of turns, from the observing seat on, which is
// the argument seat. First come the cards of the other seats in the current trick; its first card is that of the
// seat leader. Then come the cards that each seat has played so far, which the argument played has by seat.
func (r *rowWriter) writeTricks(leader int, trick []baraja.Card, seat int, played []baraja.Set) {
	var lies [rules.MaxSeats]baraja.Set
	for _, c := range trick {
		lies[leader] = cardSet(c)
		if leader++; leader == len(played) {
			leader = 0
		}
	}
	r.writeSeatCards("trick", 1, seat, lies[:len(played)])
	r.writeSeatCards("played", 0, seat, played)
}

func cardSet(c baraja.Card) baraja.Set { return baraja.Set(0).With(c) }

// relative returns how many turns seat comes after the seat from, in a game with the given number of players.
func relative(seat, from, players int) int {
	if seat -= from; seat < 0 {
		seat += players
	}
	return seat
}

// writeTable writes the planes and numbers that observations of Brisca and Tute have in common. They show what
// the given seat may know.
func (r *rowWriter) writeTable(t *baraja.Table, seat int) {
	players := int(t.Players)
	var played [baraja.TableSeats]baraja.Set
	t.PlayedBy(&played)
	r.writeCards("hand", t.Hands[seat])
	r.writeCards("trump", cardSet(t.Trump))
	r.writeTricks(int(t.Leader), t.Trick(), seat, played[:players])
	r.writeSeatCards("known", 0, seat, t.KnownCards[:players])
	r.add("trumps", int(t.Trumps()))
	r.add("stock", t.StockSize())
	r.add("leader", relative(int(t.Leader), seat, players))
	r.writeSeatNumbers("points", players, seat, func(s int) int { return int(t.Points[s]) })
}

func observeBrisca(s *brisca.State, seat int, r *rowWriter) { r.writeTable(&s.Table, seat) }

func observeTute(s *tute.State, seat int, r *rowWriter) {
	r.writeTable(&s.Table, seat)
	r.writeSeatNumbers("declared", int(s.Players), seat, func(seat int) int { return int(s.DeclaredSuits[seat]) - 1 })
	for suit, name := range [...]string{"sung:o", "sung:c", "sung:e", "sung:b"} {
		r.add(name, int(s.SungSuits>>suit&1))
	}
	r.writeFlag("choosing", s.SongChoice != 0)
}

func observePodrida(s *podrida.State, seat int, r *rowWriter) {
	players := int(s.Rules().Players)
	var played [rules.MaxSeats]baraja.Set
	s.PlayedBy(&played)
	r.writeCards("hand", s.Hand(seat))
	r.writeCards("turned", cardSet(s.TrumpCard()))
	r.writeTricks(s.Leader(), s.Trick(), seat, played[:players])
	r.add("trumps", int(s.Trumps()))
	r.add("cards", s.HandSize())
	r.add("dealer", relative(s.Dealer(), seat, players))
	r.add("leader", relative(s.Leader(), seat, players))
	r.writeFlag("bidding", s.IsBidding())
	r.writeSeatNumbers("bid", players, seat, s.BidOf)
	r.writeSeatNumbers("won", players, seat, s.TricksWon)
	r.writeSeatNumbers("points", players, seat, s.PointsOf)
}

func observeTebes(s *tebes.State, seat int, r *rowWriter) {
	size := int(s.Rules().Size)
	r.writeBoard("own", uint64(s.Pieces(seat)), size, 8)
	r.writeBoard("other", uint64(s.Pieces(1-seat)), size, 8)
	r.writeBoard("black", uint64(s.BlackSquares()), size, 8)
	r.add("seat", seat)
	r.writeFlag("extra+0", s.HasExtra(seat))
	r.writeFlag("extra+1", s.HasExtra(1-seat))
	r.writeFlag("bonus", s.IsExtraMove())
}

const teekoSize = 5

func observeTeeko(s *teeko.State, seat int, r *rowWriter) {
	r.writeBoard("own", uint64(s.Pieces(seat)), teekoSize, teekoSize)
	r.writeBoard("other", uint64(s.Pieces(1-seat)), teekoSize, teekoSize)
	r.add("seat", seat)
	r.writeFlag("placing", s.IsPlacing())
}
