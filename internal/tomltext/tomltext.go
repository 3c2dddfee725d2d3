// Package tomltext says what is wrong with a document in TOML, for the person who has written it.
package tomltext

import (
	"fmt"
	"regexp"
	"strings"
)

// What the TOML package says: in all errors, of a value of another type than its key has, and of text without
// quotes.
var (
	place     = regexp.MustCompile(`(?s)^toml: (?:line ([0-9]+) ?)?(?:\(last key "([^"]*)"\))?: (.*)$`)
	otherType = regexp.MustCompile(`^incompatible types: TOML value has type (\S+); destination has type (\S+)$`)
	noTable   = regexp.MustCompile(`^type mismatch for .*: expected table but found (\S+)$`)
	curly     = regexp.MustCompile(`^expected value but found '[“”„‘’«»]' instead$`)
	noQuotes  = regexp.MustCompile(`^expected value but found (".*") instead$`)
)

// types has what people write for the types of the TOML package.
var types = map[string]string{
	"string": "text in quotes", "integer": "a whole number without quotes", "int64": "a number without quotes", "float": "a number without quotes",
	"float64": "a number with a point", "boolean": "true or false", "bool": "true or false",
	"slice": "a list in brackets, or a list of tables, as in [[name]]", "[]any": "a list in brackets",
	"map[string]any": "a table", "[]map[string]any": "a list of tables", "time.Time": "a date or a time",
}

// Message returns the message of an error of the TOML package: the line, the key and what belongs there.
func Message(err error) string {
	m := place.FindStringSubmatch(err.Error())
	if m == nil {
		return err.Error()
	}
	line, key, says := m[1], m[2], m[3]
	if m := otherType.FindStringSubmatch(says); m != nil {
		says = fmt.Sprintf("must be %s, not %s", typeName(m[2]), typeName(m[1]))
	} else if m := noTable.FindStringSubmatch(says); m != nil {
		says = fmt.Sprintf("must be a table, as in {name = value}, not %s", typeName(m[1]))
	} else if m := noQuotes.FindStringSubmatch(says); m != nil {
		says = fmt.Sprintf(`%s is not in quotes: write text as "text", and a list of words as ["one", "two"]`, m[1])
	} else if curly.MatchString(says) {
		says = `text begins and ends with straight quotes: write "text"`
	} else if says == "strings cannot contain newlines" {
		says = "the quote that ends the text is missing: both quotes stand in one line"
	}
	for _, detail := range []string{" for int64", " for float64"} {
		says, _, _ = strings.Cut(says, detail)
	}
	if key != "" {
		says = key + ": " + says
	}
	if line != "" {
		says = fmt.Sprintf("line %s: %s", line, says)
	}
	return says
}

func typeName(of string) string {
	if name, ok := types[of]; ok {
		return name
	}
	return of
}
