//go:build !race || slowrace

package store

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// TestPersonNames checks which names people may have, and which of them are the same.
func TestPersonNames(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, shown, handle string }{
		{"anna", "anna", "anna"}, {"María", "María", "maría"}, {"MARI\u0301A", "MARÍA", "maría"}, {"Ｎúria", "Núria", "núria"},
		{"Núria.B-2", "Núria.B-2", "núria.b-2"}, {"Ольга", "Ольга", "ольга"}, {"花子", "花子", "花子"}, {strings.Repeat("é", 32), strings.Repeat("é", 32), strings.Repeat("é", 32)},
	} {
		if shown, handle, err := personName(x.name); err != nil || shown != x.shown || handle != x.handle {
			t.Errorf("%q is %q, %q, %v, want %q, %q", x.name, shown, handle, err, x.shown, x.handle)
		}
	}
	for _, name := range []string{
		"", "a b", "a/b", "a#b", "@a", "a--b", "-a", "a.", "a@b", "<b>", "a\u200bb", "a\u202eb", "a\nb", "a\xff", "👑", "аda", "annα",
		strings.Repeat("é", 33), strings.Repeat("a", 1000),
	} {
		if shown, _, err := personName(name); ladder.CodeOf(err) != ladder.Invalid {
			t.Errorf("%q is allowed as %q: %v", name, shown, err)
		}
	}
}

// TestSameName checks that a person is found by the name in any case, and that nobody else can have it.
func TestSameName(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	maria, _, err := c.People.Register(bg, "", "María", true)
	kit.Must(t, err)
	for _, name := range []string{"María", "maría", "MARI\u0301A", "Ｍaría"} {
		if p := kit.Get[ladder.Person](t)(c.People.FindByName(bg, name)); p != maria || p.Name != "María" {
			t.Errorf("%q is %+v", name, p)
		}
		if _, _, err := c.People.Register(bg, "", name, true); ladder.CodeOf(err) != ladder.Conflict {
			t.Errorf("another person is called %q: %v", name, err)
		}
	}
	_, _, err = c.People.Register(bg, "", "maria", true) // the accent makes it another name
	kit.Must(t, err)
	if _, people, err := c.Bots.SearchNames(bg, "RÍ", 5); err != nil || len(people) != 1 || people[0] != "María" {
		t.Errorf("a search finds %q, %v", people, err)
	}
	for _, name := range []string{"admin", "Admin", "ＡＤＭＩＮ", "guest", "Greedy", "champion", "Amateur"} {
		if _, _, err := c.People.Register(bg, "", name, true); ladder.CodeOf(err) != ladder.Conflict {
			t.Errorf("a person is called %q: %v", name, err)
		}
	}
	for _, name := range []string{"admin", "guest", "greedy", "champion", "amateur"} {
		if _, err := c.Versions.Add(bg, maria.ID, NewVersion{Bot: name, Bundle: bundleOf(1)}, noLimits); ladder.CodeOf(err) != ladder.Conflict {
			t.Errorf("a bot of a person is called %q: %v", name, err)
		}
	}
}
