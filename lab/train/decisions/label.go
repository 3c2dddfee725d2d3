package decisions

import (
	"math/bits"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Decision is one move of a seat in a game and its outcome.
type Decision struct {
	Seat      int8
	Points    int16 // points of the trick, with points for declarations and the bonus; negative if another side won it
	Heuristic int16 // heuristic value of the card played; 0 for other moves
	Rest      int16 // points that the seat's side wins from this trick to the end of the game
	Standing  int8  // at the end of the game, see cards.Position.Outcome
}

// Follower follows a game move by move and records its decisions.
type Follower struct {
	Position   cards.Position
	Decisions  []Decision // of the game so far
	heuristic  Heuristic
	trickStart int // index of the first decision of the trick
}

// Start starts a new game of m, a game with its number of players, and deletes the decisions of the last game. r
// has the optional rules, and pack the shuffled cards.
func (f *Follower) Start(m cards.Mode, r baraja.TableRules, pack [baraja.TableCards]baraja.Card) {
	f.Decisions, f.trickStart = f.Decisions[:0], 0
	f.Position.Layout(m, r, pack)
}

// Step makes a legal move and records its decision. The outcomes in Decisions are complete only after the
// last move of the game.
func (f *Follower) Step(m rules.Move) {
	p := &f.Position
	t := p.Board()
	d := Decision{Seat: t.Mover, Rest: -f.sidePoints(t.Mover)}
	done := p.Songs().ScoredSuits
	points, complete := int16(0), false
	if m < baraja.SwapMove {
		c := baraja.Card(m)
		f.heuristic.SetPosition(p)
		d.Heuristic = int16(f.heuristic.Worth(c))
		points = int16(t.Pot) + int16(baraja.Value(c))
		complete = t.TrickSize == t.Players-1
	}
	f.Decisions = append(f.Decisions, d)
	p.Play(m)
	if complete {
		if t.IsLastTrick() {
			points += p.Options().Bonus()
		}
		if scored := p.Songs().ScoredSuits &^ done; scored != 0 {
			points += p.Song(baraja.Suit(bits.TrailingZeros8(scored)))
		}
		f.assignPoints(int(t.Winner), points)
	}
	if t.Mover < 0 {
		for i := range f.Decisions {
			d := &f.Decisions[i]
			d.Standing = int8(p.Outcome(int(d.Seat)))
			d.Rest = max(0, d.Rest+f.sidePoints(d.Seat)) // a side that loses at once loses all its points
		}
	}
}

func (f *Follower) sidePoints(seat int8) int16 {
	return int16(f.Position.Points(f.Position.Mode.Side(int(seat))))
}

// assignPoints sets Points in all decisions of the trick that has just ended. points is what the trick is worth, and
// winner is the seat that has won it. Decisions of seats on other sides get the negative of points.
func (f *Follower) assignPoints(winner int, points int16) {
	for i := f.trickStart; i < len(f.Decisions); i++ {
		d := &f.Decisions[i]
		d.Points = points
		if f.Position.Mode.Side(int(d.Seat)) != f.Position.Mode.Side(winner) {
			d.Points = -points
		}
	}
	f.trickStart = len(f.Decisions)
}
