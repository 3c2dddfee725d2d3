package attempt

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// What a bot needs follows from its command, and from the files that it leads to.
func TestNeedsOf(t *testing.T) {
	t.Parallel()
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{
		"env": "#!/usr/bin/env python3\n", "direct": "#!/usr/bin/node\n", "shell": "#!/bin/sh\n", "chain": "#!./env\n", "loop": "#!./loop\n",
	})
	exe := kit.Get[string](t)(os.Executable())
	if out, err := exec.Command("cp", exe, filepath.Join(dir, "native")).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for _, test := range []struct {
		command string
		want    Needs
	}{
		{"python3 bot.py", Needs{Interpreters: []string{"python3"}}},
		{"/usr/bin/python3.12 bot.py", Needs{Interpreters: []string{"python3.12"}}},
		{"./env", Needs{Interpreters: []string{"python3"}}},
		{"./direct", Needs{Interpreters: []string{"node"}}},
		{"./chain", Needs{Interpreters: []string{"python3"}}},
		{"./shell", Needs{}},
		{"sh bot.sh", Needs{}},
		{"./native", Needs{Arch: runtime.GOARCH}},
	} {
		got, err := NeedsOf(dir, strings.Fields(test.command))
		if err != nil || !cmp.Equal(got, test.want) {
			t.Errorf("%s needs %+v, %v, want %+v", test.command, got, err, test.want)
		}
	}
	for _, command := range []string{"", "./loop", "./missing"} {
		if got, err := NeedsOf(dir, strings.Fields(command)); err == nil {
			t.Errorf("%q needs %+v", command, got)
		}
	}
}

func TestLacks(t *testing.T) {
	t.Parallel()
	m := Machine{Name: "lab-1", Arch: "arm64", Interpreters: map[string]string{"python3": "3.12.4", "perl": "5.36.0"}}
	for _, test := range []struct {
		needs   Needs
		missing string // "" if it can
	}{
		{Needs{}, ""},
		{Needs{Arch: "arm64", Interpreters: []string{"python3", "perl"}}, ""},
		{Needs{Arch: "amd64"}, "amd64"},
		{Needs{Interpreters: []string{"java"}}, "java"},
		{Needs{Interpreters: []string{"python3.12"}}, ""},
		{Needs{Interpreters: []string{"python3.1"}}, "python3.1"},
		{Needs{Interpreters: []string{"python3.13"}}, "python3.13"},
		{Needs{Interpreters: []string{"something"}}, ""}, // machines do not tell of it
	} {
		if got := Lacks(m, test.needs); (got == "") != (test.missing == "") || !strings.Contains(got, test.missing) {
			t.Errorf("%+v lacks %q, want %q", test.needs, got, test.missing)
		}
	}
}
