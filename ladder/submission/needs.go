package submission

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// elfArch has the architectures of ELF files, as GOARCH.
var elfArch = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
}

// needsOf returns what a bot needs whose built files are in a directory: the machine of the
// program that its command starts, or the interpreters that lead to it. It sees the beginning
// alone: what a script starts by itself is not known, and what cannot be started needs nothing.
func needsOf(dir string, command []string) (n ladder.Needs) {
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
					n.Interpreters = append(n.Interpreters, name) // every machine has the others
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

// archOf returns the architecture of an ELF file; "" of any other.
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
