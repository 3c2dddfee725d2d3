package submission

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// elfArch has the names that Go (GOARCH) gives to the architectures of ELF files.
var elfArch = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
}

// needsOf returns what a machine must have to run the command of a bot whose built files are in dir. These are the
// architecture of the program that is executed, and the interpreters that execute it. Programs that a script starts
// later are not considered. If the command cannot be started, or timba plays the bot itself, the result is empty.
func needsOf(dir string, command []string) (n ladder.Needs) {
	if (program.Manifest{Run: command}).IsModel() {
		return n
	}
	words := command[:1]
	for range interpreter.MaxDepth {
		var next []string
		for _, word := range words {
			path := word
			if strings.Contains(word, "/") && !filepath.IsAbs(word) {
				path = filepath.Join(dir, word)
			}
			rel, err := filepath.Rel(dir, path)
			if !strings.Contains(word, "/") || err != nil || !filepath.IsLocal(rel) {
				if name := filepath.Base(word); !interpreter.IsStarter(name) && !slices.Contains(n.Interpreters, name) {
					n.Interpreters = append(n.Interpreters, name) // every machine has the starters
				}
				continue
			}
			if arch := archOf(path); arch != "" {
				n.Arch = arch
				continue
			}
			next = append(next, interpreter.FirstLine(path)...)
		}
		words = next
	}
	return n
}

// archOf returns the architecture of the ELF file at path, as a GOARCH name if there is one. It returns "" if the
// file is not a readable ELF file.
func archOf(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if arch, ok := elfArch[f.Machine]; ok {
		return arch
	}
	return f.Machine.String()
}
