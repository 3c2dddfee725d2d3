// Package rules defines what a game is: a Game has options, a Variant is a game with its
// options resolved, a State is one position of it. The referee validates moves with them,
// replays are rebuilt with them, and house bots search with them. Begin with these three.
//
// A game's concrete State is a fixed-size value without pointers, so that
// `copy := *state` is a copy and nothing in a playout allocates.
package rules

import (
	"io/fs"

	"github.com/timba-arena/timba/internal/phrase"
)

// Move is a move as a small number; State.MoveText returns its text. Legal moves are
// always listed in rising order of this number.
type Move uint16

const (
	// Over is the Turn of a game that has ended.
	Over = -1
	// MaxSeats is the maximum number of seats of any game.
	MaxSeats = 12
	// MaxMoves is an upper bound of the number of legal moves in any position.
	MaxMoves = 256
	// MaxPlies is the maximum length of a game: a game without a limit of its own is drawn then.
	MaxPlies = 65_535
)

// ErrOver is why no move is legal after the end.
var ErrOver = phrase.Errorf("the game is over")

// Game is the rules of one game. A package of a game has one; nobody changes it.
type Game struct {
	Name    string   // the lower-case word that commands and bots use
	Texts   fs.FS    // the rules for people: rules.LANGUAGE.md for each language, of which "en" is one
	Options []Option // in the order in which they are shown
	Display Display  // how the game is shown
	// Variant makes the variant of options that Resolve has checked one by one: it checks their
	// combination. An error has the option, the value and what to try.
	Variant func(*Game, Settings) (*Variant, error)
}

// Text returns the rules for people in a language, as Markdown; "" if there are none. An item of a list
// that begins with an option in backticks, or with its name and a value, is about that option: the site
// describes it so where it is chosen.
func (g *Game) Text(language string) string {
	if g.Texts == nil {
		return ""
	}
	text, err := fs.ReadFile(g.Texts, "rules."+language+".md")
	if err != nil {
		return ""
	}
	return string(text)
}

// Variant is a game with its options resolved. Nobody changes it.
type Variant struct {
	Game     *Game
	Settings Settings // every option with its value, in the order of Options
	Rules    any      // the game's own struct of them, which is comparable
	Players  int
	// Sides is the number of sides: as many as players, or fewer where these play in teams.
	Sides int
	// HasChance is whether the seed decides anything. Without chance every deal
	// is the same, and deterministic bots play the same game in each.
	HasChance bool
	// UniqueDeals is whether no two deals are alike, as a pack of cards is not shuffled twice in the same way.
	UniqueDeals bool
	// Prize is the points of the winner in a game that has no other points; a draw shares them. It is
	// 0 where points are made move by move.
	Prize float64
	// MaxPlies is how many moves a game can have.
	MaxPlies int
	// Deal returns the first position.
	Deal func(*Stream) State
	// FromView returns a position that has the observed view and legal moves. What is
	// hidden from the seat is drawn from r among all that the view leaves possible, as
	// by Redealer. An error has the key and the
	// impossible value. It allocates little more than the state. House bots search with it: where
	// none searches this game, it may be nil.
	FromView func(o Observation, r *Rand) (State, error)
}

// Dealer returns the Deal of a variant whose states are dealt in place.
func Dealer[S, R any, P interface {
	*S
	State
	Deal(R, *Stream)
}](r R) func(*Stream) State {
	return func(src *Stream) State {
		s := P(new(S))
		s.Deal(r, src)
		return s
	}
}

// Side returns the number of the side that a seat plays for, counted from 0.
func (v *Variant) Side(seat int) int { return seat % v.Sides }

// State is one position of a game. Seats are counted from 0.
type State interface {
	// Turn returns the seat to move, or Over.
	Turn() int
	// Ply returns the number of moves made.
	Ply() int
	// Legal appends the legal moves in rising order: none when the game is over.
	Legal(dst []Move) []Move
	// Check returns why a move is not legal, nil if it is.
	Check(Move) error
	// LogStart logs the events that come before the first move.
	LogStart(*Log)
	// Apply makes a legal move and logs its events unless log is nil. An illegal move is
	// undefined behaviour: Play checks first.
	Apply(m Move, log *Log)
	// Points returns the points by seat, at the end or so far, as the game counts them:
	// halves in Tebes and Teeko, below 0 in Podrida.
	Points() []float64
	// MoveText appends the move as the protocol writes it.
	MoveText(dst []byte, m Move) []byte
	// ParseMove parses what MoveText writes; it does not check that the move is legal.
	ParseMove(text string) (Move, error)
	// View appends all that a seat may know, as "key=value key=value".
	View(dst []byte, seat int) []byte
	// Clone returns an independent copy.
	Clone() State
}

// Redealer is a state in which seats do not see everything.
type Redealer interface {
	// Redeal randomizes all that is hidden from a seat: hidden cards, within what all
	// seats know, and later deals, which are drawn from r. What the seat sees is
	// unchanged.
	Redeal(seat int, r *Rand)
}

// Play makes a move if it is legal; otherwise the state is unchanged and the error is why.
func Play(s State, m Move, log *Log) error {
	if err := s.Check(m); err != nil {
		return err
	}
	s.Apply(m, log)
	return nil
}
