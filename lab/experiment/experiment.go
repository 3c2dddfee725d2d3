// Package experiment repeats the experiments of published studies and compares its figures with the published ones. A
// file in the directory data defines an experiment; lab/experiments.md describes the format. Begin with Experiment.
package experiment

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/timba-arena/timba/rules"
)

// Experiment is an experiment as its file defines it. It consists of one of these: matches between bots,
// which may be trained before; models whose training time is measured; or trainings.
type Experiment struct {
	Name  string `toml:"-"` // name of the file, without .toml
	Title string // short description of what is compared
	Study string // the publication
	Cost  string // measured duration of the whole experiment
	// Remark describes the differences from the study, and what the study does not specify.
	Remark string
	Games  int // number of games in the study, for rows that have no number of their own
	// GuessedGames is true if the study does not print its number of games, so that the numbers of games are
	// guesses.
	GuessedGames bool `toml:"guessed"`

	Models   models `toml:"model"`
	BothWays bool   `toml:"both"` // train and play twice: with all known defects of the study's program, and with none
	Game     string
	Options  map[string]string // of the game; all others have their defaults
	Bots     map[string]string // specs of house bots, by the names that the tables use
	Grid     []string          // names of bots: each of them in seat 0 plays against each in seat 1
	Matches  []Matchup         `toml:"match"` // including those of the grid

	Trainings []Training `toml:"training"`

	Repeats int // number of seeds with which all trainings are repeated; 0 means 1

	Tables []Table `toml:"table"`
	Claims []Claim `toml:"claim"` // instead of tables

	rows         []row
	claimResults map[string][]result // of the claims tested so far, by row
}

// row is what each line of an experiment's tables stands for: a match, a training or a model.
type row struct {
	name      string
	games     int      // number of games in the study, or the amount that a model learns from
	seedCount int      // number of seeds with which its models are trained, at least 1
	absent    []string // columns without a figure, for example bots that do not play
}

func (r row) has(column string) bool { return !slices.Contains(r.absent, column) }

// Matchup is a series of games between bots.
type Matchup struct {
	Name     string            // name of the row in the tables; by default the names of the bots
	Bots     []string          // names in Experiment.Bots or Experiment.Models, in the order of the seats
	Game     string            // instead of the experiment's
	Options  map[string]string // options of the game that replace or extend those of the experiment
	Rules    string            // combinations of the optional rules, with a match for each, see cards.Mode.Combinations
	Fixed    bool              // the bots keep their seats; otherwise they move on by one seat from game to game
	Permuted bool              // the bots take the seats in every possible order
	Games    int               // number in the study; 0 means that of the experiment

	variant   *rules.Variant
	seedCount int // number of seeds of its models, at least 1
}

// Table is a published table, with the measure (how its numbers are computed) that is compared with it.
type Table struct {
	Number  string // its number in the study
	Title   string
	Measure string // a key of measures
	// Bots are the bots that have a column in the table. It is empty if the measure is not about single bots.
	Bots []string `toml:"of"`
	// PublishedFigures has the figures by row and column, with nan for missing ones. If the study has no
	// figures, it is empty. Shares are in percent or, if Counts is true, in numbers of games.
	PublishedFigures [][]float64 `toml:"published"`
	Counts           bool
	// Totals has, for each column, the figure that the study gives for all rows of the table together. Its unit is
	// that of PublishedFigures. It is nil if the study gives no such figures.
	Totals []float64 `toml:"total"`
	// Plot is true if a plot of the table is drawn.
	Plot bool
}

//go:embed data/*.toml
var files embed.FS

// List returns the embedded experiments that compare tables with published ones, sorted by name. Studies returns the
// others, which test claims. List returns an error if a file of an experiment is not valid.
func List() ([]*Experiment, error) { return readFiles(false) }

// readFiles returns embedded experiments, sorted by name. If claims is true, it returns those that test claims
// (conclusions of studies), otherwise all others. It returns an error if one of these files is not valid.
func readFiles(claims bool) (list []*Experiment, err error) {
	entries, err := files.ReadDir("data")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), studyPrefix) != claims {
			continue
		}
		data, err := files.ReadFile(path.Join("data", entry.Name()))
		if err != nil {
			return nil, err
		}
		e, err := Parse(strings.TrimSuffix(entry.Name(), ".toml"), string(data))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Find returns the embedded experiment with the given name. If there is none, the error suggests similar names: the
// names that have the longest prefix in common with it.
func Find(name string) (*Experiment, error) {
	list, err := List()
	if err != nil {
		return nil, err
	}
	for prefix := name; ; prefix = prefix[:len(prefix)-1] {
		var similar []string
		for _, e := range list {
			if e.Name == name {
				return e, nil
			}
			if strings.HasPrefix(e.Name, prefix) {
				similar = append(similar, e.Name)
			}
		}
		if len(similar) > 0 {
			return nil, fmt.Errorf("experiment %q does not exist: try %s", name, strings.Join(similar, ", "))
		}
	}
}

// Parse reads and checks the text of an experiment's TOML file. The name is that of the file without .toml.
func Parse(name, text string) (*Experiment, error) {
	e := &Experiment{Name: name}
	meta, err := toml.Decode(text, e)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("key %q does not exist", meta.Undecoded()[0])
	}
	if err == nil {
		err = e.complete()
	}
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", name, err)
	}
	return e, nil
}

// kind says whether the rows of an experiment's tables are matches, trainings or models.
type kind int

const (
	kindMatches kind = iota
	kindTrainings
	kindModels
)

func (e *Experiment) kind() kind {
	switch {
	case len(e.Trainings) > 0:
		return kindTrainings
	case e.Game == "":
		return kindModels
	}
	return kindMatches
}

// complete checks what the file of the experiment defines and creates the rows of its tables.
func (e *Experiment) complete() error {
	kind := e.kind()
	plays := len(e.Grid)+len(e.Matches)+len(e.Bots)+len(e.Options) > 0
	switch {
	case e.Title == "" || e.Study == "" || e.Cost == "":
		return errors.New("title, study or cost is missing")
	case kind == kindTrainings && (e.Game != "" || len(e.Models) > 0), e.Game == "" && plays,
		kind == kindModels && len(e.Models) == 0:
		return errors.New("it needs either a game with its bots and matches, or models alone, or trainings")
	case kind == kindModels && e.Games != 0:
		return errors.New("models alone play no games")
	case kind != kindModels && e.Games < 1:
		return fmt.Errorf("games cannot be %d: try 1 or more", e.Games)
	case (len(e.Tables) == 0) == (len(e.Claims) == 0):
		return errors.New("it needs either tables or claims")
	case e.BothWays && (kind != kindMatches || len(e.Models) == 0):
		return errors.New("both ways are for models that play: there are none")
	}
	if err := e.completeModels(); err != nil {
		return err
	}
	var err error
	switch kind {
	case kindMatches:
		err = e.completeMatches()
	case kindTrainings:
		err = e.completeTrainings()
	}
	if err != nil {
		return err
	}
	for _, t := range e.Tables {
		if err := e.checkTable(&t); err != nil {
			return fmt.Errorf("table %q: %w", t.Number, err)
		}
	}
	for i := range e.Claims {
		if err := e.checkClaim(&e.Claims[i]); err != nil {
			return fmt.Errorf("claim %d: %w", i+1, err)
		}
	}
	return nil
}

// checkTable checks the measure and the columns of a table, and that the published figures, if there are any,
// fill all rows and columns.
func (e *Experiment) checkTable(t *Table) error {
	m, ok := measures[t.Measure]
	if !ok || m.kind != e.kind() {
		return fmt.Errorf("measure %q does not exist: try %s", t.Measure, strings.Join(measureNames(e.kind()), ", "))
	}
	switch {
	case t.Number == "" || t.Title == "":
		return errors.New("number or title is missing")
	case (m.columns == nil) != (len(t.Bots) > 0):
		return fmt.Errorf("of cannot be %q with measure %q", t.Bots, t.Measure)
	case t.Counts && !m.share:
		return fmt.Errorf("counts are for shares, not for measure %q", t.Measure)
	case len(t.Totals) > 0 && len(t.Totals) != len(t.columns()):
		return fmt.Errorf("total has %d figures for %d columns", len(t.Totals), len(t.columns()))
	case len(t.Totals) > 0 && slices.ContainsFunc(e.rows, func(r row) bool { return r.seedCount > 1 }):
		return errors.New("total is not for models with seeds")
	}
	sides := e.players()
	if !slices.ContainsFunc(e.Matches, func(m Matchup) bool { return !m.Fixed }) {
		sides = append(sides, seatColumn)
	}
	for _, name := range t.Bots {
		if !slices.Contains(sides, name) {
			return fmt.Errorf("bot %q does not play: try %s", name, strings.Join(sides, ", "))
		}
	}
	n := 0
	for _, row := range t.PublishedFigures {
		n += len(row)
	}
	if n > 0 && n != len(e.rows)*len(t.columns()) {
		return fmt.Errorf("%d figures are published where %d rows have %d columns", n, len(e.rows), len(t.columns()))
	}
	for i, row := range e.rows {
		for column, name := range t.columns() {
			if !row.has(name) && !math.IsNaN(t.publishedFigure(i, column)) {
				return fmt.Errorf("a figure of %q is published where it does not play: write nan", name)
			}
		}
	}
	return nil
}

func (t *Table) publishedFigure(row, column int) float64 {
	if len(t.PublishedFigures) == 0 {
		return math.NaN()
	}
	return slices.Concat(t.PublishedFigures...)[row*len(t.columns())+column]
}
