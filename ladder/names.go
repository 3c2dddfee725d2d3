package ladder

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var plainName = regexp.MustCompile(`^[a-z0-9]+([-_.][a-z0-9]+)*$`)

// maxName is the greatest length of the name of a bot, in bytes.
const maxName = 32

// CheckBotName returns an error unless a person's bot may have the name. Names of house bots (part of timba) begin with
// @ and are refused.
func CheckBotName(name string) error {
	if len(name) > maxName || !plainName.MatchString(name) {
		return Errorf(Invalid, "try lower-case letters and digits with single - _ . between them, at most 32 characters", "the name of a bot cannot be %q", name)
	}
	return nil
}

// maxLabel is the greatest length, in bytes, of the label of a remote version (one that runs on its owner's machine).
const maxLabel = 40

// IsLine reports whether text is one line of at most n bytes without invisible characters: control characters,
// marks that reverse the direction of text, and characters without width.
func IsLine(text string, n int) bool {
	return len(text) <= n && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// CheckLabel returns an error unless label is empty or a short printable line.
func CheckLabel(label string) error {
	if !IsLine(label, maxLabel) {
		return Errorf(Invalid, "try one printable line of at most 40 bytes, such as 1.2", "the label of a version cannot be %q", label[:min(len(label), 2*maxLabel)])
	}
	return nil
}
