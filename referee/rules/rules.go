// Package rules says what a game is: a Game has options, a Variant is a game
// with its options settled, a State is one position of it. The referee
// validates with them, replays rebuild with them, house bots search with them.
//
// A game's concrete State is a fixed-size value without pointers, so that
// `copy := *state` is a copy and nothing in a playout allocates.
package rules

import "errors"

// Move is a game's move as a small number; its text is made by the State.
// Legal moves are always listed in rising order of this number.
type Move uint16

const (
	// Over is the Turn of a game that has ended.
	Over = -1
	// MaxSeats is the most seats that any game has.
	MaxSeats = 12
	// MaxMoves is at least the number of legal moves in any position.
	MaxMoves = 256
	// MaxPlies ends every game: a game without a limit of its own is drawn there.
	MaxPlies = 65_535
)

// ErrOver is why no move is legal after the end.
var ErrOver = errors.New("the game is over")

// Game is the rules of one game.
type Game interface {
	// Name is the lower-case word that commands and bots use.
	Name() string
	// Options lists the options in the order in which they are shown.
	Options() []Option
	// Rules is a short text in plain English for people.
	Rules() string
	// Variant settles the options. Settle has checked each by itself; what
	// remains is what they say together. An error names option, value and mend.
	Variant(Settings) (Variant, error)
}

// Variant is a game with its options settled.
type Variant interface {
	Game() Game
	// Settings has every option with its value, in the order of Options.
	Settings() Settings
	Players() int
	// Side is the number of the side that a seat plays for, counted from 0:
	// its team, or the seat itself.
	Side(seat int) int
	// Deal makes a first position.
	Deal(*Stream) State
}

// Sides counts the sides of a variant.
func Sides(v Variant) int {
	n := 0
	for seat := range v.Players() {
		n = max(n, v.Side(seat)+1)
	}
	return n
}

// State is one position of a game. Seats are counted from 0.
type State interface {
	// Turn is the seat to move, or Over.
	Turn() int
	// Ply counts the moves made.
	Ply() int
	// Legal appends the legal moves in rising order: none when the game is over.
	Legal(dst []Move) []Move
	// Check says why a move is not legal, nil if it is.
	Check(Move) error
	// Start logs the events that come before the first move.
	Start(*Log)
	// Apply makes a legal move and logs its events unless log is nil. What an
	// illegal move would do is not defined: Play checks first.
	Apply(m Move, log *Log)
	// Result is how the game ended, or how it stands.
	Result() Result
	// MoveText appends the move as the protocol writes it.
	MoveText(dst []byte, m Move) []byte
	// ParseMove reads what MoveText writes; legality is not its concern.
	ParseMove(text string) (Move, error)
	// View appends what a seat may know, in full, as "key=value key=value".
	View(dst []byte, seat int) []byte
	// Clone is an independent copy.
	Clone() State
	// Playout makes random legal moves, each as likely as the others, to the end.
	Playout(*Rand)
	// Redeal shuffles all that is hidden from a seat: hidden cards stay within
	// what is commonly known, coming deals are drawn from r. The seat cannot tell.
	Redeal(seat int, r *Rand)
}

// Play makes a move if it is legal; else the state is as it was and the error
// says why.
func Play(s State, m Move, log *Log) error {
	if err := s.Check(m); err != nil {
		return err
	}
	s.Apply(m, log)
	return nil
}

// Result is a game's outcome by seat.
type Result struct {
	// Ranks: 1 is best. A seat's rank is 1 and the number of sides that did
	// better, so ties share (1, 1, 3) and team-mates have the same.
	Ranks []int
	// Points as the game counts them: halves in Tebes and Teeko, below 0 in Podrida.
	Points []float64
}

// RankByPoints ranks the seats by the sum of their side's points.
func RankByPoints(v Variant, points []float64) Result {
	sums := make(map[int]float64, len(points))
	for seat, p := range points {
		sums[v.Side(seat)] += p
	}
	ranks := make([]int, len(points))
	for seat := range points {
		ranks[seat] = 1
		for _, sum := range sums {
			if sum > sums[v.Side(seat)] {
				ranks[seat]++
			}
		}
	}
	return Result{Ranks: ranks, Points: points}
}
