package store

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Difference is one place where the stored data differ from what Verify computed.
type Difference struct {
	Place       string `json:"where"` // table and key, as in "changes match_id=3 slot=1"
	Description string `json:"what"`  // column, stored value and rebuilt value, as in "k is 17 where 16 is due"
}

// OtherFormula is the Place of a special difference: another version of the rating formula computed the stored
// ratings. Store.Rerate removes this difference by computing the ratings again.
const OtherFormula = "formula"

func (d Difference) String() string { return d.Place + ": " + d.Description }

// maxFindings is the number of differences that are listed. Later ones are only counted.
const maxFindings = 10_000

// findings are the differences found so far.
type findings struct {
	list []Difference
	more int // number of differences that are not in the list
}

func (f *findings) add(list ...Difference) {
	n := min(len(list), maxFindings-len(f.list))
	f.list = append(f.list, list[:n]...)
	f.more += len(list) - n
}

func (f *findings) total() int { return len(f.list) + f.more }

func (f *findings) addAll(other findings) {
	f.add(other.list...)
	f.more += other.more
}

// differences returns the list. If differences were left out, it adds an element with their number.
func (f *findings) differences() []Difference {
	if f.more == 0 {
		return f.list
	}
	return append(slices.Clip(f.list), Difference{"verification", fmt.Sprintf("%d more differences are not listed", f.more)})
}

func (f *findings) report(where, format string, args ...any) {
	f.add(Difference{where, fmt.Sprintf(format, args...)})
}

// compare compares got with want, two structs of the same type. If a field differs, it adds a difference. where is
// the place that the difference names.
func (f *findings) compare(where string, got, want any) {
	if text := differences(got, want); text != "" {
		f.report(where, "%s", text)
	}
}

// differences describes the fields in which got differs from want, as in "k is 17 where 16 is due". Both are
// structs of the same type. The text is empty if they are equal.
func differences(got, want any) string {
	var parts []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		a, b := g.Field(i).Interface(), w.Field(i).Interface()
		if !reflect.DeepEqual(a, b) {
			parts = append(parts, fmt.Sprintf("%s is %s where %s is due", splitWords(g.Type().Field(i).Name), displayValue(a), displayValue(b)))
		}
	}
	return strings.Join(parts, ", ")
}

var newWord = regexp.MustCompile("([a-z])([A-Z])")

// splitWords splits a field name into words: "elo before" for EloBefore.
func splitWords(name string) string { return strings.ToLower(newWord.ReplaceAllString(name, "$1 $2")) }

// displayValue formats a value of the database for people.
func displayValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case driver.Valuer: // one that may be NULL
		if v, err := v.Value(); err == nil {
			return displayValue(v)
		}
	case []byte:
		if v == nil {
			return "none"
		}
		return hex.EncodeToString(v)
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

func optionsText(options map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		words = append(words, name+"="+options[name])
	}
	return strings.Join(words, " ")
}

// derivedTables lists the tables that can be computed from the matches and the games of people. Their columns listed
// in other cannot be computed or are compared in another way.
var derivedTables = []struct {
	table string
	other []string
}{
	{"ladders", []string{"name", "title", "game", "options", "clock", "deals", "slots", "house", "position", "active"}},
	{"matches", nil}, {"match_slots", nil}, {"attempts", nil}, {"results", []string{"data"}}, {"fingerprints", nil}, {"changes", nil},
	{"entries", []string{"fit", "plus_minus", "opponents"}}, {"pairs", nil}, {"plays", []string{"replay"}}, {"play_seats", nil}, {"person_ratings", nil},
}

// maxRowDifferences is the number of differing rows that are listed for a table.
const maxRowDifferences = 100

// compareTables compares the rebuilt derived tables with the stored ones. except has the columns that are not
// compared, by table.
func (r *rebuild) compareTables(except map[string][]string) error {
	return r.update(func(tx *Tx) error {
		for _, d := range derivedTables {
			if err := r.compareTable(tx, d.table, append(slices.Clone(d.other), except[d.table]...)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *rebuild) compareTable(tx *Tx, table string, except []string) error {
	columns, key, err := tx.columns(r.ctx, table)
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(except, c) })
	list := strings.Join(columns, ", ")
	pairs := &rowComparison{findings: &r.findings, table: table, key: key, columns: columns}
	err = tx.eachRow(r.ctx, func(scan func(...any) error) error {
		row, to := make([]any, 1+len(columns)), make([]any, 1+len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		err := scan(to...)
		pairs.add(row[0] == int64(1), row[1:])
		return err
	}, fmt.Sprintf(`SELECT 0 AS rebuilt, * FROM (SELECT %[1]s FROM stored.%[2]s EXCEPT SELECT %[1]s FROM main.%[2]s)
		UNION ALL SELECT 1, * FROM (SELECT %[1]s FROM main.%[2]s EXCEPT SELECT %[1]s FROM stored.%[2]s) ORDER BY %[3]s, rebuilt`, list, table, strings.Join(key, ", ")))
	pairs.finish()
	return err
}

// rowComparison reports how the rows of a table differ between the stored database and the rebuilt one, which was
// computed again. The method add receives each row that only one of the two has, in the order of keys. A stored and a
// rebuilt row with the same key are two states of one row.
type rowComparison struct {
	findings  *findings
	table     string
	key       []string
	columns   []string
	storedRow []any // last stored row, while it has no rebuilt counterpart; nil if there is none
	rows      int   // number of differing rows
}

func (p *rowComparison) add(rebuilt bool, row []any) {
	if !rebuilt {
		p.flush()
		p.storedRow = row
		return
	}
	if p.storedRow == nil || p.place(p.storedRow) != p.place(row) {
		p.flush()
		p.report(row, "it is missing: "+p.values(row))
		return
	}
	var parts []string
	for i, c := range p.columns {
		if !reflect.DeepEqual(p.storedRow[i], row[i]) {
			parts = append(parts, fmt.Sprintf("%s is %s where %s is due", c, displayValue(p.storedRow[i]), displayValue(row[i])))
		}
	}
	p.storedRow = nil
	p.report(row, strings.Join(parts, ", "))
}

// flush reports the last stored row if no rebuilt row has its key.
func (p *rowComparison) flush() {
	if p.storedRow != nil {
		p.report(p.storedRow, "it is stored, and follows from nothing: "+p.values(p.storedRow))
		p.storedRow = nil
	}
}

func (p *rowComparison) finish() {
	p.flush()
	if more := p.rows - maxRowDifferences; more > 0 {
		p.findings.report(p.table, "%d more rows differ", more)
	}
}

func (p *rowComparison) report(row []any, what string) {
	if p.rows++; p.rows <= maxRowDifferences {
		p.findings.report(p.place(row), "%s", what)
	}
}

// place returns the name of the table with the key of a row, as in "changes match_id=3 slot=1".
func (p *rowComparison) place(row []any) string {
	words := []string{p.table}
	for _, k := range p.key {
		words = append(words, fmt.Sprintf("%s=%v", k, row[slices.Index(p.columns, k)]))
	}
	return strings.Join(words, " ")
}

// values returns the columns of a row that are not in its key, as name=value.
func (p *rowComparison) values(row []any) string {
	var words []string
	for i, c := range p.columns {
		if !slices.Contains(p.key, c) {
			words = append(words, c+"="+displayValue(row[i]))
		}
	}
	return strings.Join(words, " ")
}
