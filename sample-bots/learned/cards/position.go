package cards

import (
	"cmp"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/tute"
)

// Position is a position of Brisca or of Tute, whose types are Brisca and Tute. Code that is
// generic over it calls no interface and allocates nothing:
//
//	func play[S any, P cards.Position[S]](m cards.Mode, r *rules.Rand) {
//		var s S
//		p := P(&s)
//		...
//	}
//
// It is called as play[cards.Tute] where Mode.Tute is set, and as play[cards.Brisca] elsewhere.
type Position[S any] interface {
	*S
	// Begin deals a game of the mode with optional rules.
	Begin(m Mode, r baraja.TableRules, src *rules.Stream)
	// Layout begins a game of the mode with a pack that is already shuffled.
	Layout(m Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card)
	// Board returns the hands, the stock and the trick; only Apply changes it.
	Board() *baraja.Table
	// Options returns the optional rules.
	Options() baraja.TableRules
	// Songs returns what has been sung: nothing in Brisca.
	Songs() Songs
	// Song returns the points of the song in a suit: none in Brisca.
	Song(baraja.Suit) int16
	// Playable returns the cards that the seat to move may play.
	Playable() baraja.Set
	Turn() int
	Legal([]rules.Move) []rules.Move
	Check(rules.Move) error
	Apply(rules.Move, *rules.Log)
	Redeal(seat int, r *rules.Rand)
}

// Songs is what has been sung in a game of Tute. It is comparable.
type Songs struct {
	Declared [baraja.TableSeats]uint8 // by seat: the suit declared in this trick and 1, or 0
	Done     uint8                    // the suits that are scored, a bit each
	Choice   uint8                    // the suits that the seat to move has to choose from, a bit each
}

// Table returns the table of a position of brisca or tute, nil for other games.
func Table(s rules.State) *baraja.Table {
	switch s := s.(type) {
	case *brisca.State:
		return &s.Table
	case *tute.State:
		return &s.Table
	}
	return nil
}

// Brisca is a position of Brisca.
type Brisca struct{ brisca.State }

// Tute is a position of Tute.
type Tute struct{ tute.State }

// Begin deals a game of the mode with optional rules.
func (s *Brisca) Begin(_ Mode, r baraja.TableRules, src *rules.Stream) { s.Deal(r, src) }

// Begin deals a game of the mode with optional rules.
func (s *Tute) Begin(m Mode, r baraja.TableRules, src *rules.Stream) {
	s.Deal(tute.Rules{TableRules: r, FollowOnly: m.FollowOnly}, src)
}

// Layout begins a game with a pack that is already shuffled.
func (s *Brisca) Layout(_ Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card) {
	s.State.Layout(r, pack)
}

// Layout begins a game with a pack that is already shuffled.
func (s *Tute) Layout(m Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card) {
	s.State.Layout(tute.Rules{TableRules: r, FollowOnly: m.FollowOnly}, pack)
}

// Playable returns the cards in hand.
func (s *Brisca) Playable() baraja.Set { return s.Hands[s.Mover] }

// Board returns the table.
func (s *Brisca) Board() *baraja.Table { return &s.Table }

// Board returns the table.
func (s *Tute) Board() *baraja.Table { return &s.Table }

// Options returns the optional rules.
func (s *Brisca) Options() baraja.TableRules { return s.Rules() }

// Options returns the optional rules.
func (s *Tute) Options() baraja.TableRules { return s.Rules().TableRules }

// Songs returns nothing.
func (s *Brisca) Songs() Songs { return Songs{} }

// Song returns 0.
func (s *Brisca) Song(baraja.Suit) int16 { return 0 }

// Songs returns what has been sung.
func (s *Tute) Songs() Songs { return Songs{s.Declared, s.Sung, s.Choice} }

// Watch is what an observer keeps of a game: what the position alone does not tell at once. It
// is public to all seats. The zero value is that of a first position.
type Watch struct {
	// Seen is the cards played so far, those of the current trick included.
	Seen baraja.Set
	// Scored is the suits of the songs that each seat has scored, a bit each.
	Scored [baraja.TableSeats]uint8
}

// Step makes a legal move and keeps the watch up.
func Step[S any, P Position[S]](p P, w *Watch, m rules.Move) {
	before := p.Songs().Done
	p.Apply(m, nil)
	if m < baraja.SwapMove {
		w.Seen = w.Seen.With(baraja.Card(m))
	}
	if scored := p.Songs().Done &^ before; scored != 0 {
		w.Scored[p.Board().Winner] |= scored
	}
}

// Watched returns the watch of a position that was not reached by Step, as a bot's is. Who has
// scored a song has held both its cards then, and has played them or is known to hold them: of
// the songs that are done, it is the seat that all know to hold the 12, or that has played it.
func Watched[S any, P Position[S]](p P) Watch {
	t := p.Board()
	w := Watch{Seen: baraja.SetOf(t.Pack[:t.Played])}
	done := p.Songs().Done
	if done == 0 {
		return w
	}
	var by [baraja.TableSeats]baraja.Set
	t.PlayedBy(&by)
	for suit := range baraja.Suit(suits) {
		for seat := range int(t.Players) {
			if done>>suit&1 != 0 && (by[seat] | t.Known[seat]).Has(baraja.Of(12, suit)) {
				w.Scored[seat] |= 1 << suit
			}
		}
	}
	return w
}

// Sung returns the suits that a seat has declared in this trick or has scored, a bit each.
func (w *Watch) Sung(s *Songs, seat int) uint8 {
	sung := w.Scored[seat]
	if d := s.Declared[seat]; d != 0 {
		sung |= 1 << (d - 1)
	}
	return sung
}

// Standing returns +1 for a seat whose side has more points than every other, 0 if it shares
// the most, -1 otherwise.
func Standing(t *baraja.Table, teams bool, seat int) int {
	if teams {
		us, them := t.Points[seat]+t.Points[(seat+2)%4], t.Points[(seat+1)%4]+t.Points[(seat+3)%4]
		return cmp.Compare(us, them)
	}
	standing := 1
	for other := range int(t.Players) {
		if other != seat {
			standing = min(standing, cmp.Compare(t.Points[seat], t.Points[other]))
		}
	}
	return standing
}

// Lead returns the points of a seat's side less those of all others.
func Lead(t *baraja.Table, m Mode, seat int) (lead int) {
	own := m.Side(seat)
	for other, points := range t.Points[:t.Players] {
		if m.Side(other) == own {
			lead += int(points)
		} else {
			lead -= int(points)
		}
	}
	return lead
}
