package ladder

import (
	"regexp"
	"strings"
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

// CheckLabel returns an error unless label is one short printable line, or "".
func CheckLabel(label string) error {
	if len(label) > maxLabel || !utf8.ValidString(label) || Plain(label) != label || strings.ContainsAny(label, "\n\t") {
		return Errorf(Invalid, "try one printable line of at most 40 bytes, such as 1.2", "version: label cannot be %q", label[:min(len(label), 2*maxLabel)])
	}
	return nil
}
