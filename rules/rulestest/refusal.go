package rulestest

import (
	"errors"
	"maps"
	"slices"

	"github.com/timba-arena/timba/rules"
)

// Refusal returns the code and the values of the *rules.Refusal in err, as in "beat card=3o", or "" if err has none.
func Refusal(err error) string {
	r, ok := errors.AsType[*rules.Refusal](err)
	if !ok {
		return ""
	}
	text := string(r.Code)
	for _, name := range slices.Sorted(maps.Keys(r.Values)) {
		text += " " + name + "=" + r.Values[name]
	}
	return text
}
