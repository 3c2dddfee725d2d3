// Package rules defines what a game is. Game is one kind of game with its options, Variant a game whose
// options have values, and State a position in it. The referee checks moves with them, replays are rerun with
// them, and house bots search with them. Begin with these three types.
//
// The concrete State of a game is a fixed-size value without pointers, so that `copy := *state` is a copy and
// playing random games does not allocate.
package rules

import (
	"io/fs"

	"github.com/timba-arena/timba/internal/phrase"
)

// Move is a move as a number. The meaning of the number depends on the game; State.MoveText returns the text of a
// move. Legal moves are always listed in increasing order of this number.
type Move uint16

const (
	// Over is what State.Turn returns when the game has ended.
	Over = -1
	// MaxSeats is the maximum number of seats of any game.
	MaxSeats = 12
	// MaxMoves is an upper bound on the number of legal moves in any position.
	MaxMoves = 256
	// MaxPlies is the maximum number of moves in a game. A game that has no limit of its own ends as a draw after this
	// number of moves.
	MaxPlies = 65_535
)

// ErrOver is wrapped by errors that refuse a request because the game has ended.
var ErrOver = phrase.Errorf("the game is over")

// Game describes one kind of game, such as Brisca. The package of each game has one Game, which must not be modified.
type Game struct {
	Name    string   // lower-case word that commands and bots use
	Texts   fs.FS    // files rules.LANGUAGE.md with the rules for people; "en" must be among the languages
	Options []Option // in the order in which users see them
	Display Display  // how the game is drawn
	// Variant creates the variant with the given settings. Each value in them is allowed by its option. If their
	// combination is not allowed, Variant returns an error that names the option, its value and what to try.
	Variant func(*Game, Settings) (*Variant, error)
}

// Text returns the rules of the game for people, as Markdown. language is a code such as "en". Text returns "" if
// there are no rules in that language. A list item that begins with an option in backticks, or with the option's name
// and a value, describes that option; the site shows the item where a user chooses the option.
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

// Variant is a game with a value for each of its options. It must not be modified.
type Variant struct {
	Game     *Game
	Settings Settings // every option with its value, in the order of Game.Options
	Rules    any      // the settings as a comparable struct of the game's package
	Players  int
	// Sides is the number of sides that play against each other. It equals Players unless the game is played in teams;
	// then it is the number of teams.
	Sides int
	// HasChance is set if the random seed decides anything, such as the order of the cards. If it is not set,
	// deterministic bots always play the same game.
	HasChance bool
	// UniqueDeals is set if two seeds practically never give the same first position, as with a shuffled pack of
	// cards.
	UniqueDeals bool
	// Prize is the number of points that the winner gets in a game in which only winning counts. In a draw the seats
	// share it. It is 0 in a game in which seats make points during play.
	Prize float64
	// MaxPlies is the maximum number of moves in a game.
	MaxPlies int
	// Deal returns the first position of a game. It draws all randomness from the stream.
	Deal func(*Stream) State
	// FromView returns a random position that agrees with the observation o: the seat has the same view (what it may
	// know) and the same legal moves in it. Hidden cards and later deals are drawn from r. If a value in the view is
	// impossible, the error names its key. Bots that are part of timba search such positions. FromView may be nil if
	// no bot searches this game.
	FromView func(o Observation, r *Rand) (State, error)
}

// Dealer returns a function for the field Variant.Deal. At each call, that function makes a new state of type S,
// calls its method Deal with the rules r and the stream, and returns the state.
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

// Side returns the number of the side that a seat plays for: its team or, in games without teams, the seat itself.
func (v *Variant) Side(seat int) int { return seat % v.Sides }

// State is one position of a game. Seats are numbered from 0.
type State interface {
	// Turn returns the seat to move, or Over.
	Turn() int
	// Ply returns the number of moves made.
	Ply() int
	// Legal appends the legal moves to dst in increasing order. There are none if and only if the game is over.
	Legal(dst []Move) []Move
	// Check returns nil if the move is legal. Otherwise the error says why it is not.
	Check(Move) error
	// LogStart logs the events that precede the first move, such as the deal of the cards.
	LogStart(*Log)
	// Apply makes a legal move. It logs the events of the move unless log is nil. The result for an illegal
	// move is undefined; Play checks the move first.
	Apply(m Move, log *Log)
	// Points returns the points by seat, final or so far, as the game counts them. They may be fractions
	// (Tebes, Teeko) or negative (Podrida).
	Points() []float64
	// MoveText appends the text of m, in the notation of the protocol, to dst.
	MoveText(dst []byte, m Move) []byte
	// ParseMove parses the notation of MoveText. It does not check that the move is legal.
	ParseMove(text string) (Move, error)
	// View appends to dst everything that a seat may know about the position, as "key=value key=value".
	View(dst []byte, seat int) []byte
	// Clone returns an independent copy.
	Clone() State
}

// Ender is a State that knows the reason for which its game ended. Only games that can end for different reasons, such
// as Tebes and Teeko, have states that implement it.
type Ender interface {
	// EndReason returns the reason for which the game ended, as a short text that the package of the game defines, such
	// as "line" in Teeko. It returns "" if the game is not over.
	EndReason() string
}

// Redealer is implemented by the states of games in which something is hidden from a seat, such as the cards of other
// seats.
type Redealer interface {
	// Redeal replaces everything that is hidden from a seat by random values drawn from r: the hidden
	// cards, in agreement with what all seats know, and all later deals. The view and the legal moves of
	// the seat do not change.
	Redeal(seat int, r *Rand)
}

// Play makes a move if it is legal. Otherwise it leaves the state unchanged and returns the error of Check.
func Play(s State, m Move, log *Log) error {
	if err := s.Check(m); err != nil {
		return err
	}
	s.Apply(m, log)
	return nil
}
