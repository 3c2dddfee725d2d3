package decisions

import (
	"math/bits"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Decision is what came of a move in a game.
type Decision struct {
	Seat      int8
	Points    int16 // of its trick, songs and the bonus included: 0 unless the seat's side won it
	Heuristic int16 // of the card that was played, 0 for other moves
	Rest      int16 // the points that the seat's side has from its trick to the end of the game
	Standing  int8  // at the end of the game: see cards.Standing
}

// Follower follows a game move by move and notes its decisions.
type Follower[S any, P cards.Position[S]] struct {
	State     S
	Watch     cards.Watch
	Decisions []Decision // of the game so far
	mode      cards.Mode
	judge     Judge
	first     int // the first decision of the trick
}

// Begin begins a game of a mode with optional rules and a shuffled pack.
func (f *Follower[S, P]) Begin(m cards.Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card) {
	f.mode, f.Watch, f.Decisions, f.first = m, cards.Watch{}, f.Decisions[:0], 0
	P(&f.State).Layout(m, r, pack)
}

// Step makes a legal move. After the last one, all decisions are complete.
func (f *Follower[S, P]) Step(m rules.Move) {
	p := P(&f.State)
	t := p.Board()
	d := Decision{Seat: t.Mover, Rest: -f.side(int(t.Mover))}
	songs := p.Songs()
	points, complete := int16(0), false
	if m < baraja.SwapMove {
		c := baraja.Card(m)
		f.judge.Read(f.mode, t, p.Playable(), &songs, &f.Watch)
		d.Heuristic = int16(f.judge.Worth(c))
		points = int16(t.Pot) + int16(baraja.Value(c))
		complete = t.InTrick == t.Players-1
	}
	f.Decisions = append(f.Decisions, d)
	cards.Step[S, P](p, &f.Watch, m)
	if complete {
		if t.Last() {
			points += p.Options().Bonus()
		}
		if scored := p.Songs().Done &^ songs.Done; scored != 0 {
			points += p.Song(baraja.Suit(bits.TrailingZeros8(scored)))
		}
		f.collect(int(t.Winner), points)
	}
	if t.Mover < 0 {
		teams := p.Options().Teams
		for i := range f.Decisions {
			d := &f.Decisions[i]
			d.Standing = int8(cards.Standing(t, teams, int(d.Seat)))
			d.Rest = max(0, d.Rest+f.side(int(d.Seat))) // who loses at once loses all points
		}
	}
}

// side returns the points of a seat's side.
func (f *Follower[S, P]) side(seat int) (points int16) {
	for other, n := range P(&f.State).Board().Points[:f.mode.Players] {
		if f.mode.Side(other) == f.mode.Side(seat) {
			points += n
		}
	}
	return points
}

// collect gives the points of a trick to the decisions of the side that won it.
func (f *Follower[S, P]) collect(winner int, points int16) {
	for i := f.first; i < len(f.Decisions); i++ {
		if d := &f.Decisions[i]; f.mode.Side(int(d.Seat)) == f.mode.Side(winner) {
			d.Points = points
		}
	}
	f.first = len(f.Decisions)
}
