package replaypage

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// Row is one move for a training set: what its seat could see, its legal moves, and its result.
// Except for the seed, rank and points, it contains only what the seat could know.
type Row struct {
	Game     string            `json:"game"`
	Options  map[string]string `json:"options"`
	Seed     referee.Hex       `json:"seed"`
	Deal     int               `json:"deal"`
	Rotation int               `json:"rotation"`
	Ply      int               `json:"ply"` // moves made before it
	Seat     int               `json:"seat"`
	Bot      string            `json:"bot"`
	Version  string            `json:"version"`
	Move     string            `json:"move"`
	Choices  int               `json:"choices"` // the number of legal moves
	Legal    []string          `json:"legal"`   // in the order of the turn line
	View     string            `json:"view"`
	MS       *float64          `json:"ms"`   // nil for a move of the stand-in
	Info     []string          `json:"info"` // may be empty
	StandIn  bool              `json:"standin"`
	Rank     int               `json:"rank"`
	Points   float64           `json:"points"`
	// Adjudicated is how the bots' scores ended the game, "draw" or "resign", "" if they did not.
	Adjudicated string `json:"adjudicated"`

	settings rules.Settings // the options in the game's order
}

// Columns is the header of the CSV format, in the order of the fields of Row.
var Columns = []string{
	"game", "options", "seed", "deal", "rotation", "ply", "seat", "bot", "version",
	"move", "choices", "legal", "view", "ms", "info", "standin", "rank", "points", "adjudicated",
}

// Rows calls add with each move of a replay.
func Rows(r *referee.Replay, g rules.Game, add func(Row) error) error {
	v, err := check(r, g)
	if err != nil {
		return err
	}
	var moves []rules.Move
	for step, err := range r.Walk(v, nil) {
		if err != nil {
			return err
		}
		s, m := step.State, step.Next
		if m == nil {
			break
		}
		row := Row{
			Game: r.Game, Options: r.Options, Seed: r.Seed, Deal: r.Match.Deal, Rotation: r.Match.Rotation,
			Ply: s.Ply(), Seat: m.Seat, Bot: r.Seats[m.Seat].Name, Version: r.Seats[m.Seat].Version,
			Move: m.Move, View: string(s.View(nil, m.Seat)), Info: append([]string{}, m.Info...), StandIn: m.StandIn,
			Rank: r.Ranks[m.Seat], Points: r.Points[m.Seat], settings: v.Settings(),
		}
		moves = s.Legal(moves[:0])
		row.Choices = len(moves)
		for _, m := range moves {
			row.Legal = append(row.Legal, string(s.MoveText(nil, m)))
		}
		if r.Adjudicated != nil {
			row.Adjudicated = string(r.Adjudicated.As)
		}
		if !m.StandIn {
			row.MS = &m.MS
		}
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

// RowWriter writes rows. Close ends the document, but does not close the underlying writer.
type RowWriter interface {
	Write(Row) error
	Close() error
}

// NewCSV returns a writer of rows as CSV, RFC 4180, with a header. Lists are joined by spaces,
// but info lines, which contain spaces, by tabs.
func NewCSV(w io.Writer) RowWriter { return &csvWriter{csv.NewWriter(w), false} }

type csvWriter struct {
	w      *csv.Writer
	headed bool
}

func (c *csvWriter) head() error {
	if c.headed {
		return nil
	}
	c.headed = true
	return c.w.Write(Columns)
}

func (c *csvWriter) Write(r Row) error {
	if err := c.head(); err != nil {
		return err
	}
	ms := ""
	if r.MS != nil {
		ms = decimal(*r.MS)
	}
	return c.w.Write([]string{
		r.Game, r.settings.String(), r.Seed.String(), strconv.Itoa(r.Deal), strconv.Itoa(r.Rotation),
		strconv.Itoa(r.Ply), strconv.Itoa(r.Seat), r.Bot, r.Version,
		r.Move, strconv.Itoa(r.Choices), strings.Join(r.Legal, " "), r.View, ms,
		strings.Join(r.Info, "\t"), strconv.FormatBool(r.StandIn), strconv.Itoa(r.Rank), decimal(r.Points), r.Adjudicated,
	})
}

func (c *csvWriter) Close() error {
	if err := c.head(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// decimal returns a number without an exponent, as the protocol writes points.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// NewJSON returns a writer of rows as one JSON array, with one line for each row.
func NewJSON(w io.Writer) RowWriter { return &jsonWriter{w: w} }

type jsonWriter struct {
	w    io.Writer
	rows int
}

func (j *jsonWriter) Write(r Row) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	before := ",\n"
	if j.rows == 0 {
		before = "[\n"
	}
	j.rows++
	_, err = io.WriteString(j.w, before+string(data))
	return err
}

func (j *jsonWriter) Close() error {
	end := "\n]\n"
	if j.rows == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}
