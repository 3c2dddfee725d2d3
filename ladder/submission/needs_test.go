package submission

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// The needs of a bot follow from its command and the files that the command leads to.
func TestNeeds(t *testing.T) {
	t.Parallel()
	dir := kit.Files(t, filepath.Join(t.TempDir(), "bot"), map[string]string{
		"env": "#!/usr/bin/env python3\n", "direct": "#!/usr/bin/node\n", "shell": "#!/bin/sh\n", "chain": "#!./env\n", "loop": "#!./loop\n",
	})
	exe := kit.Get[[]byte](t)(os.ReadFile(kit.Get[string](t)(os.Executable())))
	kit.Must(t, os.WriteFile(filepath.Join(dir, "native"), exe, 0o755))
	foreign := append([]byte(nil), exe[:64]...) // a header without parts
	clear(foreign[32:48])
	clear(foreign[56:])
	for name, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "386": elf.EM_386} {
		binary.LittleEndian.PutUint16(foreign[18:], uint16(machine))
		kit.Must(t, os.WriteFile(filepath.Join(dir, name), foreign, 0o755))
	}
	for _, test := range []struct {
		command string
		want    ladder.Needs
	}{
		{"python3 bot.py", ladder.Needs{Interpreters: []string{"python3"}}},
		{"/usr/bin/python3.12 bot.py", ladder.Needs{Interpreters: []string{"python3.12"}}},
		{"./env", ladder.Needs{Interpreters: []string{"python3"}}},
		{"./direct", ladder.Needs{Interpreters: []string{"node"}}},
		{"./chain", ladder.Needs{Interpreters: []string{"python3"}}},
		{"./shell", ladder.Needs{}},
		{"sh bot.sh", ladder.Needs{}},
		{"./native", ladder.Needs{Arch: runtime.GOARCH}},
		{"./arm64", ladder.Needs{Arch: "arm64"}},
		{"./386", ladder.Needs{Arch: "386"}},
		{"./loop", ladder.Needs{}},
		{"./missing", ladder.Needs{}},
	} {
		if got := needsOf(dir, strings.Fields(test.command)); !cmp.Equal(got, test.want) {
			t.Errorf("%s needs %+v, want %+v", test.command, got, test.want)
		}
	}
}
