package rules

import "github.com/timba-arena/timba/internal/phrase"

// RefusalCode names the rule of a game that forbids a move; see Refusal. Web pages have a text for each code in each
// language.
type RefusalCode string

// The codes of a Refusal. A comment such as "suit: ..." describes the value that Refusal.Values has under the key
// suit.
const (
	MustFollow     RefusalCode = "follow"       // suit: the suit led, of which the seat has cards
	MustTrump      RefusalCode = "trump"        // suit: the suit of trumps, of which the seat has cards
	MustBeat       RefusalCode = "beat"         // card: the best card of the trick, which the seat can beat
	MustSing       RefusalCode = "sing"         // a song must be chosen first
	MustBid        RefusalCode = "bid"          // bids are made before cards are played
	BidsAddUp      RefusalCode = "bids-add-up"  // count: the number of cards, which the bids must not add up to
	SquareTaken    RefusalCode = "taken"        // square
	NoOwnPiece     RefusalCode = "no-own-piece" // square: the start of the move
	TooFar         RefusalCode = "too-far"      // square: the start, of which the end is no neighbor
	WrongWay       RefusalCode = "wrong-way"    // no piece moves in this direction, or so far
	PieceBetween   RefusalCode = "between"      // square: of a piece of the other side that is in the way
	CaptureAtTwo   RefusalCode = "capture-two"  // from a square of its color a piece captures two squares away
	CaptureAtOne   RefusalCode = "capture-one"  // from a square of the other color it captures one square away
	RepeatsEarlier RefusalCode = "repeats"      // the move would repeat an earlier position
)

// Refusal is the error of State.Check for a move that exists but that a rule of the game forbids in this position.
// Code tells which rule that is, so that programs can explain it.
type Refusal struct {
	Code   RefusalCode       `json:"code"`
	Values map[string]string `json:"values"` // what the text of the code mentions: cards, suits and squares in the notation of moves
	err    error
}

// Refuse returns a *Refusal with the given code and the message of err. pairs has the keys and values for
// Refusal.Values: a key, its value, the next key, its value, and so on.
func Refuse(err error, code RefusalCode, pairs ...string) error {
	r := &Refusal{Code: code, Values: map[string]string{}, err: err}
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Values[pairs[i]] = pairs[i+1]
	}
	return r
}

func (r *Refusal) Error() string { return r.err.Error() }

// Phrase returns the message of the error as a text that can be translated.
func (r *Refusal) Phrase() phrase.Text { return phrase.FromError(r.err) }
