// Package tomltext translates the errors of the TOML package into advice for the person who wrote the document.
package tomltext

import (
	"regexp"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// These expressions match error messages of the TOML package: place matches all of them, and the others match
// messages about a value of the wrong type or about missing or wrong quotes.
var (
	place     = regexp.MustCompile(`(?s)^toml: (?:line ([0-9]+) ?)?(?:\(last key "([^"]*)"\))?: (.*)$`)
	otherType = regexp.MustCompile(`^incompatible types: TOML value has type (\S+); destination has type (\S+)$`)
	noTable   = regexp.MustCompile(`^type mismatch for .*: expected table but found (\S+)$`)
	curly     = regexp.MustCompile(`^expected value but found '[“”„‘’«»]' instead$`)
	duration  = regexp.MustCompile(`^(?:time: )?invalid duration:? (".*")$`)
	noQuotes  = regexp.MustCompile(`^expected value but found (".*") instead$`)
)

// types maps the names of types in error messages of the TOML package to words for users.
var types = map[string]phrase.Text{
	"string": phrase.New("text in quotes"), "integer": phrase.New("a whole number without quotes"), "int64": phrase.New("a number without quotes"), "float": phrase.New("a number without quotes"),
	"float64": phrase.New("a number with a point"), "boolean": phrase.New("true or false"), "bool": phrase.New("true or false"),
	"slice": phrase.New("a list in brackets, or a list of tables, as in [[name]]"), "[]any": phrase.New("a list in brackets"),
	"map[string]any": phrase.New("a table"), "[]map[string]any": phrase.New("a list of tables"), "time.Time": phrase.New("a date or a time"),
}

// Message returns a message for users about err, an error of the TOML package. The message contains the line and the
// key, if the error has them, and what must be written there. Another error gives its own text.
func Message(err error) phrase.Text {
	m := place.FindStringSubmatch(err.Error())
	if m == nil {
		return phrase.Plain(err.Error())
	}
	line, key, text := m[1], m[2], m[3]
	for _, detail := range []string{" for int64", " for float64"} {
		text, _, _ = strings.Cut(text, detail)
	}
	says := phrase.Plain(text)
	if m := otherType.FindStringSubmatch(text); m != nil {
		says = phrase.New("must be %s, not %s", typeName(m[2]), typeName(m[1]))
	} else if m := noTable.FindStringSubmatch(text); m != nil {
		says = phrase.New("must be a table, as in {name = value}, not %s", typeName(m[1]))
	} else if m := noQuotes.FindStringSubmatch(text); m != nil {
		says = phrase.New(`%s is not in quotes: write text as "text", and a list of words as ["one", "two"]`, m[1])
	} else if m := duration.FindStringSubmatch(text); m != nil {
		says = phrase.New("cannot be %s: try a number and its unit without a space, as in 250ms, 30s, 5m or 1h30m", m[1])
	} else if curly.MatchString(text) {
		says = phrase.New(`text begins and ends with straight quotes: write "text"`)
	} else if text == "strings cannot contain newlines" {
		says = phrase.New("the quote that ends the text is missing: both quotes stand in one line")
	}
	if key != "" {
		says = phrase.New("%s: %s", key, says)
	}
	if line != "" {
		says = phrase.New("line %s: %s", line, says)
	}
	return says
}

func typeName(of string) phrase.Text {
	if name, ok := types[of]; ok {
		return name
	}
	return phrase.Plain(of)
}
