package ladder

import "regexp"

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
