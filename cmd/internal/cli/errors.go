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
	"github.com/timba-arena/timba/web/wire"
)

// Message returns the text of an error for users. It omits the names of system calls, escapes characters
// that would control the terminal, and shortens very long words.
func Message(err error) string {
	text := wire.ErrorText(err)
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

const missing = "does not exist"

// fileErrors are the errors of the file system that messages describe in words of timba.
var fileErrors = []struct {
	err    error
	reason string
}{
	{fs.ErrNotExist, missing},
	{fs.ErrExist, "exists already"},
	{fs.ErrPermission, "may not be used by you: its permissions do not allow it"},
	{syscall.EISDIR, "is a directory, not a file"},
	{syscall.ENOTDIR, "is not a directory, or a part of its path is not"},
	{syscall.ENAMETOOLONG, "is too long for a name of a file"},
	{syscall.ENOSPC, "has no room: its disk is full"},
	{syscall.EDQUOT, "has no room: its disk is full"},
	{syscall.EROFS, "cannot be written: its disk is read-only"},
	{syscall.EINVAL, "cannot be the name of a file"},
}

// pathError returns the path of an error of the file system and, as why, what is wrong with that path in words of
// timba. For any other error, why is "".
func pathError(err error) (path, why string) {
	switch e := err.(type) {
	case *fs.PathError:
		path, err = e.Path, e.Err
	case *os.LinkError:
		path, err = e.New, e.Err
	default:
		return "", ""
	}
	for _, f := range fileErrors {
		if errors.Is(err, f.err) {
			return path, f.reason
		}
	}
	return path, "cannot be used: " + err.Error()
}

var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}|\\u[0-9a-f]{4}`)

// longWord is the length in bytes above which a word of an error message is shortened.
const longWord = 400

var words = regexp.MustCompile(`[^ \n]+`)

func shorten(text string) string {
	return words.ReplaceAllStringFunc(text, func(word string) string {
		if len(word) <= longWord {
			return word
		}
		return word[:60] + "..." + word[len(word)-20:]
	})
}
