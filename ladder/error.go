package ladder

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// Code is the kind of an error that its user can do something about.
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

// Error is an error for users. Text names the subject and the value that is wrong; Hint says what to try.
type Error struct {
	Code Code
	Text phrase.Text
	Hint phrase.Text // empty for none
	Err  error       // the cause, for the log; not shown
	// Retry is how long to wait before the next try, with TooMany and Unavailable; 0: unknown.
	Retry time.Duration
}

// Errorf returns an error for users. hint is used as it is; Try sets one with values.
func Errorf(code Code, hint, format string, args ...any) *Error {
	err := phrase.Errorf(format, args...)
	return &Error{Code: code, Text: phrase.FromError(err), Hint: phrase.New(hint), Err: errors.Unwrap(err)}
}

// Try sets the hint, formatted with args, and returns e.
func (e *Error) Try(hint string, args ...any) *Error {
	e.Hint = phrase.New(hint, args...)
	return e
}

func (e *Error) Error() string { return e.Phrase().String() }

// Phrase returns the text followed by the hint.
func (e *Error) Phrase() phrase.Text {
	if e.Hint.IsZero() {
		return e.Text
	}
	return phrase.New("%s: %s", e.Text, e.Hint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error for users, or "" for a failure of the server.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Clip shortens a text that is quoted in an error.
func Clip(text string) string {
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}
