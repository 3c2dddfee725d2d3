package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"github.com/timba-arena/timba/rules/text"
)

// Report is the result of a measurement.
type Report struct {
	Machine string  `json:"machine"`
	Tables  []Table `json:"tables"`
	Details any     `json:"details,omitempty"` // additional data for the JSON output
}

func newReport(tables ...Table) *Report {
	machine := fmt.Sprintf("%s %s/%s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, text.Count(runtime.NumCPU(), "core"))
	return &Report{Machine: machine, Tables: tables}
}

// Write prints the machine and the tables of the report as text.
func (r *Report) Write(w io.Writer) {
	fmt.Fprintln(w, r.Machine)
	for _, t := range r.Tables {
		fmt.Fprintln(w)
		t.write(w)
	}
}

// Table is a table of results. A cell is a string, a number, a figure (a number with a format for text), or nil.
type Table struct {
	Columns []string
	Rows    [][]any
}

func newTable(columns string) Table { return Table{Columns: strings.Split(columns, "|")} }

func (t *Table) add(cells ...any) { t.Rows = append(t.Rows, cells) }

// MarshalJSON encodes the table as a list of rows. Each row is an object with the column names as keys.
func (t Table) MarshalJSON() ([]byte, error) {
	rows := make([]map[string]any, len(t.Rows))
	for i, cells := range t.Rows {
		rows[i] = map[string]any{}
		for column, cell := range cells {
			rows[i][t.Columns[column]] = cell
		}
	}
	return json.Marshal(rows)
}

func (t Table) write(w io.Writer) {
	text.Rows(w, strings.Join(t.Columns, "|"), t.Rows, func(cells []any) (row []any) {
		for _, cell := range cells {
			if cell == nil {
				cell = "-"
			}
			row = append(row, cell)
		}
		return row
	})
}

// figure is a number in a cell of a Table. In JSON it is a plain number. In text it is printed with format, a
// format string of package fmt.
type figure struct {
	format string
	value  float64
}

func (f figure) String() string { return fmt.Sprintf(f.format, f.value) }

func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(f.value) || math.IsInf(f.value, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

func noDecimals(value float64) figure { return figure{"%.0f", value} }

func oneDecimal(value float64) figure { return figure{"%.1f", value} }

func twoDecimals(value float64) figure { return figure{"%.2f", value} }
