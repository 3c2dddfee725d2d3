package ladder

import (
	"errors"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// ErrorCode is the kind of an Error.
type ErrorCode string

const (
	Invalid      ErrorCode = "invalid"      // the request makes no sense
	NotFound     ErrorCode = "not-found"    // the named thing does not exist
	Conflict     ErrorCode = "conflict"     // the request contradicts the current state, for example the name is taken
	Unauthorized ErrorCode = "unauthorized" // the token is missing or not valid
	Forbidden    ErrorCode = "forbidden"    // the token is valid but lacks the permission
	TooLarge     ErrorCode = "too-large"    // a size limit is exceeded
	TooMany      ErrorCode = "too-many"     // a limit of a number or a rate is exceeded
	Unavailable  ErrorCode = "unavailable"  // the server cannot do it now, for example because the disk is full
)

// Error is an error that is shown to users because they can do something about it. Text names the subject and
// the wrong value; Hint says what to try.
type Error struct {
	Code ErrorCode
	Text phrase.Text
	Hint phrase.Text // empty if there is none
	Err  error       // cause, for the log; not shown to users
	// Retry is how long to wait before the next try, for the codes TooMany and Unavailable. 0 means unknown.
	Retry time.Duration
}

// Errorf returns an error for users. format and args give its text, as for fmt.Errorf; an error for the verb %w
// becomes the cause. hint says what to try and is used literally. To format a hint, call Try.
func Errorf(code ErrorCode, hint, format string, args ...any) *Error {
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

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error for users, or "" for an internal failure.
func CodeOf(err error) ErrorCode {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Clip returns the beginning of a text, at most 80 bytes, for a quotation in an error message.
func Clip(text string) string {
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}
