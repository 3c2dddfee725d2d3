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

// Query reads the parameters of a request. Its methods return zero values after an error; Check or Err
// returns the first error.
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

// Text returns a parameter's value, "" if it is absent.
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

// Fail records an error about a parameter, unless there is one already.
func (q *Query) Fail(name string, hint phrase.Text, format string, args ...any) {
	if q.err == nil {
		q.err = &ladder.Error{Code: ladder.Invalid, Text: phrase.New("%s %s", name, phrase.New(format, args...)), Hint: hint}
	}
}

// Number returns a number from low to high. If the parameter is absent or wrong, it returns fallback.
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

// Flag returns a parameter that is true or false, nil if it is absent.
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

// Choice returns a parameter that is one of words, "" if it is absent.
func (q *Query) Choice(name string, words ...string) string {
	text := q.Text(name)
	if text != "" && !slices.Contains(words, text) {
		q.Fail(name, phrase.New("try %s", strings.Join(words, ", ")), "cannot be %q", text)
		return ""
	}
	return text
}

// Duration returns a parameter such as 30s that is at most high, 0 if it is absent.
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

// CursorID returns the key in the cursor name: that of the last item of the previous page, or 0 for the first
// page. kind identifies the list, so that a client cannot use the cursor of another one.
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

// CursorOf returns the cursor for a key of a list of a kind; see CursorID.
func CursorOf(kind string, key int64) string { return kind + "-" + strconv.FormatInt(key, 10) }

// Err returns the first error. Unlike Check, it accepts parameters that were not read, as pages do.
func (q *Query) Err() error { return q.err }

// Check returns the first error. A parameter that no method has read is an error.
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

// PathID returns the ID in the path parameter name, a number of at least 1.
func PathID(r *http.Request, name string) (int64, error) { return PathNumber(r, name, 1) }

// PathNumber returns the number in the path parameter name, which must be at least low. Error messages use
// name as the kind of thing.
func PathNumber(r *http.Request, name string, low int64) (int64, error) {
	text := r.PathValue(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > 1<<53-1 || strconv.FormatInt(n, 10) != text {
		return 0, ladder.Errorf(ladder.NotFound, "", "%s %q does not exist", name, ladder.Clip(text)).Try("numbers are whole and begin at %d", low)
	}
	return n, nil
}
