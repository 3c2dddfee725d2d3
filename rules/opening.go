package rules

const (
	// MaxOpening is the maximum number of plies in an opening.
	MaxOpening = 12
	// DefaultOpening is the number of plies in the openings of local matches and default ladders, for games
	// in which the deal is not random. docs/ratings.md gives the reasons.
	DefaultOpening = 6
)

// StandardOpening returns the number of plies in the openings of local matches, for games in which the deal
// is not random. It is at most a third of the maximum length of the game.
func (v *Variant) StandardOpening() int { return min(DefaultOpening, v.MaxPlies/3) }

// OpeningOption is the option for the length of the opening. Games that support openings list it last.
var OpeningOption = Option{Name: "opening", Max: MaxOpening, Help: "random plies before the first turn, from the seed"}

// openingTries is the number of openings that DrawOpening tries.
const openingTries = 100

// Opening is a sequence of random plies that are made before the first turn. They do not count as plies of
// the game.
type Opening struct {
	moves [MaxOpening]Move
	plies uint8
}

// OpeningOf returns an opening of the given length with unknown moves.
func OpeningOf(plies int) Opening { return Opening{plies: uint8(plies)} }

// Plies returns the number of plies.
func (o *Opening) Plies() int { return int(o.plies) }

// Log logs the length of the opening and calls play for each of its moves, which must log the move.
func (o *Opening) Log(log *Log, play func(Move)) {
	log.Add(AllSeats, OpeningOption.Name, o.Plies())
	for _, m := range o.moves[:o.plies] {
		play(m)
	}
}

// DrawOpening makes random plies from the position start, as the section "Openings" of SPEC.md defines. Each
// ply takes one number of the stream. Then begin turns the resulting position into the first one of the game.
// An opening is rejected if it ends the game, if the side to move can win at once, or if it cannot prevent
// that the other side does. If too many openings are rejected, start becomes the first position.
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

// canWin reports whether the side to move can win before the other side moves.
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

// canEscape reports whether the side to move has a move that does not lose and after which the other side
// cannot win at once.
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
