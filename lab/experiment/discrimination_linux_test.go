//go:build !race || slowrace

package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/stats"
)

// TestTables checks that lab/results/tables.csv says what each published table tells, by the present results.
func TestTables(t *testing.T) {
	kit.Slow(t)
	const head = "# command: go test ./lab/experiment -run TestTables -update\n# sample: 4000 simulated studies by each hypothesis\n"
	text, err := discriminations("../results")
	kit.Must(t, err)
	kit.Golden(t, "../../results/tables.csv", head+text)
}

// TestDiscrimination checks the test of a table: figures like ours in many games tell it from equal bots, few games do
// not, and equal figures fit equal bots.
func TestDiscrimination(t *testing.T) {
	e := parse(t, tiny)
	e.rows[0].games = 100
	table := func(a, b float64, games int) *Comparison {
		figure := func(bot string, ours, published float64) Figure {
			f := Figure{Row: "greedy - random", Column: bot, Games: 1000, StudyGames: games}
			f.OurEstimate.Value, f.PublishedEstimate.Value = ours, published
			return f
		}
		return &Comparison{Measure: "wins", Figures: []Figure{figure("greedy", 70, a), figure("random", 30, b)}}
	}
	far, ok := e.discrimination(table(68, 32, 100), 1)
	if !ok || far.Statistic < 3 || far.FromEqual > 0.01 || far.FromOurs < 0.05 || far.Power < 0.95 || far.Games != 100 {
		t.Errorf("like ours %+v", far)
	}
	if few, _ := e.discrimination(table(68, 32, 10), 1); few.Power > 0.6 || few.FromEqual < 0.02 {
		t.Errorf("of few games %+v", few)
	}
	if even, _ := e.discrimination(table(50, 50, 100), 1); even.Statistic > 0 || even.FromEqual < 0.3 || even.FromOurs > 0.01 {
		t.Errorf("equal figures %+v", even)
	}
	if more, _ := e.discrimination(table(68, 32, 10), 10); more.Power < far.Power-0.02 || more.Games != 100 {
		t.Errorf("with ten times the games %+v", more)
	}
	if _, ok := e.discrimination(&Comparison{Measure: "move-time"}, 1); ok {
		t.Error("times are compared")
	}
}

// discriminations returns a table in CSV with the discrimination of each published table, from the results in a
// directory. If an experiment guesses the study's number of games, it has rows for twice and five times as many.
func discriminations(dir string) (text string, err error) {
	list, err := List()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write([]string{"experiment", "table", "way", "games", "statistic", "from_equal", "from_ours", "power"})
	for _, e := range list {
		tables, err := e.readComparisons(filepath.Join(dir, e.Name+".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		for i := range tables {
			for _, times := range e.sampleGuesses() {
				if d, ok := e.discrimination(&tables[i], times); ok {
					w.Write([]string{e.Name, tables[i].Number, string(tables[i].Way), strconv.Itoa(d.Games),
						roundText(d.Statistic), roundText(d.FromEqual), roundText(d.FromOurs), roundText(d.Power)})
				}
			}
		}
	}
	w.Flush()
	return b.String(), w.Error()
}

// sampleGuesses returns by what the study's number of games, as far as it is a guess, is multiplied.
func (e *Experiment) sampleGuesses() []int {
	if e.GuessedGames {
		return []int{1, 2, 5}
	}
	return []int{1}
}

// readComparisons reads the tables of a CSV file that Save has written.
func (e *Experiment) readComparisons(path string) (list []Comparison, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comment = '#'
	rows, err := table.ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], ",") != findingsColumns {
		return nil, fmt.Errorf("%q is not a file of results: %w", path, err)
	}
	for _, row := range rows[1:] {
		number := func(i int) float64 {
			x, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return math.NaN()
			}
			return x
		}
		f := Figure{
			Row: row[2], Column: row[3], Games: int(number(4)), StudyGames: int(number(9)),
			OurEstimate:       stats.Estimate{Value: number(5), Low: number(6), High: number(7)},
			PublishedEstimate: stats.Estimate{Value: number(10), Low: number(11), High: number(12)},
		}
		n := len(list)
		if n == 0 || list[n-1].Number != row[0] || list[n-1].Way != way(row[14]) {
			list = append(list, Comparison{Number: row[0], Measure: row[1], Way: way(row[14])})
			n++
		}
		list[n-1].Figures = append(list[n-1].Figures, f)
	}
	return list, nil
}
