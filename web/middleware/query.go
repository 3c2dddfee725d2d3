package middleware

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// Query reads the query parameters of a request. A method that reads an absent or invalid parameter returns
// the zero value or the fallback. Check and Err return the first error.
type Query struct {
	values    url.Values
	readNames []string
	err       error
}

// NewQuery returns the parameters of a request.
func NewQuery(r *http.Request) *Query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &Query{values: values}
	if err != nil {
		q.err = ladder.Errorf(ladder.Invalid, "write it as name=value&name=value, with %xx for special characters", "the query cannot be read")
	}
	return q
}

const maxParameter = 256 // bytes

// Text returns the value of the parameter called name, or "" if it is absent.
func (q *Query) Text(name string) string {
	q.readNames = append(q.readNames, name)
	all := q.values[name]
	if len(all) == 0 {
		return ""
	}
	switch value := all[0]; {
	case len(all) > 1:
		q.Fail(name, phrase.New("give it once"), "occurs %d times", len(all))
	case len(value) > maxParameter:
		q.Fail(name, phrase.Text{}, "is longer than %d bytes", maxParameter)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		q.Fail(name, phrase.Text{}, "is %q, which is not plain text", value)
	default:
		return value
	}
	return ""
}

// Fail records an error about the parameter called name, unless an error is already recorded. format and args make
// the text that says what is wrong with the parameter. hint says what to try.
func (q *Query) Fail(name string, hint phrase.Text, format string, args ...any) {
	if q.err == nil {
		q.err = &ladder.Error{Code: ladder.Invalid, Text: phrase.New("%s %s", name, phrase.New(format, args...)), Hint: hint}
	}
}

// Number returns the value of the parameter called name, a number from low to high. If it is absent or
// invalid, it returns fallback.
func (q *Query) Number(name string, low, high, fallback int64) int64 {
	text := q.Text(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		q.Fail(name, phrase.New("try %d to %d", low, high), "cannot be %q", text)
		return fallback
	}
	return n
}

// Flag returns the value of the parameter called name, which must be true or false. It returns nil if the parameter
// is absent or invalid.
func (q *Query) Flag(name string) *bool {
	switch text := q.Text(name); text {
	case "":
		return nil
	case "true", "false":
		value := text == "true"
		return &value
	default:
		q.Fail(name, phrase.New("try true or false"), "cannot be %q", text)
		return nil
	}
}

// Choice returns the value of the parameter called name, which must be one of words. It returns "" if the parameter
// is absent or invalid.
func (q *Query) Choice(name string, words ...string) string {
	text := q.Text(name)
	if text != "" && !slices.Contains(words, text) {
		q.Fail(name, phrase.New("try %s", strings.Join(words, ", ")), "cannot be %q", text)
		return ""
	}
	return text
}

// Duration returns the value of the parameter called name, a duration such as 30s, which must be at most high. It
// returns 0 if the parameter is absent or invalid.
func (q *Query) Duration(name string, high time.Duration) time.Duration {
	text := q.Text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > high {
		q.Fail(name, phrase.New("try 30s, at most %v", high), "cannot be %q", text)
		return 0
	}
	return d
}

// CursorID returns the number in the parameter called name, which contains a cursor (where a page of a list starts).
// It is, for example, the ID of the last item on the previous page. If the parameter is absent, it returns 0, which
// means the first page. kind is the prefix of the list's cursors. A cursor with another prefix is an error.
func (q *Query) CursorID(name, kind string) int64 {
	text := q.Text(name)
	if text == "" {
		return 0
	}
	key, ok := strings.CutPrefix(text, kind+"-")
	n, err := strconv.ParseInt(key, 10, 64)
	if !ok || err != nil || n < 1 {
		q.Fail(name, phrase.New("pass next of the page before unchanged"), "cannot be %q", text)
		return 0
	}
	return n
}

// CursorOf returns a cursor, which says where a page of a list starts, such as "match-17". kind identifies the list,
// and key the place in it. CursorID reads it.
func CursorOf(kind string, key int64) string { return kind + "-" + strconv.FormatInt(key, 10) }

// Err returns the first error, or nil. Unlike Check, it ignores parameters that no method has read.
func (q *Query) Err() error { return q.err }

// Check returns the first error, or nil. It is an error if the request has a parameter that no method has read.
func (q *Query) Check() error {
	if q.err != nil {
		return q.err
	}
	for name := range q.values {
		if !slices.Contains(q.readNames, name) {
			err := ladder.Errorf(ladder.Invalid, "this address takes none", "unknown parameter %q", ladder.Clip(name))
			if len(q.readNames) > 0 {
				err.Try("try %s", strings.Join(q.readNames, ", "))
			}
			return err
		}
	}
	return nil
}

// PathID returns the ID in the path parameter called name. It returns an error unless the ID is a number of
// at least 1.
func PathID(r *http.Request, name string) (int64, error) { return PathNumber(r, name, 1) }

// PathNumber returns the number in the path parameter called name. If it is not a number of at least low, the error
// says that there is no such thing; name is what the error calls the thing.
func PathNumber(r *http.Request, name string, low int64) (int64, error) {
	text := r.PathValue(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > 1<<53-1 || strconv.FormatInt(n, 10) != text {
		return 0, ladder.Errorf(ladder.NotFound, "", "%s %q does not exist", name, ladder.Clip(text)).Try("numbers are whole and begin at %d", low)
	}
	return n, nil
}
