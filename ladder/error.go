package ladder

import (
	"errors"
	"fmt"
)

// Code is the kind of an error that a user can do something about.
type Code string

const (
	Invalid      Code = "invalid"      // what was asked makes no sense
	NotFound     Code = "not-found"    // no such thing
	Conflict     Code = "conflict"     // the name is taken, or it is too late
	Unauthorized Code = "unauthorized" // no token, or one that is not valid
	Forbidden    Code = "forbidden"    // a valid token of somebody who may not
	TooLarge     Code = "too-large"    // over a limit of size
	TooMany      Code = "too-many"     // over a limit of number or rate
	Unavailable  Code = "unavailable"  // the machine cannot now: a full disk, a stopping server
)

// Error is an error for a user: its text names the thing and the value seen,
// its hint what to try.
type Error struct {
	Code Code
	Text string
	Hint string // "" where there is nothing to try
	Err  error  // the cause, for the log; not shown
}

// Errorf makes an error for a user.
func Errorf(code Code, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: err.Error(), Hint: hint, Err: errors.Unwrap(err)}
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + ": " + e.Hint
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of an error for users; "" for our own failures.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
