package fleet

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

func TestAble(t *testing.T) {
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
		if got := Able(m, test.needs); (got == "") != (test.missing == "") || !strings.Contains(got, test.missing) {
			t.Errorf("%+v lacks %q, want %q", test.needs, got, test.missing)
		}
	}
}

// A result that is too large loses what the bots said, and never its moves without saying so.
func TestPack(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	a.within("lab-1")
	j := job(1, 1, greedy, greedy2)
	d, err := a.Play(t.Context(), "lab-1", j)
	a.complete(j, d, err)
	through := func(r Result, most int) Delivery {
		t.Helper()
		back := kit.Get[Delivery](t)(Unpack(kit.Get[[]byte](t)(Pack(r, most))))
		if back.Failure == nil {
			a.must(back.Unpack(expected(j)))
		}
		return back
	}
	for i, g := range through(d, MaxPacked).Games {
		if diff := cmp.Diff(string(d.Games[i].Encode()), string(g.Encode())); diff != "" {
			t.Errorf("game %d is another one:\n%s", i, diff)
		}
		if !cmp.Equal(d.Games[i].Logs, g.Logs) || !cmp.Equal(d.Games[i].Bots, g.Bots) || d.Games[i].Took != g.Took {
			t.Errorf("game %d has another log, bot or time", i)
		}
	}
	whole := len(kit.Get[[]byte](t)(Pack(d, MaxPacked)))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(i*i>>3 ^ i)
	}
	d.Games[0].Logs[0] = noise
	if back := through(d, whole+1000); len(back.Games) != len(d.Games) || len(back.Games[0].Logs[0]) > 0 {
		t.Errorf("without its logs it has %d games", len(back.Games))
	}
	if back := through(d, 300); back.Failure == nil || back.Failure.Kind != FailedMachine {
		t.Errorf("what never fits gives %+v", back)
	}
}
