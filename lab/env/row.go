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

// rowWriter writes one game's rows of the arrays "planes" and "numbers". If layout is not nil, it writes
// nothing and adds the names of the parts to the layout instead.
type rowWriter struct {
	planes  []uint8
	numbers []byte
	plane   int // offset of the next plane
	number  int // offset of the next number
	layout  *Layout
}

// Plane is a part of the array "planes": Size bytes, each 0 or 1.
type Plane struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// bitBytes has for each byte value its eight bits as bytes, the lowest bit first.
var bitBytes = func() (s [256]uint64) {
	for b := range s {
		for bit := range 8 {
			s[b] |= uint64(b>>bit&1) << (8 * bit)
		}
	}
	return s
}()

// cards writes a plane of a set of cards.
func (r *rowWriter) cards(name string, cards baraja.Set) {
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

// seatCards writes a plane for each seat, from the observing one, seat, on in the order of turns, with the
// cards that cards has for it. If from is 1, the observing seat is left out.
func (r *rowWriter) seatCards(name string, from, seat int, cards []baraja.Set) {
	if r.layout != nil {
		for n := from; n < len(cards); n++ {
			r.cards(fmt.Sprintf("%s+%d", name, n), 0)
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

// board writes a plane of size*size squares from a bit board. In the bit board, each row starts apart bits
// after the previous one.
func (r *rowWriter) board(name string, board uint64, size, apart int) {
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

// flag writes 1 for true and 0 for false.
func (r *rowWriter) flag(name string, on bool) {
	if on {
		r.add(name, 1)
	} else {
		r.add(name, 0)
	}
}

// seatNumbers writes what number returns for each seat, from the observing one, seat, on in the order of
// turns.
func (r *rowWriter) seatNumbers(name string, players, seat int, number func(seat int) int) {
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

// tricks writes planes with the card that each seat has played to the current trick, which begins with the
// leader's card, and planes with the cards that each has played so far, played. The order starts with the
// observing seat, whose card in the trick is left out.
func (r *rowWriter) tricks(leader int, trick []baraja.Card, seat int, played []baraja.Set) {
	var lies [rules.MaxSeats]baraja.Set
	for _, c := range trick {
		lies[leader] = cardSet(c)
		if leader++; leader == len(played) {
			leader = 0
		}
	}
	r.seatCards("trick", 1, seat, lies[:len(played)])
	r.seatCards("played", 0, seat, played)
}

func cardSet(c baraja.Card) baraja.Set { return baraja.Set(0).With(c) }

// relative returns how many turns the given seat comes after the seat from, in a game with a number of
// players.
func relative(seat, from, players int) int {
	if seat -= from; seat < 0 {
		seat += players
	}
	return seat
}

// table writes the part of an observation that Brisca and Tute have in common, as the given seat sees it.
func (r *rowWriter) table(t *baraja.Table, seat int) {
	players := int(t.Players)
	var played [baraja.TableSeats]baraja.Set
	t.PlayedBy(&played)
	r.cards("hand", t.Hands[seat])
	r.cards("trump", cardSet(t.Trump))
	r.tricks(int(t.Leader), t.Trick(), seat, played[:players])
	r.seatCards("known", 0, seat, t.KnownCards[:players])
	r.add("trumps", int(t.Trumps()))
	r.add("stock", t.StockSize())
	r.add("leader", relative(int(t.Leader), seat, players))
	r.seatNumbers("points", players, seat, func(s int) int { return int(t.Points[s]) })
}

func observeBrisca(s *brisca.State, seat int, r *rowWriter) { r.table(&s.Table, seat) }

func observeTute(s *tute.State, seat int, r *rowWriter) {
	r.table(&s.Table, seat)
	r.seatNumbers("declared", int(s.Players), seat, func(seat int) int { return int(s.DeclaredSuits[seat]) - 1 })
	for suit, name := range [...]string{"sung:o", "sung:c", "sung:e", "sung:b"} {
		r.add(name, int(s.SungSuits>>suit&1))
	}
	r.flag("choosing", s.SongChoice != 0)
}

func observePodrida(s *podrida.State, seat int, r *rowWriter) {
	players := int(s.Rules().Players)
	var played [rules.MaxSeats]baraja.Set
	s.PlayedBy(&played)
	r.cards("hand", s.Hand(seat))
	r.cards("turned", cardSet(s.TrumpCard()))
	r.tricks(s.Leader(), s.Trick(), seat, played[:players])
	r.add("trumps", int(s.Trumps()))
	r.add("cards", s.HandSize())
	r.add("dealer", relative(s.Dealer(), seat, players))
	r.add("leader", relative(s.Leader(), seat, players))
	r.flag("bidding", s.IsBidding())
	r.seatNumbers("bid", players, seat, s.BidOf)
	r.seatNumbers("won", players, seat, s.TricksWon)
	r.seatNumbers("points", players, seat, s.PointsOf)
}

func observeTebes(s *tebes.State, seat int, r *rowWriter) {
	size := int(s.Rules().Size)
	r.board("own", uint64(s.Pieces(seat)), size, 8)
	r.board("other", uint64(s.Pieces(1-seat)), size, 8)
	r.board("black", uint64(s.BlackSquares()), size, 8)
	r.add("seat", seat)
	r.flag("extra+0", s.HasExtra(seat))
	r.flag("extra+1", s.HasExtra(1-seat))
	r.flag("bonus", s.IsExtraMove())
}

const teekoSize = 5

func observeTeeko(s *teeko.State, seat int, r *rowWriter) {
	r.board("own", uint64(s.Pieces(seat)), teekoSize, teekoSize)
	r.board("other", uint64(s.Pieces(1-seat)), teekoSize, teekoSize)
	r.add("seat", seat)
	r.flag("placing", s.IsPlacing())
}
