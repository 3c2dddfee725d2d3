package store

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Difference is something that is not as the matches say it has to be.
type Difference struct {
	Where string `json:"where"` // as in "match 3, deal 0, rotation 1" or "ladder tute-2, version 7"
	What  string `json:"what"`
}

func (d Difference) String() string { return d.Where + ": " + d.What }

// findings are the differences found so far.
type findings []Difference

func (f *findings) differ(where, format string, args ...any) {
	*f = append(*f, Difference{where, fmt.Sprintf(format, args...)})
}

// compare adds how a row differs from what it has to be.
func (f *findings) compare(where string, got, want any) {
	if text := differences(got, want); text != "" {
		f.differ(where, "%s", text)
	}
}

// differences names the fields in which a row is not what it has to be, a struct of the same type.
func differences(got, want any) string {
	var parts []string
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		a, b := g.Field(i).Interface(), w.Field(i).Interface()
		if !reflect.DeepEqual(a, b) {
			parts = append(parts, fmt.Sprintf("%s is %s where %s is due", words(g.Type().Field(i).Name), shown(a), shown(b)))
		}
	}
	return strings.Join(parts, ", ")
}

var newWord = regexp.MustCompile("([a-z])([A-Z])")

// words returns a field's name as words: "elo before" for EloBefore.
func words(name string) string { return strings.ToLower(newWord.ReplaceAllString(name, "$1 $2")) }

// shown returns a value of the database for people.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case driver.Valuer: // one that may be NULL
		if v, err := v.Value(); err == nil {
			return shown(v)
		}
	case []byte:
		if v == nil {
			return "none"
		}
		return hex.EncodeToString(v)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(value)
}

// optionsText returns options as name=value, by name.
func optionsText(options map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		words = append(words, name+"="+options[name])
	}
	return strings.Join(words, " ")
}
