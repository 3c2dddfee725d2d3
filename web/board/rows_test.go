package board_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/board"
)

// rows yields the rows of samples.
func rows(t *testing.T, names ...string) iter.Seq2[board.Row, error] {
	return func(yield func(board.Row, error) bool) {
		for _, name := range names {
			c := find(t, name)
			for row, err := range board.Rows(play(t, c), c.game, "game-7.json") {
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

func TestReplaysRowsGolden(t *testing.T) {
	var b bytes.Buffer
	kit.Must(t, board.WriteCSV(&b, rows(t, "tebes-fault", "brisca")))
	kit.Golden(t, "moves.csv", b.String())
}

// CSV and JSON have the same rows, and the JSON keys are the names of the columns.
func TestReplaysRowsAgree(t *testing.T) {
	names := []string{"podrida-fault", "tute", "teeko-drop"}
	var asCSV, asJSON bytes.Buffer
	kit.Must(t, board.WriteCSV(&asCSV, rows(t, names...)))
	kit.Must(t, board.WriteJSON(&asJSON, rows(t, names...)))
	records := kit.Get[[][]string](t)(csv.NewReader(&asCSV).ReadAll())
	d := json.NewDecoder(&asJSON)
	d.UseNumber()
	var objects []map[string]any
	kit.Must(t, d.Decode(&objects))
	if !slices.Equal(records[0], board.Columns) || len(objects) != len(records)-1 {
		t.Fatalf("%d objects, and %d records under %q", len(objects), len(records)-1, records[0])
	}
	standIns := 0
	for i, object := range objects {
		record := records[i+1]
		if len(object) != len(board.Columns) {
			t.Fatalf("row %d has %d members, want %d", i, len(object), len(board.Columns))
		}
		for j, name := range board.Columns {
			if got := flat(t, name, object[name]); name != "options" && got != record[j] {
				t.Fatalf("row %d, %s: JSON has %q, CSV %q", i, name, got, record[j])
			}
		}
		if object["standin"] == true {
			standIns++
			if object["ms"] != nil {
				t.Errorf("row %d: a move of the stand-in took %v ms", i, object["ms"])
			}
		}
		if legal := object["legal"].([]any); !slices.Contains(legal, object["move"]) || strconv.Itoa(len(legal)) != flat(t, "choices", object["choices"]) {
			t.Errorf("row %d: %v is not one of the %v moves %v", i, object["move"], object["choices"], legal)
		}
	}
	if standIns == 0 {
		t.Error("no move of the stand-in")
	}
}

// Stored replays may have texts that no bot can have written. CSV quotes these texts and no others.
func TestReplaysRowsQuoted(t *testing.T) {
	c := find(t, "brisca")
	r := *play(t, c)
	r.Moves, r.Seats = slices.Clone(r.Moves), slices.Clone(r.Seats)
	r.Moves[0].Info = []string{"score=1", "score=2\nscore=3", "note=\x1b[2J", "hello"}
	r.Seats[r.Moves[0].Seat].Version = "1\x1b[2J"
	var b bytes.Buffer
	kit.Must(t, board.WriteCSV(&b, board.Rows(&r, c.game, "games/a, b.json")))
	records := kit.Get[[][]string](t)(csv.NewReader(&b).ReadAll())
	for name, want := range map[string]string{
		"info": "score=1\t\"score=2\\nscore=3\"\t\"note=\\x1b[2J\"\t\"hello\"", "version": `"1\x1b[2J"`, "file": "games/a, b.json",
	} {
		if got := records[1][slices.Index(board.Columns, name)]; got != want {
			t.Errorf("the %s is %s, want %s", name, got, want)
		}
	}
}

// flat returns a value of the JSON document in the form of CSV.
func flat(t *testing.T, name string, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		var words []string
		for _, w := range v {
			words = append(words, w.(string))
		}
		if name == "info" {
			return strings.Join(words, "\t")
		}
		return strings.Join(words, " ")
	case map[string]any:
		return ""
	}
	t.Fatalf("%s is a %T", name, value)
	return ""
}

func TestReplaysRowsOfNothing(t *testing.T) {
	var asCSV, asJSON bytes.Buffer
	kit.Must(t, board.WriteCSV(&asCSV, rows(t)))
	kit.Must(t, board.WriteJSON(&asJSON, rows(t)))
	if want := strings.Join(board.Columns, ",") + "\n"; asCSV.String() != want || asJSON.String() != "[]\n" {
		t.Errorf("got %q and %q", asCSV.String(), asJSON.String())
	}
}

// WriteCSV and WriteJSON return an error of the rows and of the writer.
func TestReplaysRowsStopAtAnError(t *testing.T) {
	full := errors.New("full")
	broken := func(yield func(board.Row, error) bool) {
		for row := range rows(t, "teeko") {
			if !yield(row, nil) {
				t.Error("a row after an error is taken")
			}
			break
		}
		yield(board.Row{}, full)
	}
	for name, write := range map[string]func(io.Writer, iter.Seq2[board.Row, error]) error{"csv": board.WriteCSV, "json": board.WriteJSON} {
		if err := write(io.Discard, broken); !errors.Is(err, full) {
			t.Errorf("%s: rows that end in an error end in %v", name, err)
		}
		if err := write(failing{full}, rows(t, "teeko")); !errors.Is(err, full) {
			t.Errorf("%s: a full disk ends in %v", name, err)
		}
	}
}

// failing fails at each write.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
