package cards

import (
	"cmp"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
)

// Position is a position of Brisca or Tute together with its history. Assignment makes an independent copy.
// The methods do not allocate memory.
type Position struct {
	Mode    Mode
	History History
	brisca  brisca.State // valid in modes of Brisca
	tute    tute.State   // valid in modes of Tute
}

// Deal shuffles the cards with src and sets p to the first position of a game of mode m with the optional rules r.
func (p *Position) Deal(m Mode, r baraja.TableRules, src *rules.Stream) {
	p.Mode, p.History = m, History{}
	if m.Tute {
		p.tute.Deal(tute.Rules{TableRules: r, FollowOnly: m.FollowOnly}, src)
	} else {
		p.brisca.Deal(r, src)
	}
}

// Layout sets p to the first position of a game of mode m with the optional rules r, in which the cards of
// pack are dealt in the given order.
func (p *Position) Layout(m Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card) {
	p.Mode, p.History = m, History{}
	if m.Tute {
		p.tute.Layout(tute.Rules{TableRules: r, FollowOnly: m.FollowOnly}, pack[:])
	} else {
		p.brisca.Layout(r, pack[:])
	}
}

// SetState sets p to the position s and reconstructs the history as far as s shows it. It returns false if the game
// is neither Brisca nor Tute.
func (p *Position) SetState(s rules.State) bool {
	switch s := s.(type) {
	case *brisca.State:
		p.Mode, p.brisca = modeOf(s.Rules()), *s
	case *tute.State:
		p.Mode, p.tute = modeOf(s.Rules().TableRules), *s
		p.Mode.Tute, p.Mode.FollowOnly = true, s.Rules().FollowOnly
	default:
		return false
	}
	p.History = p.reconstructHistory()
	return true
}

// State returns the position as a rules.State. It is a part of p, not a copy.
func (p *Position) State() rules.State {
	if p.Mode.Tute {
		return &p.tute
	}
	return &p.brisca
}

// Board returns the table of the game: the hands, the stock and the trick. It is a part of p; the caller must not
// change it.
func (p *Position) Board() *baraja.Table {
	if p.Mode.Tute {
		return &p.tute.Table
	}
	return &p.brisca.Table
}

// Options returns the optional rules of the game.
func (p *Position) Options() baraja.TableRules {
	if p.Mode.Tute {
		return p.tute.Rules().TableRules
	}
	return p.brisca.Rules()
}

// Turn returns the seat to move, or rules.Over.
func (p *Position) Turn() int { return p.Board().Turn() }

// Legal appends the legal moves to dst, in increasing order.
func (p *Position) Legal(dst []rules.Move) []rules.Move {
	if p.Mode.Tute {
		return p.tute.Legal(dst)
	}
	return p.brisca.Legal(dst)
}

// Playable returns the cards that the seat to move may play.
func (p *Position) Playable() baraja.Set {
	if p.Mode.Tute {
		return p.tute.Playable()
	}
	return p.brisca.Hands[p.brisca.Mover]
}

// Songs returns the declarations of pairs (12 and 11 of a suit, called songs) that were made or scored in a game of
// Tute. In Brisca it returns the zero value.
func (p *Position) Songs() Songs {
	if p.Mode.Tute {
		return Songs{p.tute.DeclaredSuits, p.tute.SungSuits, p.tute.SongChoice}
	}
	return Songs{}
}

// Song returns the points in Tute for declaring the 12 and 11 of a suit (a song): 40 if the suit is trumps,
// otherwise 20. In Brisca it returns 0.
func (p *Position) Song(suit baraja.Suit) int16 {
	if p.Mode.Tute {
		return p.tute.SongPoints(suit)
	}
	return 0
}

// Redeal deals the cards that a seat does not see at random. The new cards agree with everything that the seat
// knows.
func (p *Position) Redeal(seat int, r *rules.Rand) {
	if p.Mode.Tute {
		p.tute.Redeal(seat, r)
	} else {
		p.brisca.Redeal(seat, r)
	}
}

// Apply makes a legal move, but does not update p.History. It records what happens in log, which may be nil.
func (p *Position) Apply(m rules.Move, log *rules.Log) {
	if p.Mode.Tute {
		p.tute.Apply(m, log)
	} else {
		p.brisca.Apply(m, log)
	}
}

// Play makes a legal move and updates p.History.
func (p *Position) Play(m rules.Move) {
	before := p.tute.SungSuits
	p.Apply(m, nil)
	if m < baraja.SwapMove {
		p.History.PlayedCards = p.History.PlayedCards.With(baraja.Card(m))
	}
	if scored := p.tute.SungSuits &^ before; scored != 0 {
		p.History.ScoredSongs[p.tute.Winner] |= scored
	}
}

// Points returns the points of a side: a seat, or the seats of a team.
func (p *Position) Points(side int) (sum int) {
	t := p.Board()
	for seat, points := range t.Points[:t.Players] {
		if p.Mode.Side(seat) == side {
			sum += int(points)
		}
	}
	return sum
}

// PointLead returns the points of a seat's side minus the sum of the points of all other sides.
func (p *Position) PointLead(seat int) (lead int) {
	t, own := p.Board(), p.Mode.Side(seat)
	for other, points := range t.Points[:t.Players] {
		if p.Mode.Side(other) == own {
			lead += int(points)
		} else {
			lead -= int(points)
		}
	}
	return lead
}

// Outcome returns 1 if the seat's side has more points than every other side, 0 if it shares the most points,
// and -1 otherwise.
func (p *Position) Outcome(seat int) int {
	own, standing := p.Mode.Side(seat), 1
	for other := range p.Mode.Players {
		if side := p.Mode.Side(other); side != own {
			standing = min(standing, cmp.Compare(p.Points(own), p.Points(side)))
		}
	}
	return standing
}

// Table returns the table (hands, stock and trick) of s if s is a state of Brisca or Tute. It is a part of s, not a
// copy. For other games it returns nil.
func Table(s rules.State) *baraja.Table {
	switch s := s.(type) {
	case *brisca.State:
		return &s.Table
	case *tute.State:
		return &s.Table
	}
	return nil
}

// Songs has the declarations of pairs in a game of Tute: those of the current trick, and those that have scored. A
// pair, called a song, is the 12 and the 11 of a suit. Songs is comparable.
type Songs struct {
	DeclaredSuits [baraja.TableSeats]uint8 // by seat: 1 plus the suit declared in this trick, or 0
	ScoredSuits   uint8                    // suits whose song was scored, one bit for each
	ChoiceSuits   uint8                    // suits of which the seat to move must choose one to declare, one bit for each
}

// DeclaredSet returns a set of suits with the one whose pair (12 and 11) the seat has declared in the current trick of
// Tute. Bit i of the set stands for the suit with the number i. If the seat has declared nothing in this trick, the set
// is 0.
func (s *Songs) DeclaredSet(seat int) uint8 { return 1 << s.DeclaredSuits[seat] >> 1 }

// History has facts about the earlier course of a game that all seats know, but that a single position does not
// show. The zero value belongs to the first position of a game.
type History struct {
	// PlayedCards is the set of the cards played so far, including those of the current trick.
	PlayedCards baraja.Set
	// ScoredSongs has, by seat, one bit for each suit. The bit is set if the seat has declared the 12 and 11 of the
	// suit (a song of Tute) and has scored for it.
	ScoredSongs [baraja.TableSeats]uint8
}

// reconstructHistory returns the history of a position that was not reached by Play. A position does not say which
// seat has scored a pair (the declared 12 and 11 of a suit). A seat declares only cards of its own hand, so this is
// the seat that has played the 12 or is known to hold it.
func (p *Position) reconstructHistory() History {
	t := p.Board()
	w := History{PlayedCards: baraja.SetOf(t.Pack[:t.PlayedCount])}
	done := p.Songs().ScoredSuits
	if done == 0 {
		return w
	}
	var by [baraja.TableSeats]baraja.Set
	t.PlayedBy(&by)
	for suit := range baraja.Suit(suits) {
		for seat := range int(t.Players) {
			if done>>suit&1 != 0 && (by[seat] | t.KnownCards[seat]).Has(baraja.CardOf(12, suit)) {
				w.ScoredSongs[seat] |= 1 << suit
			}
		}
	}
	return w
}

// SungSuits returns the suits whose 12 and 11 the seat has declared in a game of Tute, with one bit for each suit:
// those that it has scored in earlier tricks and the one that, according to s, it has declared in this trick.
func (w *History) SungSuits(s *Songs, seat int) uint8 {
	return w.ScoredSongs[seat] | s.DeclaredSet(seat)
}
