package program

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// namesOf returns the names of the bots of a match. If ask is not set, bots that nothing distinguishes get numbers.
func namesOf(t *testing.T, ask bool, lines ...string) ([]string, error) {
	t.Helper()
	var specs []BotSpec
	for _, line := range lines {
		specs = append(specs, kit.Get[BotSpec](t)(ParseSpec(line)))
	}
	programs, err := withHouse.ResolveAll(t.Context(), specs, !ask)
	var names []string
	for _, p := range programs {
		names = append(names, p.Name)
	}
	return names, err
}

// Bots with the same name are told apart by where they are; house bots that play several times have numbers.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	called := func(name string) map[string]string {
		return map[string]string{"bot.sh": "", "timba.toml": "name = \"" + name + "\"\nrun = [\"sh\"]"}
	}
	for path, files := range map[string]map[string]string{
		"v1": called("mine"), "v2": called("mine"), "a/mine": called("mine"), "b/mine": called("mine"),
		"house": called("@random"), "numbered": called("@random#2"), "c/v1": called("v1"), "other": called("other"), "scripts": {"x/bot.sh": "", "y/bot.sh": ""},
	} {
		kit.Files(t, filepath.Join(dir, path), files)
	}
	kit.Must(t, os.Symlink("v1", filepath.Join(dir, "link")))
	t.Chdir(dir)
	for _, c := range []struct{ bots, want []string }{
		{[]string{"v1", "other"}, []string{"mine", "other"}},
		{[]string{"v1", "v2"}, []string{"v1", "v2"}},
		{[]string{"v1/", "./v2", "@random"}, []string{"v1", "v2", "@random"}},
		{[]string{"a/mine", "b/mine"}, []string{"a/mine", "b/mine"}},
		{[]string{"a/mine", "v1", "b/mine"}, []string{"a/mine", filepath.Base(dir) + "/v1", "b/mine"}},
		{[]string{"v1", "v2", "c/v1"}, []string{filepath.Base(dir) + "/v1", filepath.Base(dir) + "/v2", "v1"}},
		{[]string{"sh scripts/x/bot.sh", "sh scripts/y/bot.sh"}, []string{"x/bot.sh", "y/bot.sh"}},
		{[]string{"name=new cmd=v1", "v2"}, []string{"new", "mine"}},
		{[]string{"name=new cmd=v1", "name=old cmd=v1"}, []string{"new", "old"}},
		{[]string{"name=mine cmd=v1", "v2"}, []string{"mine", "v2"}},
		{[]string{"@random", "@random", "@first", "@random"}, []string{"@random", "@random#2", "@first", "@random#3"}},
		{[]string{"@random", "house"}, []string{"@random", "house"}},
		{[]string{"@random", "numbered", "@random"}, []string{"@random", "@random#2", "@random#3"}},
		{[]string{"name=@random#2 cmd=@first", "@random", "@random"}, []string{"@random#2", "@random", "@random#3"}},
	} {
		if got, err := namesOf(t, true, c.bots...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q are called %q, want %q: %v", c.bots, got, c.want, err)
		}
	}
	for _, c := range []struct {
		bots []string
		want string
	}{
		{[]string{"v1", "v1"}, `two bots have the name "mine": name them, as in 'name=mine-1 cmd=v1'`},
		{[]string{"v2", "v1", "./v1"}, `two bots have the name "mine": name them, as in 'name=mine-1 cmd=v1'`},
		{[]string{"sh -s", "sh -x"}, `two bots have the name "sh": name them, as in 'name=sh-1 cmd="sh -s"'`},
		{[]string{"name=x cmd=v1", "name=x cmd=v2"}, `two bots have the name "x": give each its own`},
	} {
		got, err := namesOf(t, true, c.bots...)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q are called %q: %v, want %s", c.bots, got, err, c.want)
		}
	}
	got, err := namesOf(t, false, "v1", "v2", "v1", "other")
	if want := []string{"v1", "v2", "v1#2", "other"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("where nobody can be asked they are called %q, want %q: %v", got, want, err)
	}
	_, err = namesOf(t, true, "@random", "@randum")
	refused(t, err, "randum")
}
