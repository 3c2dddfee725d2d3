package rules

const (
	// MaxOpening is the most plies of an opening.
	MaxOpening = 12
	// DefaultOpening is the plies of the openings that local matches and the default
	// ladders have where the deal has no chance in it; docs/statistics.md says why.
	DefaultOpening = 6
)

// OpeningOption is the option of the games that can begin with an opening, the last
// of their options. Replays and ladders from before there were openings lack it:
// they have its default.
var OpeningOption = Option{Name: "opening", Max: MaxOpening, Help: "random plies before the first turn, from the seed"}

// FillOpening adds the option to those of a document from before there were openings,
// where the game has it.
func FillOpening(g Game, options map[string]string) {
	for _, o := range g.Options() {
		if _, ok := options[o.Name]; !ok && o.Name == OpeningOption.Name {
			options[o.Name] = o.DefaultText()
		}
	}
}

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

// Start logs the opening. Each of its moves is logged by play.
func (o *Opening) Start(log *Log, play func(Move)) {
	log.Begin(All, OpeningOption.Name)
	log.Int(o.Plies())
	for _, m := range o.moves[:o.plies] {
		play(m)
	}
}

// Pointer is a state that is copied by assignment.
type Pointer[S any] interface {
	*S
	State
}

// DrawOpening makes random plies in a first position, by SPEC.md, "Openings", each
// with a number of the stream. Then begin makes the position reached the first of
// the game. Where no opening is good, that is the position as it was.
func DrawOpening[S any, P Pointer[S]](start P, plies int, src *Stream, begin func(P, Opening)) {
	var space [MaxMoves]Move
	for range openingTries {
		s, o := *start, Opening{}
		for P(&s).Turn() != Over && o.Plies() < plies {
			legal := P(&s).Legal(space[:0])
			m := legal[src.Below(len(legal))]
			P(&s).Apply(m, nil)
			o.moves[o.plies] = m
			o.plies++
		}
		if P(&s).Turn() == Over {
			continue
		}
		if begin(&s, o); !canWin[S, P](s) && canEscape[S, P](s) {
			*start = s
			return
		}
	}
	begin(start, Opening{})
}

// canWin reports whether the side to move can win before the other side moves.
func canWin[S any, P Pointer[S]](s S) bool {
	me := P(&s).Turn()
	for _, m := range P(&s).Legal(nil) {
		next := s
		P(&next).Apply(m, nil)
		switch P(&next).Turn() {
		case Over:
			if ranks := P(&next).Result().Ranks; ranks[me] < ranks[1-me] {
				return true
			}
		case me:
			if canWin[S, P](next) {
				return true
			}
		}
	}
	return false
}

// canEscape reports whether the side to move has a move that does not lose and
// after which the other side cannot win at once.
func canEscape[S any, P Pointer[S]](s S) bool {
	me := P(&s).Turn()
	for _, m := range P(&s).Legal(nil) {
		next := s
		P(&next).Apply(m, nil)
		switch P(&next).Turn() {
		case Over:
			if P(&next).Result().Ranks[me] == 1 {
				return true
			}
		case me:
			return true
		default:
			if !canWin[S, P](next) {
				return true
			}
		}
	}
	return false
}
