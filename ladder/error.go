package ladder

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// Code is the kind of an error that a user can do something about.
type Code string

const (
	Invalid      Code = "invalid"      // the request makes no sense
	NotFound     Code = "not-found"    // it does not exist
	Conflict     Code = "conflict"     // the name is taken, or it is too late
	Unauthorized Code = "unauthorized" // no token, or one that is not valid
	Forbidden    Code = "forbidden"    // a valid token without the permission
	TooLarge     Code = "too-large"    // over a size limit
	TooMany      Code = "too-many"     // over a limit of number or rate
	Unavailable  Code = "unavailable"  // the machine cannot do it now: a full disk, a stopping server
)

// Error is an error for a user: its text names the subject and the offending value,
// its hint says what to try.
type Error struct {
	Code Code
	Text phrase.Text
	Hint phrase.Text // empty for none
	Err  error       // the cause, for the log; not shown
	// Retry is the time after which to try again, of TooMany and Unavailable; 0: not
	// known.
	Retry time.Duration
}

// Errorf returns an error for a user. The hint has no values.
func Errorf(code Code, hint, format string, args ...any) *Error {
	err := phrase.Errorf(format, args...)
	return &Error{Code: code, Text: phrase.Of(err), Hint: phrase.New(hint), Err: errors.Unwrap(err)}
}

// Try sets the hint of an error, with values, and returns the error.
func (e *Error) Try(hint string, args ...any) *Error {
	e.Hint = phrase.New(hint, args...)
	return e
}

func (e *Error) Error() string { return e.Phrase().String() }

// Phrase returns the text and the hint.
func (e *Error) Phrase() phrase.Text {
	if e.Hint.IsZero() {
		return e.Text
	}
	return phrase.New("%s: %s", e.Text, e.Hint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error for users; "" for an internal failure.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Clip shortens a text that an error quotes.
func Clip(text string) string {
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}
