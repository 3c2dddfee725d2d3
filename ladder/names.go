package ladder

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var plainName = regexp.MustCompile(`^[a-z0-9]+([-_.][a-z0-9]+)*$`)

// maxName is the length of the longest name of a person or a bot.
const maxName = 32

// CheckName returns an error unless name can be the name of a person or a bot; what
// names the kind, for the error. Names that begin with @ are those of house bots.
func CheckName(what, name string) error {
	if len(name) > maxName || !plainName.MatchString(name) {
		return Errorf(Invalid, "try lower-case letters and digits with single - _ . between them, at most 32 characters", "%s: name cannot be %q", what, name)
	}
	return nil
}

// maxLabel is the length in bytes of the longest label of a remote version.
const maxLabel = 40

// IsLine reports whether a text is one line of at most n bytes whose characters show as themselves: it has no controls,
// marks that turn the direction of text, and others without width.
func IsLine(text string, n int) bool {
	return len(text) <= n && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// CheckLabel returns an error unless label is one short printable line, or "".
func CheckLabel(label string) error {
	if !IsLine(label, maxLabel) {
		return Errorf(Invalid, "try one printable line of at most 40 bytes, such as 1.2", "version: label cannot be %q", label[:min(len(label), 2*maxLabel)])
	}
	return nil
}
