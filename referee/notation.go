package referee

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// DealOpening has moves with which a deal begins before the bots play. If Seed is not nil, it replaces the seed of
// the deal, which decides everything random, such as the order of the cards.
type DealOpening struct {
	Seed  *Hex     `json:"seed,omitempty"`
	Moves []string `json:"moves"`
}

// Notation returns the game as one line of text, from which the game can be played again. v must be the variant that
// was played. SPEC.md, "Replays", defines the form of the line.
func (r *Replay) Notation(v *rules.Variant) string {
	var moves []string
	for _, m := range r.Moves {
		moves = append(moves, m.Move)
	}
	list := "-"
	if moves != nil {
		list = strings.Join(moves, ",")
	}
	return fmt.Sprintf("%s %s seed=%s moves=%s", r.Game, v.Settings, r.Seed, list)
}

// ResultText describes in English who played and how the game ended; Notation does not contain that. It panics if a
// rank or points are missing; see CheckSeats.
func (r *Replay) ResultText() string {
	var seats []string
	for seat, s := range r.Seats {
		seats = append(seats, fmt.Sprintf("seat %d %s: rank %d, %s", seat, s.Name, r.Ranks[seat], PointsText(r.Points[seat])))
	}
	return fmt.Sprintf("deal %d, rotation %d; %s", r.Match.Deal, r.Match.Rotation, strings.Join(seats, "; "))
}

// PointsText returns a number of points as text, such as "1 point".
func PointsText(points float64) string {
	if points == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%g points", points)
}

// NotatedGame is the content of a line of text that Replay.Notation returns: a whole game or only its first moves.
type NotatedGame struct {
	Game    string
	Options map[string]string // the options that the line sets; others have their defaults
	DealOpening
}

// ParseNotation parses a line that Replay.Notation has returned or that has the same form, such as "teeko start=drop
// moves=12,7". Options, seed and moves may be missing. It does not check whether the game, its options and its moves
// exist.
func ParseNotation(line string) (n NotatedGame, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return n, fmt.Errorf("the line is empty: write a game, as in teeko start=drop moves=12,7")
	}
	n.Game, n.Options, n.Moves = words[0], map[string]string{}, []string{}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			return n, fmt.Errorf("%q is not name=value, as in start=drop", protocol.Clip([]byte(word)))
		case seen[name]:
			return n, fmt.Errorf("%s is set twice: leave one out", name)
		case name == "seed":
			seed, err := ParseSeed(value)
			if err != nil {
				return n, err
			}
			n.Seed = new(Hex(seed))
		case name == "moves":
			if value != "-" {
				n.Moves = strings.Split(value, ",")
			}
		default:
			n.Options[name] = value
		}
		seen[name] = true
	}
	return n, nil
}

// ParseReplayNotation decodes a replay in JSON and returns its game, options, seed and moves, like ParseNotation for
// a line of text.
func ParseReplayNotation(data []byte) (n NotatedGame, err error) {
	r, err := DecodeReplay(data)
	if err != nil {
		return n, err
	}
	n = NotatedGame{r.Game, r.Options, DealOpening{Seed: &r.Seed, Moves: []string{}}}
	for _, m := range r.Moves {
		n.Moves = append(n.Moves, m.Move)
	}
	return n, nil
}

// IsReplay reports whether data, the content of a file, is a replay in JSON and not lines of text.
func IsReplay(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// Cut shortens the opening to its first moves; moves is their number. If moves is negative, Cut does nothing. It
// returns an error if the opening has fewer moves.
func (o *DealOpening) Cut(moves int) error {
	if moves > len(o.Moves) {
		return fmt.Errorf("it has %d moves: --ply cannot be %d", len(o.Moves), moves)
	}
	if moves >= 0 {
		o.Moves = o.Moves[:moves]
	}
	return nil
}

// Check returns an error if a move of the opening is illegal in v, or if the game is over after the last move. It
// also returns an error if the moves depend on cards but no seed determines the cards.
func (o DealOpening) Check(v *rules.Variant) error {
	if o.Seed == nil && v.HasChance && len(o.Moves) > 0 {
		return fmt.Errorf("moves without a seed: which moves there are depends on the deal, so write seed=, as in the line of a game")
	}
	var seed rules.Seed
	if o.Seed != nil {
		seed = rules.Seed(*o.Seed)
	}
	stream := rules.NewStream(seed)
	s := v.Deal(&stream)
	for i, text := range o.Moves {
		m, err := s.ParseMove(text)
		if err == nil {
			err = rules.Play(s, m, nil)
		}
		if err != nil {
			return fmt.Errorf("move %d, %q: %w", i, text, err)
		}
	}
	if s.Turn() == rules.Over {
		return fmt.Errorf("the game is over after its %d moves: begin earlier, as with --ply %d", len(o.Moves), max(0, len(o.Moves)-1))
	}
	return nil
}
