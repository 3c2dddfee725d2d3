package env

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/podrida"
	"github.com/timba-arena/timba/referee/rules/tute"
)

// spread has, for each byte, its bits as eight bytes, the lowest first.
var spread = func() (s [256]uint64) {
	for b := range s {
		for bit := range 8 {
			s[b] |= uint64(b>>bit&1) << (8 * bit)
		}
	}
	return s
}()

// putSet writes a plane of cards and returns the rest.
func putSet(planes []uint8, cards baraja.Set) []uint8 {
	for i := range baraja.Cards / 8 {
		binary.LittleEndian.PutUint64(planes[8*i:], spread[uint8(cards>>(8*i))])
	}
	return planes[baraja.Cards:]
}

// single returns the set of one card.
func single(c baraja.Card) baraja.Set { return baraja.Set(0).With(c) }

// relative returns a seat as another one counts: itself is 0, the next 1.
func relative(seat, from, players int) int {
	if seat -= from; seat < 0 {
		seat += players
	}
	return seat
}

// seatPlanes appends a plane of cards for each seat from one on: name+1, name+2.
func seatPlanes(planes []Plane, name string, from, players int) []Plane {
	for r := from; r < players; r++ {
		planes = append(planes, Plane{fmt.Sprintf("%s+%d", name, r), baraja.Cards})
	}
	return planes
}

// seatNumbers appends a number for each seat.
func seatNumbers(numbers []string, name string, players int) []string {
	for r := range players {
		numbers = append(numbers, fmt.Sprintf("%s+%d", name, r))
	}
	return numbers
}

// tableShape returns what Brisca and Tute have in common.
func tableShape(players int) (s shape) {
	s.planes = []Plane{{"hand", baraja.Cards}, {"trump", baraja.Cards}}
	s.planes = seatPlanes(s.planes, "trick", 1, players)
	s.planes = seatPlanes(s.planes, "played", 0, players)
	s.planes = seatPlanes(s.planes, "known", 0, players)
	s.numbers = seatNumbers([]string{"trumps", "stock", "leader"}, "points", players)
	return s
}

// lookTable writes it and returns the rest.
func lookTable(t *baraja.Table, seat int, planes []uint8, numbers []int16) ([]uint8, []int16) {
	players := int(t.Players)
	planes = putSet(planes, t.Hands[seat])
	planes = putSet(planes, single(t.Trump))
	var lies [baraja.TableSeats]baraja.Set
	for i, c := range t.Trick() {
		lies[(int(t.Leader)+i)%players] = single(c)
	}
	for r := 1; r < players; r++ {
		planes = putSet(planes, lies[(seat+r)%players])
	}
	var played [baraja.TableSeats]baraja.Set
	t.PlayedBy(&played)
	for r := range players {
		planes = putSet(planes, played[(seat+r)%players])
	}
	for r := range players {
		planes = putSet(planes, t.Known[(seat+r)%players])
	}
	numbers[0], numbers[1] = int16(t.Trumps()), int16(t.Stock())
	numbers[2] = int16(relative(int(t.Leader), seat, players))
	for r := range players {
		numbers[3+r] = t.Points[(seat+r)%players]
	}
	return planes, numbers[3+players:]
}

func tablePoints(t *baraja.Table, dst []float32) {
	for seat := range dst {
		dst[seat] = float32(t.Points[seat])
	}
}

func briscaShape(r brisca.Rules) shape {
	s := tableShape(int(r.Players))
	s.widest, s.last, s.bytes = 4, "swap:12b", int(unsafe.Sizeof(brisca.State{})) // three cards and an exchange
	return s
}

func lookBrisca(s *brisca.State, seat int, planes []uint8, numbers []int16) {
	lookTable(&s.Table, seat, planes, numbers)
}

// suits is how many there are.
const suits = len(baraja.Suits)

func tuteShape(r tute.Rules) shape {
	s := tableShape(int(r.Players))
	s.numbers = seatNumbers(s.numbers, "declared", int(r.Players))
	for _, letter := range baraja.Suits {
		s.numbers = append(s.numbers, "sung:"+string(letter))
	}
	s.numbers = append(s.numbers, "choosing")
	s.widest, s.last, s.bytes = 9, "sing:b", int(unsafe.Sizeof(tute.State{})) // eight cards and an exchange
	return s
}

func lookTute(s *tute.State, seat int, planes []uint8, numbers []int16) {
	_, numbers = lookTable(&s.Table, seat, planes, numbers)
	players := int(s.Players)
	for r := range players {
		numbers[r] = int16(s.Declared[(seat+r)%players]) - 1
	}
	for suit := range suits {
		numbers[players+suit] = int16(s.Sung >> suit & 1)
	}
	numbers[players+suits] = flag(s.Choice != 0)
}

// flag returns 1 for true.
func flag(on bool) int16 {
	if on {
		return 1
	}
	return 0
}

func podridaShape(r podrida.Rules) (s shape) {
	players := int(r.Players)
	s.planes = []Plane{{"hand", baraja.Cards}, {"turned", baraja.Cards}}
	s.planes = seatPlanes(s.planes, "trick", 1, players)
	s.planes = seatPlanes(s.planes, "played", 0, players)
	s.numbers = []string{"trumps", "cards", "dealer", "leader", "bidding"}
	for _, name := range []string{"bid", "won", "points"} {
		s.numbers = seatNumbers(s.numbers, name, players)
	}
	s.widest, s.last, s.bytes = r.Max()+1, fmt.Sprintf("bid:%d", r.Max()), int(unsafe.Sizeof(podrida.State{}))
	return s
}

func lookPodrida(s *podrida.State, seat int, planes []uint8, numbers []int16) {
	players := int(s.Rules().Players)
	planes = putSet(planes, s.Hand(seat))
	planes = putSet(planes, single(s.Turned()))
	var lies [rules.MaxSeats]baraja.Set
	for i, c := range s.Trick() {
		lies[(s.Leader()+i)%players] = single(c)
	}
	for r := 1; r < players; r++ {
		planes = putSet(planes, lies[(seat+r)%players])
	}
	var played [rules.MaxSeats]baraja.Set
	s.PlayedBy(&played)
	for r := range players {
		planes = putSet(planes, played[(seat+r)%players])
	}
	numbers[0], numbers[1] = int16(s.Trumps()), int16(s.Cards())
	numbers[2] = int16(relative(s.Dealer(), seat, players))
	numbers[3] = int16(relative(s.Leader(), seat, players))
	numbers[4] = flag(s.Bidding())
	for r := range players {
		other := (seat + r) % players
		numbers[5+r] = int16(s.BidOf(other))
		numbers[5+players+r] = int16(s.Won(other))
		numbers[5+2*players+r] = int16(s.PointsOf(other))
	}
}

func podridaPoints(s *podrida.State, dst []float32) {
	for seat := range dst {
		dst[seat] = float32(s.PointsOf(seat))
	}
}
