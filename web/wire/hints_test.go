package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// ErrorText replaces the hints of package ladder and leaves other errors unchanged.
func TestSay(t *testing.T) {
	unknown := ladder.Errorf(ladder.NotFound, "", "bot %q has no version %d", "anna", 3).Try(ladder.HintVersions, "anna")
	for _, c := range []struct {
		err  error
		want string
	}{
		{unknown, `bot "anna" has no version 3: timba bots anna lists them`},
		{fmt.Errorf("reading: %w", unknown), `reading: bot "anna" has no version 3: timba bots anna lists them`},
		{ladder.Errorf(ladder.Invalid, "try 5", "it cannot be 6"), "it cannot be 6: try 5"},
		{ladder.Errorf(ladder.Invalid, "", "it cannot be 6"), "it cannot be 6"},
		{errors.New("no"), "no"},
	} {
		if got := ErrorText(c.err); got != c.want {
			t.Errorf("it says %q, want %q", got, c.want)
		}
	}
	if got := HintText(phrase.New(ladder.HintSendToken)); got != "send Authorization: Bearer TOKEN" {
		t.Errorf("the hint is %q", got)
	}
}
