package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/timba-arena/timba/ladder"
)

// Message returns an error as people read it: without the names of system calls, escaped where
// it would control the terminal, and without the bulk of very long words.
func Message(err error) string {
	text := err.Error()
	eachError(err, func(err error) {
		if path, why := pathError(err); why != "" {
			text = strings.ReplaceAll(text, err.Error(), fmt.Sprintf("%q %s", path, why))
		}
	})
	text = ladder.Plain(shorten(text))
	if escaped.MatchString(text) {
		text += " (\\x and \\u with digits stand for what cannot be shown)"
	}
	return text
}

// eachError calls do with an error and all that it wraps.
func eachError(err error, do func(error)) {
	do(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			eachError(inner, do)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			eachError(inner, do)
		}
	}
}

// pathError returns the path of an error of the file system, and what is wrong with it; "" for
// other errors.
func pathError(err error) (path, why string) {
	switch e := err.(type) {
	case *fs.PathError:
		path, err = e.Path, e.Err
	case *os.LinkError:
		path, err = e.New, e.Err
	default:
		return "", ""
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, "does not exist"
	case errors.Is(err, fs.ErrExist):
		return path, "exists already"
	case errors.Is(err, fs.ErrPermission):
		return path, "may not be used by you: its permissions do not allow it"
	case errors.Is(err, syscall.EISDIR):
		return path, "is a directory, not a file"
	case errors.Is(err, syscall.ENOTDIR):
		return path, "is not a directory, or a part of its path is not"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return path, "is too long for a name of a file"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return path, "has no room: its disk is full"
	case errors.Is(err, syscall.EROFS):
		return path, "cannot be written: its disk is read-only"
	case errors.Is(err, syscall.EINVAL):
		return path, "cannot be the name of a file"
	}
	return path, "cannot be used: " + err.Error()
}

var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}|\\u[0-9a-f]{4}`)

// longWord is the number of bytes from which a word of a message is shortened.
const longWord = 400

// shorten returns a text with the middle of very long words left out.
func shorten(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexAny(text, " \n")
		if end < 0 {
			end = len(text) - 1
		}
		word := text[:end+1]
		if len(word) > longWord {
			word = fmt.Sprintf("%s...%s", word[:60], word[len(word)-20:])
		}
		b.WriteString(word)
		text = text[end+1:]
	}
	return b.String()
}
