package person

import (
	"strings"
	"testing"
)

// A person chooses a move by its text, its number, or a unique beginning, in this order.
func TestChoose(t *testing.T) {
	cards := []string{"1o", "10c", "12c", "12e", "swap:7o"}
	drops := []string{"1", "2", "12"}
	steps := []string{"8-4", "8-5", "10-5"}
	many := strings.Fields("1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c 12c")
	for _, c := range []struct {
		legal []string
		line  string
		want  string
	}{
		{cards, "12c", "12c"},
		{cards, "2", "10c"},
		{cards, "10", "10c"},
		{cards, "12", ""},
		{cards, "s", "swap:7o"},
		{cards, "0", ""},
		{cards, "6", ""},
		{cards, "-1", ""},
		{cards, "12C", ""},
		{cards, "7o", ""},
		{drops, "1", "1"},
		{drops, "2", "2"},
		{drops, "3", ""},
		{steps, "1", "8-4"},
		{steps, "10", "10-5"},
		{steps, "8-", ""},
		{steps, "8-5", "8-5"},
		{many, "12", "12c"},
		{many, "12o", "12o"},
		{nil, "1", ""},
	} {
		if got := choose(c.legal, c.line); got != c.want {
			t.Errorf("%q of %v is %q, want %q", c.line, c.legal, got, c.want)
		}
	}
}

func TestCommon(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{"hint"}, "hint"},
		{[]string{"help", "hint"}, "h"},
		{[]string{"12c", "why"}, ""},
		{[]string{"sing:o", "sing:c"}, "sing:"},
	} {
		if got := common(c.words); got != c.want {
			t.Errorf("%v have %q in common, want %q", c.words, got, c.want)
		}
	}
}
