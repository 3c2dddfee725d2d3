package referee

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Hex is bytes that JSON holds as hexadecimal digits: a seed or a hash.
type Hex [32]byte

// MarshalText writes 64 digits.
func (h Hex) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText reads 64 digits, in lower case as they are written.
func (h *Hex) UnmarshalText(text []byte) error {
	if len(text) == 2*len(h) && bytes.Equal(text, bytes.ToLower(text)) {
		if _, err := hex.Decode(h[:], text); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%q is not 64 hexadecimal digits in lower case", text)
}

func (h Hex) String() string { return hex.EncodeToString(h[:]) }

// Replay is one game, complete: from game, options, seed and moves the rules
// rebuild every position. SPEC.md, "Replays", is its contract and
// replay.schema.json its schema.
type Replay struct {
	Timba      int               `json:"timba"` // version of the protocol
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"` // every one
	Seed       Hex               `json:"seed"`
	Commitment Hex               `json:"commitment"` // SHA-256 of the match's seed
	Match      ReplayMatch       `json:"match"`
	Clock      ReplayClock       `json:"clock"`
	Seats      []ReplaySeat      `json:"seats"`
	Moves      []ReplayMove      `json:"moves"`
	Faults     []Fault           `json:"faults"`
	Ranks      []int             `json:"ranks"`
	Points     []float64         `json:"points"`
}

// ReplayMatch is the game's place in its match; the seed stays away until the
// match is over.
type ReplayMatch struct {
	Seed     *Hex `json:"seed,omitempty"`
	Deal     int  `json:"deal"`
	Rotation int  `json:"rotation"`
}

// ReplayClock is a Clock in milliseconds.
type ReplayClock struct {
	Movetime int64  `json:"movetime,omitempty"`
	Bank     int64  `json:"bank,omitempty"`
	Inc      *int64 `json:"inc,omitempty"` // set where Bank is, be it 0
	Margin   int64  `json:"margin"`
}

// ReplaySeat is who sat there.
type ReplaySeat struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Seed    uint64 `json:"seed"` // the bot's own
	Untimed bool   `json:"untimed,omitempty"`
}

// ReplayMove is a move; one of the stand-in has no time.
type ReplayMove struct {
	Seat    int      `json:"seat"`
	Move    string   `json:"move"`
	MS      float64  `json:"ms,omitempty"`   // at least 0.001
	Info    []string `json:"info,omitempty"` // what the bot said it thought, a line each
	StandIn bool     `json:"standin,omitempty"`
}

// Encode writes the document for people as well: a line a field, a line a move.
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
	line("game", r.Game, false)
	line("options", r.Options, false)
	line("seed", r.Seed, false)
	line("commitment", r.Commitment, false)
	line("match", r.Match, false)
	line("clock", r.Clock, false)
	list(&b, "seats", r.Seats)
	list(&b, "moves", r.Moves)
	list(&b, "faults", r.Faults)
	line("ranks", r.Ranks, false)
	line("points", r.Points, true)
	b.WriteString("}\n")
	return b.Bytes()
}

func list[T any](b *bytes.Buffer, name string, items []T) {
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

// compact is a value's JSON without the escapes that only HTML needs.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("referee: a replay holds what JSON cannot: " + err.Error()) // no field can
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// DecodeReplay reads a replay; unknown fields are refused.
func DecodeReplay(data []byte) (*Replay, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	r := new(Replay)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("replay: not a replay document: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("replay: there is more after the end of the document")
	}
	if r.Timba != protocol.Version {
		return nil, fmt.Errorf("replay: version %d is not known: this program reads version %d", r.Timba, protocol.Version)
	}
	return r, nil
}

// Commitment is what is published of a match's seed before the match.
func Commitment(match rules.Seed) Hex { return sha256.Sum256(match[:]) }

// Reveal puts the match's seed in, once the match is over.
func (r *Replay) Reveal(match rules.Seed) {
	seed := Hex(match)
	r.Match.Seed = &seed
}

func settingsMap(s rules.Settings) map[string]string {
	m := make(map[string]string, len(s))
	for _, o := range s {
		m[o.Name] = o.Value
	}
	return m
}
