package match

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/fault"
)

// elfFile returns the beginning of a program of Linux for a processor. If loader is not "", it is the path of the
// dynamic loader that the program needs.
func elfFile(t *testing.T, machine elf.Machine, loader string) string {
	t.Helper()
	const header, entry = 64, 56
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: header, Ehsize: header, Phentsize: entry, Phnum: 1,
	}
	p := elf.Prog64{Type: uint32(elf.PT_INTERP), Off: header + entry, Filesz: uint64(len(loader) + 1)}
	if loader == "" {
		p.Type = uint32(elf.PT_NOTE)
	}
	data := kit.Get[[]byte](t)(binary.Append(nil, binary.LittleEndian, h))
	data = kit.Get[[]byte](t)(binary.Append(data, binary.LittleEndian, p))
	return string(data) + loader + "\x00"
}

// objectFile returns the beginning of an object file, which a compiler makes and nobody has linked.
func objectFile(t *testing.T, machine elf.Machine) string {
	file := []byte(elfFile(t, machine, ""))
	file[16] = byte(elf.ET_REL)
	return string(file)
}

// windowsFile is the beginning of a program of Windows.
var windowsFile = "MZ" + strings.Repeat("\x00", 58) + "\x40\x00\x00\x00PE\x00\x00\x64\x86"

// A program that cannot be started is a fault that says what is wrong with its file, and how to mend it, with and
// without a sandbox.
func TestFilesThatCannotStart(t *testing.T) {
	native, other := elf.EM_X86_64, elf.EM_AARCH64
	names := []string{"linux/amd64", "linux/arm64"}
	if runtime.GOARCH == "arm64" {
		native, other, names[0], names[1] = other, native, names[1], names[0]
	}
	cases := []struct {
		file  string
		kind  fault.Kind
		words string
		cure  string
	}{
		{elfFile(t, other, ""), fault.OtherSystem, "is a program for " + names[1] + ", and this machine is " + names[0], "build it for " + names[0]},
		{elfFile(t, elf.EM_RISCV, "/lib/ld.so"), fault.OtherSystem, "is a program for linux/riscv64, and", "build it for " + names[0]},
		{elfFile(t, elf.EM_SPARC, ""), fault.OtherSystem, "is a program for linux, and", "build it for " + names[0]},
		{windowsFile, fault.OtherSystem, "is a program for windows/amd64, and", "build it for " + names[0]},
		{"\xcf\xfa\xed\xfe\x0c\x00\x00\x01", fault.OtherSystem, "is a program for darwin/arm64, and", "build it for " + names[0]},
		{elfFile(t, native, "/lib/ld-musl-none.so.1"), fault.NoLoader, "needs the loader /lib/ld-musl-none.so.1, which is not there", "on a system with glibc: it is built for musl"},
		{elfFile(t, native, "/lib/ld-none.so.2"), fault.NoLoader, "needs the loader /lib/ld-none.so.2, which", "link it statically"},
		{"#!/bin/sh\r\nexit\r\n", fault.NoInterpreter, `has the first line "#!/bin/sh\r", and there is no /bin/sh\r`, "with LF alone as the end of a line"},
		{"#!/usr/no/python3 -u\n", fault.NoInterpreter, "there is no /usr/no/python3", "install /usr/no/python3, or name a program that is there"},
		{"#!python3\n", fault.NoInterpreter, "there is no python3", "write the path of the program, or /usr/bin/env before its name"},
		{"#!\n", fault.NoFirstLine, "its first line does not say which program runs it", "begin the file with a line such as #!/usr/bin/env python3"},
		{"print('ready')\n", fault.NoFirstLine, "its first line does not say which program runs it", "begin the file with a line such as #!/usr/bin/env python3"},
		{"\ufeff#!/bin/sh\nexit\n", fault.ByteOrderMark, "has a byte order mark", "save the file as UTF-8 without"},
		{"", fault.EmptyFile, "is empty", "write the bot into the file"},
		{"\xff\xfe#\x00!\x00", fault.ByteOrderMark, "has a byte order mark", "save the file as UTF-8 without"},
		{"\x00\x01\x02", fault.NoProgram, "is neither a program nor a script", "as in java -jar bot.jar"},
		{objectFile(t, native), fault.NoProgram, "is neither a program nor a script", "link an object file"},
	}
	places := map[string]*Sandbox{"no sandbox": nil}
	if !kit.HasRaceDetector() {
		for _, h := range holds(t, false)[:1] {
			places[h.name] = h.sandbox
		}
	}
	for place, confined := range places {
		for _, c := range cases {
			dir := t.TempDir()
			kit.Must(t, os.Chmod(dir, 0o755))
			kit.Must(t, os.WriteFile(filepath.Join(dir, "bot"), []byte(c.file), 0o755))
			m := &Match{Variant: variant(t, "brisca", ""), Bots: real([]string{filepath.Join(dir, "bot"), "--fast"}, nil), Clock: patient, start: starter{}.start}
			m.Bots[0].Dir, m.Bots[0].Sandbox = dir, confined
			g := oneGame(t, m)
			if len(g.Faults) != 1 {
				t.Fatalf("%s, %.20q: %v", place, c.file, g.Faults)
			}
			r := g.Faults[0].Reason
			if r.Kind != c.kind || !strings.Contains(g.Faults[0].Text, c.words) || c.kind != fault.NotStarted && r.Command != "./bot" {
				t.Errorf("%s, %.20q: %s for %s, want %s and %q", place, c.file, g.Faults[0].Text, r.Kind, c.kind, c.words)
			}
			if advice := r.Advice(fault.Circumstances{})[0].String(); !strings.Contains(advice, c.cure) {
				t.Errorf("%s, %.20q: the advice is %q, want %q", place, c.file, advice, c.cure)
			}
			valid(t, &g.Replay)
		}
	}
}
