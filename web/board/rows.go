package board

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Row is one move in a table for training: what the seat could see, its legal moves, its move and its result.
// Apart from the seed, the rank and the points, a row has only what the seat could know.
type Row struct {
	Game     string            `json:"game"`
	Options  map[string]string `json:"options"`
	Seed     referee.Hex       `json:"seed"`
	Deal     int               `json:"deal"`
	Rotation int               `json:"rotation"`
	Ply      int               `json:"ply"` // the number of moves before this one
	Seat     int               `json:"seat"`
	Bot      string            `json:"bot"`
	Version  string            `json:"version"`
	Move     string            `json:"move"`
	Choices  int               `json:"choices"` // number of legal moves
	Legal    []string          `json:"legal"`   // in the order of the turn line
	View     string            `json:"view"`
	MS       *float64          `json:"ms"`   // the time of the move in milliseconds; nil if the bot did not make it, as in the opening or after a fault
	Info     []string          `json:"info"` // info lines that the bot sent with the move
	StandIn  bool              `json:"standin"`
	Rank     int               `json:"rank"`
	Points   float64           `json:"points"`
	// EndByScores says whether the scores that bots reported ended the game early: as a draw ("draw"), by
	// resignation ("resign"), or not ("").
	EndByScores string `json:"adjudicated"`
	File        string `json:"file"` // the replay's file

	settings rules.Settings // the options in the order of the game
}

// Columns are the names in the header of the CSV format, in the order of the fields of Row.
var Columns = []string{
	"game", "options", "seed", "deal", "rotation", "ply", "seat", "bot", "version",
	"move", "choices", "legal", "view", "ms", "info", "standin", "rank", "points", "adjudicated", "file",
}

// Rows yields a Row for each move of the replay r. g has the rules of the game, and file is the name of the replay's
// file. At an error, such as a move against the rules, Rows yields the error and ends.
func Rows(r *referee.Replay, g *rules.Game, file string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		v, err := checkReplay(r, g)
		if err != nil {
			yield(Row{}, err)
			return
		}
		for step, err := range r.Walk(v, nil) {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if step.Next == nil {
				return
			}
			row := newRow(r, v, step.State, step.Next)
			row.File = file
			if !yield(row, nil) {
				return
			}
		}
	}
}

func newRow(r *referee.Replay, v *rules.Variant, s rules.State, m *referee.ReplayMove) Row {
	row := Row{
		Game: r.Game, Options: r.Options, Seed: r.Seed, Deal: r.Match.Deal, Rotation: r.Match.Rotation,
		Ply: s.Ply(), Seat: m.Seat, Bot: r.Seats[m.Seat].Name, Version: r.Seats[m.Seat].Version,
		Move: m.Move, View: string(s.View(nil, m.Seat)), Info: append([]string{}, m.Info...), StandIn: m.StandIn,
		Rank: r.Ranks[m.Seat], Points: r.Points[m.Seat], settings: v.Settings,
	}
	for _, legal := range s.Legal(nil) {
		row.Legal = append(row.Legal, string(s.MoveText(nil, legal)))
	}
	row.Choices = len(row.Legal)
	if r.AdjudicationResult != nil {
		row.EndByScores = string(r.AdjudicationResult.Kind)
	}
	if m.ByBot() {
		row.MS = &m.MS
	}
	return row
}

// WriteCSV writes rows as CSV (RFC 4180) with a header. The items of a list are separated by spaces, but lines of
// info (what a bot says about a move) by tabs. Names, versions and info lines with unprintable characters are quoted
// with strconv.Quote. WriteCSV returns the first error of rows or of w.
func WriteCSV(w io.Writer, rows iter.Seq2[Row, error]) error {
	c := csv.NewWriter(w)
	if err := c.Write(Columns); err != nil {
		return err
	}
	for r, err := range rows {
		if err != nil {
			return err
		}
		ms := ""
		if r.MS != nil {
			ms = decimal(*r.MS)
		}
		err := c.Write([]string{
			r.Game, r.settings.String(), r.Seed.String(), strconv.Itoa(r.Deal), strconv.Itoa(r.Rotation),
			strconv.Itoa(r.Ply), strconv.Itoa(r.Seat), printable(r.Bot), printable(r.Version),
			r.Move, strconv.Itoa(r.Choices), strings.Join(r.Legal, " "), r.View, ms,
			strings.Join(quotedInfos(r.Info), "\t"), strconv.FormatBool(r.StandIn), strconv.Itoa(r.Rank), decimal(r.Points), r.EndByScores, printable(r.File),
		})
		if err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func printable(text string) string {
	if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(text)
	}
	return text
}

// quotedInfos returns the lines of info of a move, which say what the bot thinks about it. Lines that the protocol
// does not allow are quoted with strconv.Quote.
func quotedInfos(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		if protocol.CheckInfo([]byte(line)) != nil {
			lines[i] = strconv.Quote(line)
		}
	}
	return lines
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// WriteJSON writes rows as one JSON array with a line for each row.
func WriteJSON(w io.Writer, rows iter.Seq2[Row, error]) error {
	before, end := "[\n", "[]\n"
	for r, err := range rows {
		if err != nil {
			return err
		}
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before+string(data)); err != nil {
			return err
		}
		before, end = ",\n", "\n]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}
