package attempt

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder"
)

func TestLacks(t *testing.T) {
	t.Parallel()
	m := WorkerInfo{Name: "lab-1", Arch: "arm64", Interpreters: map[string]string{"python3": "3.12.4", "perl": "5.36.0"}}
	for _, test := range []struct {
		needs   ladder.Needs
		missing string // "" if it can
	}{
		{ladder.Needs{}, ""},
		{ladder.Needs{Arch: "arm64", Interpreters: []string{"python3", "perl"}}, ""},
		{ladder.Needs{Arch: "amd64"}, "amd64"},
		{ladder.Needs{Interpreters: []string{"java"}}, "java"},
		{ladder.Needs{Interpreters: []string{"python3.12"}}, ""},
		{ladder.Needs{Interpreters: []string{"python3.1"}}, "python3.1"},
		{ladder.Needs{Interpreters: []string{"python3.13"}}, "python3.13"},
		{ladder.Needs{Interpreters: []string{"something"}}, ""}, // machines do not tell of it
	} {
		if got := m.MissingNeeds(test.needs); (got.IsZero()) != (test.missing == "") || !strings.Contains(got.String(), test.missing) {
			t.Errorf("%+v lacks %q, want %q", test.needs, got, test.missing)
		}
	}
}
