package rules_test

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

func TestClaims(t *testing.T) {
	two, four := map[string]string{"players": "2", "teams": "no"}, map[string]string{"players": "4", "teams": "yes"}
	for _, c := range []struct {
		claims             []string
		game               string
		any, atTwo, atFour bool
	}{
		{nil, "brisca", true, true, true},
		{[]string{"brisca"}, "brisca", true, true, true},
		{[]string{"brisca players=2"}, "brisca", true, true, false},
		{[]string{"tute players=2", "brisca players=4 teams=yes"}, "brisca", true, false, true},
		{[]string{"brisca players=2", "brisca players=4"}, "brisca", true, true, true},
		{[]string{"brisca players=2"}, "tute", false, false, false},
		{[]string{"briscas"}, "brisca", false, false, false},
		{[]string{"brisca round=2"}, "brisca", true, false, false},
		{[]string{""}, "brisca", false, false, false},
	} {
		if got := rules.ClaimsGame(c.claims, c.game); got != c.any {
			t.Errorf("%q, %s: %v", c.claims, c.game, got)
		}
		if got := rules.ClaimsVariant(c.claims, c.game, two); got != c.atTwo {
			t.Errorf("%q, %s of two: %v", c.claims, c.game, got)
		}
		if got := rules.ClaimsVariant(c.claims, c.game, four); got != c.atFour {
			t.Errorf("%q, %s of four: %v", c.claims, c.game, got)
		}
	}
}

func TestCanonicalClaim(t *testing.T) {
	for _, c := range []struct{ claim, want, err string }{
		{"brisca", "brisca", ""},
		{"  brisca teams=yes  players=04 ", "brisca players=4 teams=yes", ""},
		{"brisca players=9", "", `option players cannot be "9": try 2 to 4`},
		{"brisca players", "", `option players cannot be "": try 2 to 4`},
		{"teeko players=2", "", `teeko has no option "players": try start, squares, limit, opening`},
		{"brisca players=2 players=3", "", `option players is set to "2" and to "3": choose one`},
		{"", "", `game "" does not exist: try brisca, tute, podrida, tebes, teeko`},
	} {
		got, _, err := games.CanonicalClaim(c.claim)
		if said := errorText(err); got != c.want || said != c.err {
			t.Errorf("%q: %q, %s", c.claim, got, said)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
