package commands

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// completionsOf returns the completions of the last word of a command line, without descriptions, and the number of the
// directive for the shell: 0 lets it add files, 4 does not, 16 only directories.
func completionsOf(t *testing.T, words ...string) (list []string, directive string) {
	t.Helper()
	root, out := newRoot(), new(bytes.Buffer)
	root.SetArgs(append([]string{"__complete"}, words...))
	root.SetOut(out)
	kit.Must(t, root.ExecuteContext(t.Context()))
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if number, ok := strings.CutPrefix(word, ":"); ok {
			directive = number
		} else if directive == "" {
			list = append(list, word)
		}
	}
	return list, directive
}

// Shells complete games, options, bots, languages, formats and files by the placeholders of each command.
func TestComplete(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // not logged in to a server
	for line, want := range map[string]struct {
		some      string // words that must be there
		none      string // a word that must not be there
		directive string
	}{
		"match ":                         {"brisca tute podrida tebes teeko", "@greedy", "4"},
		"match brisca ":                  {"@greedy @random", "brisca", "0"},
		"match brisca @first ":           {"@greedy", "brisca", "0"},
		"play tute ":                     {"@greedy", "tute", "0"},
		"check ":                         {"@greedy", "", "0"},
		"games ":                         {"teeko", "@greedy", "4"},
		"bot ":                           {"greedy", "@greedy", "4"},
		"init ":                          {"python rust", "", "4"},
		"init python ":                   {"", "python", "16"},
		"match --format ":                {"swiss knockout gauntlet round-robin", "brisca", "4"},
		"match --sandbox ":               {"auto off", "", "4"},
		"match --resume ":                {"", "brisca", "16"},
		"match --openings ":              {"", "brisca", "0"},
		"match teeko --set ":             {"start=drop limit=", "players=2", "4"},
		"match --set ":                   {"start=drop players=2 size=4", "", "4"},
		"match brisca @first @first --s": {"--seed --set --sprt", "--quiet", "4"},
		"explain ":                       {"", "brisca", "0"},
		"replay feed x.json ":            {"", "brisca", "4"},
		"connect --bot x -- ":            {"", "", "0"},
		"standings ":                     {"", "brisca", "4"},
		"bots withdraw ":                 {"", "@greedy", "4"},
		"serve --data ":                  {"", "", "16"},
		"admin person list --data ":      {"", "", "16"},
		"serve --log-format ":            {"text json", "", "4"},
	} {
		list, directive := completionsOf(t, strings.Split(line, " ")...)
		if directive != want.directive || want.none != "" && slices.Contains(list, want.none) {
			t.Errorf("%q: %q, directive %s, want %s", line, list, directive, want.directive)
		}
		for word := range strings.FieldsSeq(want.some) {
			if !slices.Contains(list, word) {
				t.Errorf("%q: %q has no %s", line, list, word)
			}
		}
	}
}
