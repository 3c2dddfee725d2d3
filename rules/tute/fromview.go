package tute

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// Redeal implements rules.Redealer. It deals the cards that a seat does not see at random to the other hands and the
// stock (the cards still to be drawn). Cards that all seats know stay where they are. If a seat is choosing which 12
// and 11 to declare, it keeps the pairs to choose from. No hand gets cards that its seat would have had to declare in
// this trick, or to play since the last draw. If the game is over, nothing changes.
func (s *State) Redeal(seat int, r *rules.Rand) {
	if s.Mover < 0 {
		return
	}
	known := s.KnownCards
	for suit := range baraja.Suit(suits) {
		if s.SongChoice>>suit&1 != 0 {
			s.KnownCards[s.Mover] |= Pair(suit)
		}
	}
	s.redeal(seat, s.SongChoice, r)
	s.KnownCards = known
}

// redeal deals the cards that seat cannot see at random, and reports whether it found a deal that agrees with what
// the seat knows. choice is a set of suits, one bit each. If it is not 0, the deal must be one after which the seat
// to move has to choose which of exactly these suits to declare.
func (s *State) redeal(seat int, choice uint8, r *rules.Rand) bool {
	possible := func() bool { return s.possible() && (choice == 0 || s.SongChoice == choice) }
	return s.Table.Redeal(seat, s.cannotHold(), possible, r)
}

// possible reports whether the dealt hands agree with what the seats have declared in this trick; a seat declares a
// suit if it holds the 12 and 11 of it. It returns false if a hand wins the game at once. It also sets SongChoice and
// askedCount.
func (s *State) possible() bool {
	if s.HasInstantWin(s.rules.BlackHand, true) {
		return false
	}
	s.SongChoice, s.askedCount = 0, s.Players
	for i := range s.Players {
		seat := int(s.Leader+i) % int(s.Players)
		if s.SongChoice != 0 { // the seats after the one that is choosing were not asked
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
		case s.TrickSize == 0 && int(s.Mover) == seat && pairs&(pairs-1) != 0 && trumps == 0:
			s.SongChoice, s.askedCount = pairs, i
		default:
			return false
		}
	}
	return s.TrickSize > 0 || s.SongChoice != 0 || s.Mover == int8(s.Leader)
}

// mayHaveSwapped reports whether a seat may have exchanged a card for the trump card on the table in this
// trick, and so got the 12 or 11 of trumps. It may then hold both without having declared them, because
// declarations come before the exchange.
func (s *State) mayHaveSwapped(seat int) bool {
	moved := seat == int(s.Mover) || s.HandAndTrickCard(seat) != s.Hands[seat]
	return s.rules.Exchange && moved && Pair(s.Trumps())&s.publicCards(seat) != 0
}

// publicCards returns the cards of a seat that all seats know: the cards known to be in its hand, and its card in the
// current trick.
func (s *State) publicCards(seat int) baraja.Set {
	return s.KnownCards[seat] | s.HandAndTrickCard(seat)&^s.Hands[seat]
}

// cannotHold returns, for each seat, cards that cannot be in its hand: if it had one of them, it would have had to
// play it in this trick, or in an earlier trick after the stock was used up.
func (s *State) cannotHold() (cannot [baraja.TableSeats]baraja.Set) {
	draws := s.draws()
	s.eachLack(func(seat int, lacked baraja.Set, n int) {
		if n/int(s.Players) >= draws || n >= int(s.PlayedCount-s.TrickSize) {
			cannot[seat] |= lacked
		}
	})
	return cannot
}

func (s *State) draws() int { return (int(s.DrawEnd) - handCards*int(s.Players)) / int(s.Players) }

// eachLack calls tell for each set of cards that a seat has shown to lack. A seat shows that by playing another card
// although the rules require one of the set. n is the number of cards played in the game before that card.
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

// Lack says that a seat holds at most MaxUnknown of Cards, not counting the cards that all seats know to be in its
// hand. It follows from a card that the seat has played: the rules would have required one of Cards instead if the
// seat had held any.
type Lack struct {
	Seat       int
	Cards      baraja.Set
	MaxUnknown int
}

// Lacks appends to dst what the cards played show about the hands of all seats except observer. A seat may have drawn
// cards since then; MaxUnknown allows for that. Redeal itself respects only what was shown since the last draw.
func (s *State) Lacks(dst []Lack, observer int) []Lack {
	players, tricks := int(s.Players), int(s.PlayedCount-s.TrickSize)/int(s.Players)
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

// playedBy returns the cards that a seat has played, except cards among the first n cards of the game.
func (s *State) playedBy(seat, n int) (cards baraja.Set) {
	for p := range s.Plays {
		if n--; n < 0 && p.Seat == seat {
			cards = cards.With(p.Card)
		}
	}
	return cards
}

// exchanges is the maximum number of cards that a seat can get by exchanging cards for the trump card.
const exchanges = 2

// fromView returns a random position that agrees with what one seat knows; see rules.Variant.FromView.
func fromView(r Rules, o rules.Observation, rand *rules.Rand) (rules.State, error) {
	s := &State{rules: r}
	reader := o.Reader(name, int(r.Players))
	s.Table.FromView(o, &reader, r.TableRules, handCards)
	s.readSongs(&reader)
	s.readPoints(&reader)
	if reader.Err() == nil {
		if s.TrickSize == 0 {
			s.Mover = int8(o.Turn) // this seat may be choosing a suit to declare
		}
		if s.Hands[o.Seat]&^s.KnownCards[o.Seat]&s.cannotHold()[o.Seat] != 0 { // publicly known cards may have been taken since
			reader.Fail("hand", "has a card that had to be played before")
		} else if !s.redeal(o.Seat, 0, rand) {
			reader.Fail("declared", "does not fit the hand")
		}
	}
	return reader.Finish(s)
}

// readSongs reads from v, which has what a seat may know, which suits were declared in this trick (a seat that holds
// the 12 and 11 of a suit declares it), and which were scored. It stores errors in v.
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

// readPoints reads the points of the seats from v, which has what a seat may know. It stores an error in v if they
// cannot be the sum of tricks and of scored pairs of 12 and 11.
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
