package ladder

import "regexp"

var plainName = regexp.MustCompile(`^[a-z0-9]+([-_.][a-z0-9]+)*$`)

// maxName is the length of the longest name of a person or a bot.
const maxName = 32

// CheckName refuses what is no name for a person or a bot; what says which.
// House bots' names begin with @ and are nobody else's.
func CheckName(what, name string) error {
	if len(name) > maxName || !plainName.MatchString(name) {
		return Errorf(Invalid, "try lower-case letters, digits and single - _ . between them, at most 32 in all", "%s: name cannot be %q", what, name)
	}
	return nil
}
