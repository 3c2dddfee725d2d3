package referee

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// Hex is a hash or a seed of 32 bytes. In JSON it is a string of hexadecimal digits.
type Hex = rules.Hex

// Replay is the record of one game. Every position can be computed again from game, options, seed and moves. SPEC.md,
// "Replays", defines the format, and replay.schema.json is its schema.
type Replay struct {
	Timba      int               `json:"timba"`             // version of the protocol
	Program    string            `json:"program,omitempty"` // version of timba that recorded the game
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"` // the value of every option
	Seed       Hex               `json:"seed"`
	Commitment Hex               `json:"commitment"` // SHA-256 of the seed of the match
	Match      ReplayMatch       `json:"match"`
	Clock      ClockMS           `json:"clock"` // without start-up time; inc is set if bank is, even to 0
	Seats      []ReplaySeat      `json:"seats"`
	// Adjudication has the rules by which the bots' scores could end the game early; nil means none.
	Adjudication       *Adjudication       `json:"adjudication,omitempty"`
	Moves              []ReplayMove        `json:"moves"`
	Faults             []Fault             `json:"faults"`
	AdjudicationResult *AdjudicationResult `json:"adjudicated,omitempty"` // nil unless the scores ended the game
	Ranks              []int               `json:"ranks"`
	Points             []float64           `json:"points"`
}

// ReplayMatch says which game of a match a replay records. Seed is the seed of the match. The seed is nil until the
// match is over, because it also decides the later deals.
type ReplayMatch struct {
	Seed     *Hex `json:"seed,omitempty"`
	Deal     int  `json:"deal"`
	Rotation int  `json:"rotation"`
	// Opening is the number of the given moves with which the game begins, counted from 1. 0 means that the match has
	// no given moves.
	Opening int `json:"opening,omitempty"`
}

// Compare returns a negative number if m comes before o, a positive number if m comes after o, and 0 otherwise. Games
// are ordered by deal, then by rotation (the seating of the bots).
func (m ReplayMatch) Compare(o ReplayMatch) int {
	return cmp.Or(m.Deal-o.Deal, m.Rotation-o.Rotation)
}

// ReplaySeat describes the bot that played in a seat.
type ReplaySeat struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Seed    uint64 `json:"seed"` // for the bot's own randomness
	Untimed bool   `json:"untimed,omitempty"`
	// Clock is the clock of this seat, in the same form as Replay.Clock. nil means the clock of the game.
	Clock *ClockMS `json:"clock,omitempty"`
}

// ClockOf returns the clock of a seat: its own if it has one, otherwise the clock of the game.
func (r *Replay) ClockOf(seat int) ClockMS {
	if own := r.Seats[seat].Clock; own != nil {
		return *own
	}
	return r.Clock
}

// ReplayMove is one move of a replay. Two kinds of moves have no time: given moves with which the game begins, and
// moves that the referee made for a seat that has forfeited.
type ReplayMove struct {
	Seat    int      `json:"seat"`
	Move    string   `json:"move"`
	MS      float64  `json:"ms,omitempty"`      // elapsed time, at least 0.001
	Credit  float64  `json:"credit,omitempty"`  // the part of MS that does not count, because other programs used the core
	Info    []string `json:"info,omitempty"`    // the bot's info lines about the move, without the verb
	StandIn bool     `json:"standin,omitempty"` // the seat had forfeited
	Given   bool     `json:"given,omitempty"`   // the move is part of the opening
}

// ByBot reports whether a bot or a person chose the move. It is false for given moves with which the game begins, and
// for moves that the referee made for a seat that had forfeited.
func (m *ReplayMove) ByBot() bool { return !m.StandIn && !m.Given }

// Resolve returns the variant that was played; g must be the game. It returns an error if r is a replay of another
// game, has the wrong number of seats, an unknown option, or a value that is not valid or not canonical. An option that
// r lacks has its default, so that replays written before the game had the option stay valid.
func (r *Replay) Resolve(g *rules.Game) (*rules.Variant, error) {
	if g.Name != r.Game {
		return nil, fmt.Errorf("replay: the game is %q, not %q", r.Game, g.Name)
	}
	v, err := g.Resolve(r.Options)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	for name, value := range r.Options {
		if want := v.Settings.Get(name); value != want {
			return nil, fmt.Errorf("replay: option %s is %q where the game has %q", name, value, want)
		}
	}
	if len(r.Seats) != v.Players {
		return nil, fmt.Errorf("replay: %d seats in a game for %d players", len(r.Seats), v.Players)
	}
	return v, nil
}

// CheckSeats returns an error unless r has a rank and points for each seat, and each fault is of a seat that exists.
func (r *Replay) CheckSeats() error {
	n := len(r.Seats)
	if len(r.Ranks) != n || len(r.Points) != n {
		return fmt.Errorf("replay: %d ranks and %d points in a game for %d players", len(r.Ranks), len(r.Points), n)
	}
	for i, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= n {
			return fmt.Errorf("replay: fault %d: seat %d does not exist", i, f.Seat)
		}
	}
	return nil
}

// Encode returns the replay in JSON, with one line for each field and each move, so that people can read it.
func (r *Replay) Encode() []byte {
	var b bytes.Buffer
	line := func(name string, value any, last bool) {
		fmt.Fprintf(&b, " %q: %s", name, compact(value))
		if !last {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("{\n")
	line("timba", r.Timba, false)
	if r.Program != "" {
		line("program", r.Program, false)
	}
	line("game", r.Game, false)
	line("options", r.Options, false)
	line("seed", r.Seed, false)
	line("commitment", r.Commitment, false)
	line("match", r.Match, false)
	line("clock", r.Clock, false)
	writeList(&b, "seats", r.Seats)
	if r.Adjudication != nil {
		line("adjudication", r.Adjudication, false)
	}
	writeList(&b, "moves", r.Moves)
	writeList(&b, "faults", r.Faults)
	if r.AdjudicationResult != nil {
		line("adjudicated", r.AdjudicationResult, false)
	}
	line("ranks", r.Ranks, false)
	line("points", r.Points, true)
	b.WriteString("}\n")
	return b.Bytes()
}

func writeList[T any](b *bytes.Buffer, name string, items []T) {
	fmt.Fprintf(b, " %q: [", name)
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n  %s", compact(item))
	}
	if len(items) > 0 {
		b.WriteString("\n ")
	}
	b.WriteString("],\n")
}

// compact returns v as JSON without line breaks. The characters <, > and & are not escaped.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("referee: a replay cannot be encoded: " + err.Error()) // cannot happen: every field can be encoded
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// DecodeReplay decodes a replay in JSON. It ignores members that it does not know, because a newer timba may have
// written them. It returns an error if the replay has another version of the format than this program.
func DecodeReplay(data []byte) (*Replay, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	r := new(Replay)
	err := d.Decode(r)
	switch rest := bytes.TrimSpace(data[d.InputOffset():]); {
	case bytes.HasPrefix(data, []byte(`{"cursor":`)):
		return nil, errors.New("replay: it has lines of a stream of replays: try timba replays --out DIR, which writes a file for each game")
	case r.Timba > protocol.Version:
		return nil, fmt.Errorf("replay: timba %s wrote it in version %d of the format, and this program reads version %d: use that timba, or a later one", cmp.Or(r.Program, "(its version is not recorded)"), r.Timba, protocol.Version)
	case err != nil:
		return nil, notReplayError(data, err)
	case r.Timba == 0:
		return nil, errors.New(`replay: not a replay document: it has no member "timba", the version of the format`)
	case r.Timba < 0:
		return nil, fmt.Errorf("replay: version %d is unknown: this program reads version %d", r.Timba, protocol.Version)
	case bytes.HasPrefix(rest, []byte("{")):
		return nil, errors.New("replay: another document follows in the same file: give each replay a file of its own, as before they were joined")
	case len(rest) > 0:
		return nil, fmt.Errorf("replay: the document is followed by %.20q", rest)
	case r.Clock.Startup != 0 || slices.ContainsFunc(r.Seats, func(s ReplaySeat) bool { return s.Clock != nil && s.Clock.Startup != 0 }):
		return nil, errors.New("replay: not a replay document: the clock has a start-up time")
	}
	return r, nil
}

// notReplayError returns the error for data that are not the JSON of a replay, for the reason err of package json.
func notReplayError(data []byte, err error) error {
	data = bytes.TrimSpace(data)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case len(data) == 0:
		return errors.New("replay: not a replay document: it is empty: write the file again, as timba match --out and timba replays --out do")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("replay: not a replay document: it is cut off after %d bytes: copy or download the file again", len(data))
	case data[0] == '<':
		return errors.New("replay: not a replay document, but a page: download the file replay.json, which the page of the game links to")
	case data[0] != '{' || errors.As(err, &syntax) && syntax.Offset < 2:
		return fmt.Errorf("replay: not a replay document, which is a JSON object: it begins with %.20q", data)
	case errors.As(err, &kind):
		return fmt.Errorf("replay: not a replay document: the member %q cannot be a JSON %s", kind.Field, kind.Value)
	}
	return fmt.Errorf("replay: not a replay document: %w", err)
}

// Commitment returns the SHA-256 of match, the seed of a match. If it is published before the match, everybody can
// check after the match that the seed was not changed.
func Commitment(match rules.Seed) Hex { return sha256.Sum256(match[:]) }

// Reveal stores match, the seed of the match, in the replay. Call it only when the match is over: until then the seed
// is secret.
func (r *Replay) Reveal(match rules.Seed) {
	r.Match.Seed = new(Hex(match))
}
