package experiment

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules/text"
)

// evidenceColumns has the names, joined by commas, of the columns in the CSV file of tested claims (see SaveEvidence).
const evidenceColumns = "id,claim,measure,games,units,reported,least,effect,low,high,p,power,verdict"

// cells returns the texts of f for a line of a table, in the order of evidenceColumns. If the claim was not tested, the
// effect, its interval and its p-value are "".
func (f *Evidence) cells() []string {
	cells := []string{f.ID, f.Quote, f.Measure}
	reported := formatFinite(f.StudyEffect)
	if f.Guessed {
		reported += " (guess)"
	}
	found := []float64{f.Effect, f.Low, f.High, f.P}
	if f.Units == 0 {
		found = []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	cells = append(cells, strconv.Itoa(f.Games), strconv.Itoa(f.Units), reported, formatFinite(f.Threshold))
	for _, x := range found {
		cells = append(cells, roundText(x))
	}
	return append(cells, roundText(f.Power), string(f.Verdict))
}

// roundText returns x as text with at most four significant digits, or "" if x is infinite or not a number.
func roundText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// WriteEvidence prints the claims in list with the results of their tests to w, as a table. It prints only the section
// of each quoted sentence, which is the text before the first colon.
func WriteEvidence(w io.Writer, list []Evidence) {
	text.Rows(w, strings.ReplaceAll(evidenceColumns, ",", "|"), list, func(f Evidence) (row []any) {
		for i, cell := range f.cells() {
			if i == 1 {
				cell, _, _ = strings.Cut(cell, ":")
			}
			row = append(row, cell)
		}
		return row
	})
}

// SaveEvidence writes the claims in list with the results of their tests as a CSV file into the directory dir, which
// must exist. It returns the path of the file, which is named after e, such as dir/claims-teeko.csv. command is the
// shell command that produced the results; the first line of the file quotes it.
func (e *Experiment) SaveEvidence(dir, command string, list []Evidence) (path string, err error) {
	var rows [][]string
	for i := range list {
		rows = append(rows, list[i].cells())
	}
	path = filepath.Join(dir, e.Name+".csv")
	head := fmt.Sprintf("# command: %s\n# sample: by row, units are games, or seeds where there are 2 or more\n", command)
	return path, writeTable(path, head, evidenceColumns, rows)
}
