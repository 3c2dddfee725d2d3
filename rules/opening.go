package rules

const (
	// MaxOpening is the most plies of an opening.
	MaxOpening = 12
	// DefaultOpening is the plies of the openings that local matches and the default
	// ladders have where the deal has no chance in it; docs/ratings.md says why.
	DefaultOpening = 6
)

// StandardOpening returns how many plies the openings of local matches have where the deal has no chance in it: at
// most a third of the game, so that there is a game behind it.
func (v *Variant) StandardOpening() int { return min(DefaultOpening, v.MaxPlies/3) }

// OpeningOption is the option of the games that can begin with an opening, the last
// of their options.
var OpeningOption = Option{Name: "opening", Max: MaxOpening, Help: "random plies before the first turn, from the seed"}

// openingTries is how often an opening is drawn before there is none.
const openingTries = 100

// Opening is the plies that were made before the first turn. They do not count as
// plies of the game.
type Opening struct {
	moves [MaxOpening]Move
	plies uint8
}

// OpeningOf returns an opening of which only the number of plies is known.
func OpeningOf(plies int) Opening { return Opening{plies: uint8(plies)} }

// Plies returns how many there are.
func (o *Opening) Plies() int { return int(o.plies) }

// Log logs the opening. Each of its moves is logged by play.
func (o *Opening) Log(log *Log, play func(Move)) {
	log.Add(AllSeats, OpeningOption.Name, o.Plies())
	for _, m := range o.moves[:o.plies] {
		play(m)
	}
}

// DrawOpening makes random plies in a first position, by SPEC.md, "Openings", each
// with a number of the stream. Then begin makes the position reached the first of
// the game. Where no opening is good, that is the position as it was.
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

// canEscape reports whether the side to move has a move that does not lose and
// after which the other side cannot win at once.
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
