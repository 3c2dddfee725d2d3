package tute

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal shuffles what a seat cannot see: the other hands, but for the cards
// that all know to be there, and the stock above the trump card. A seat that is
// choosing what to sing keeps what it may choose from, so that it still has the
// choice. No hand gets what it would have declared in this trick, or would have
// had to play since the last draw. A game that is over is left as it is.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover < 0 {
		return
	}
	known := s.KnownCards
	for suit := range baraja.Suit(suits) {
		if s.Choice>>suit&1 != 0 {
			s.KnownCards[s.Mover] |= Pair(suit)
		}
	}
	s.redeal(seat, s.Choice, r)
	s.KnownCards = known
}

// redeal reports whether it has found a deal, with a choice if there is to be one.
func (s *State) redeal(seat int, choice uint8, r *rules.Rand) bool {
	possible := func() bool { return s.possible() && (choice == 0 || s.Choice == choice) }
	return s.Table.Redeal(seat, s.cannotHold(), possible, r)
}

// possible reports whether the hands fit what is declared, and finds out who is
// choosing a song. No hand may have won at once.
func (s *State) possible() bool {
	if s.HasInstantWin(s.rules.BlackHand, true) {
		return false
	}
	s.Choice, s.askedCount = 0, s.Players
	for i := range s.Players {
		seat := int(s.Leader+i) % int(s.Players)
		if s.Choice != 0 { // who comes after the seat that is choosing has not been asked
			if s.DeclaredSuits[seat] != 0 {
				return false
			}
			continue
		}
		pairs := s.pairs(s.HandAndTrickCard(seat))
		trumps := pairs & (1 << s.Trumps())
		switch {
		case trumps != 0 && int(s.DeclaredSuits[seat]) == int(s.Trumps())+1:
		case trumps != 0 && !s.mayHaveSwapped(seat):
			return false
		case pairs == trumps || s.DeclaredSuits[seat] != 0:
		case s.InTrick == 0 && int(s.Mover) == seat && pairs&(pairs-1) != 0 && trumps == 0:
			s.Choice, s.askedCount = pairs, i
		default:
			return false
		}
	}
	return s.InTrick > 0 || s.Choice != 0 || s.Mover == int8(s.Leader)
}

// mayHaveSwapped reports whether a seat may have completed the pair of trumps by an
// exchange in this trick, too late to declare it.
func (s *State) mayHaveSwapped(seat int) bool {
	moved := seat == int(s.Mover) || s.HandAndTrickCard(seat) != s.Hands[seat]
	return s.rules.Exchange && moved && Pair(s.Trumps())&s.publicCards(seat) != 0
}

// publicCards returns the cards that all know a seat to have, or to have played in this trick.
func (s *State) publicCards(seat int) baraja.Set {
	return s.KnownCards[seat] | s.HandAndTrickCard(seat)&^s.Hands[seat]
}

// cannotHold is, by seat, the cards that would have bound it to another card than
// it has played in this trick, or in the tricks since the last draw.
func (s *State) cannotHold() (cannot [baraja.TableSeats]baraja.Set) {
	draws := s.draws()
	s.eachLack(func(seat int, lacked baraja.Set, n int) {
		if n/int(s.Players) >= draws || n >= int(s.PlayedCount-s.InTrick) {
			cannot[seat] |= lacked
		}
	})
	return cannot
}

// draws returns how many cards each seat draws in a game.
func (s *State) draws() int { return (int(s.End) - handCards*int(s.Players)) / int(s.Players) }

// eachLack goes through the cards played and tells what a seat lacked when it played
// card n.
func (s *State) eachLack(tell func(seat int, lacked baraja.Set, n int)) {
	n := 0
	for p := range s.Plays {
		for _, duty := range s.duties(p.Led, p.Best).All() {
			if duty.Has(p.Card) {
				break
			}
			if duty != 0 {
				tell(p.Seat, duty, n)
			}
		}
		n++
	}
}

// Lack is what the play has shown of a hand: of some cards it has at most so many that
// are not known to be in it.
type Lack struct {
	Seat       int
	Cards      baraja.Set
	MaxUnknown int
}

// Lacks appends what other seats have shown by a card that they would not have been
// allowed to play with others: what they have of these they have drawn since.
// Redeal keeps to what was shown since the last draw alone.
func (s *State) Lacks(dst []Lack, observer int) []Lack {
	players, tricks := int(s.Players), int(s.PlayedCount-s.InTrick)/int(s.Players)
	drawn := min(tricks, s.draws())
	s.eachLack(func(seat int, lacked baraja.Set, n int) {
		if seat == observer {
			return
		}
		since := max(0, drawn-n/players)
		if s.rules.Exchange {
			since += exchanges
		}
		since -= ((s.playedBy(seat, n+1) | s.KnownCards[seat]) & lacked).Len()
		if hidden := s.Hands[seat] &^ s.KnownCards[seat]; since < hidden.Len() {
			dst = append(dst, Lack{seat, lacked, max(0, since)})
		}
	})
	return dst
}

// playedBy returns the cards that a seat has played from card n on.
func (s *State) playedBy(seat, n int) (cards baraja.Set) {
	for p := range s.Plays {
		if n--; n < 0 && p.Seat == seat {
			cards = cards.With(p.Card)
		}
	}
	return cards
}

// exchanges is how many cards a seat may get in a game without drawing them.
const exchanges = 2

// fromView returns a position that a seat may be in: see rules.Variant.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r}
	reader := o.Reader(name, int(r.Players))
	s.Table.FromView(o, &reader, int(r.Players), handCards)
	s.readSongs(&reader)
	s.readPoints(&reader)
	if reader.Err() == nil {
		if s.InTrick == 0 {
			s.Mover = int8(o.Turn) // who may be choosing
		}
		if s.Hands[o.Seat]&^s.KnownCards[o.Seat]&s.cannotHold()[o.Seat] != 0 { // what is known it may have taken since
			reader.Fail("hand", "has a card that had to be played before")
		} else if !s.redeal(o.Seat, 0, rand) {
			reader.Fail("declared", "does not fit the hand")
		}
	}
	return reader.Finish(s)
}

// readSongs reads what is declared and what is done.
func (s *State) readSongs(v *rules.ViewReader) {
	list := v.Value("declared")
	for seat := range int(s.Players) {
		var word []byte
		word, list, _ = bytes.Cut(list, []byte{','})
		if string(word) == "-" {
			continue
		}
		suit := strings.Index(baraja.Suits, string(word))
		if len(word) != 1 || suit < 0 || Pair(baraja.Suit(suit))&^s.publicCards(seat) != 0 {
			v.Fail("declared", "is not, by seat, the suit of a pair that is known or -")
			return
		}
		s.DeclaredSuits[seat] = uint8(suit) + 1
	}
	sung := v.Value("sung")
	for suit := range suits {
		if bytes.IndexByte(sung, baraja.Suits[suit]) >= 0 {
			s.SungSuits |= 1 << suit
		}
	}
}

// readPoints reads the points: those of the tricks and of the songs that are done.
func (s *State) readPoints(v *rules.ViewReader) {
	var points [baraja.TableSeats]int
	v.Ints("points", points[:s.Players], 0, 2*baraja.AllPoints, 0)
	songs := 0
	for suit := range baraja.Suit(suits) {
		if s.SungSuits>>suit&1 != 0 {
			songs += int(s.SongPoints(suit))
		}
	}
	for seat, p := range points {
		sung := p - int(s.Table.Points[seat])
		if songs -= sung; sung < 0 {
			songs = -1
			break
		}
	}
	if songs != 0 {
		v.Fail("points", fmt.Sprintf("is not what the tricks have brought, %d, and the songs that are done", s.Table.Points[:s.Players]))
		return
	}
	for seat, p := range points {
		s.Table.Points[seat] = int16(p)
	}
}
