package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules/text"
)

// evidenceColumns are the columns of the file with the evidence for the claims of a study.
const evidenceColumns = "id,claim,measure,games,units,reported,least,effect,low,high,p,power,verdict"

// cells returns the row of the evidence, in the order of evidenceColumns. What is unknown is empty.
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

// roundText returns x with four significant digits, or "" if it is not finite.
func roundText(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// WriteEvidence prints the evidence for the claims of a study as a table.
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

// SaveEvidence writes the evidence for the claims of a study as a CSV file into dir, and returns its path. command is
// the command that found it.
func (e *Experiment) SaveEvidence(dir, command string, list []Evidence) (path string, err error) {
	path = filepath.Join(dir, e.Name+".csv")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fmt.Fprintf(f, "# command: %s\n# sample: by row, units are games, or seeds where there are 2 or more\n", command)
	w := csv.NewWriter(f)
	w.Write(strings.Split(evidenceColumns, ","))
	for i := range list {
		w.Write(list[i].cells())
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return "", err
	}
	return path, f.Close()
}
