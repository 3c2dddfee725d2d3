package rules

const (
	// MaxOpening is the maximum number of moves in an opening, the random moves before the first turn.
	MaxOpening = 12
	// DefaultOpening is the number of random moves before the first turn in local matches and on default ladders, for
	// games that would otherwise always begin with the same position. docs/ratings.md gives the reasons.
	DefaultOpening = 6
)

// StandardOpening returns the number of random moves before the first turn in local matches. It is DefaultOpening or,
// if that is less, a third of the maximum length of a game. Use it only for games that would otherwise always begin
// with the same position.
func (v *Variant) StandardOpening() int { return min(DefaultOpening, v.MaxPlies/3) }

// OpeningOption is the option for the number of random moves before the first turn. In a game that has this option,
// it is the last one.
var OpeningOption = Option{Name: "opening", Max: MaxOpening, Help: "random plies before the first turn, from the seed"}

// openingTries is the maximum number of random openings that DrawOpening tries.
const openingTries = 100

// Opening is a sequence of random moves that are made before the first turn. They do not count in State.Ply, the
// number of moves of a game.
type Opening struct {
	moves [MaxOpening]Move
	plies uint8
}

// OpeningOf returns an opening of which only the number of moves is known. Do not call Opening.Log for it.
func OpeningOf(plies int) Opening { return Opening{plies: uint8(plies)} }

// Plies returns the number of moves in the opening.
func (o *Opening) Plies() int { return int(o.plies) }

// Log adds an event with the number of moves in the opening to log. Then it calls play for each of these moves. play
// must make the move and log it.
func (o *Opening) Log(log *Log, play func(Move)) {
	log.Add(AllSeats, OpeningOption.Name, o.Plies())
	for _, m := range o.moves[:o.plies] {
		play(m)
	}
}

// DrawOpening returns the first position of a game for two sides, after a number of random moves given by plies. It
// makes these moves from the position start and chooses each with src.Below. Then it calls begin, which turns the
// result into a first position.
//
// A position is rejected, and new moves are drawn, if the game is over, if the side to move can win at once, or if
// that side cannot stop the other from winning at once. After openingTries rejections, DrawOpening calls begin for
// start itself. The section "Openings" of SPEC.md defines this.
func DrawOpening(start State, plies int, src *Stream, begin func(State, Opening)) State {
	var space [MaxMoves]Move
	for range openingTries {
		s, o := start.Clone(), Opening{}
		for s.Turn() != Over && o.Plies() < plies {
			legal := s.Legal(space[:0])
			m := legal[src.Below(len(legal))]
			s.Apply(m, nil)
			o.moves[o.plies] = m
			o.plies++
		}
		if s.Turn() == Over {
			continue
		}
		if begin(s, o); !canWin(s) && canEscape(s) {
			return s
		}
	}
	begin(start, Opening{})
	return start
}

// canWin reports whether the side to move can win before the other side moves. If the rules give it several moves in
// a row, it may use all of them.
func canWin(s State) bool {
	me := s.Turn()
	for _, m := range s.Legal(nil) {
		next := s.Clone()
		next.Apply(m, nil)
		switch next.Turn() {
		case Over:
			if points := next.Points(); points[me] > points[1-me] {
				return true
			}
		case me:
			if canWin(next) {
				return true
			}
		}
	}
	return false
}

// canEscape reports whether the side to move has a move that does not lose, and after which the other side cannot win
// before the first side moves again.
func canEscape(s State) bool {
	me := s.Turn()
	for _, m := range s.Legal(nil) {
		next := s.Clone()
		next.Apply(m, nil)
		switch next.Turn() {
		case Over:
			if points := next.Points(); points[me] >= points[1-me] {
				return true
			}
		case me:
			return true
		default:
			if !canWin(next) {
				return true
			}
		}
	}
	return false
}
