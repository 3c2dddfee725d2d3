package attempt

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Needs is what a machine must have to play a bot.
type Needs struct {
	Arch         string   // as GOARCH; "" for any
	Interpreters []string // by the names that Machine.Interpreters has
}

// elfArch has the architectures of ELF files, as GOARCH.
var elfArch = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
}

// NeedsOf returns what a bot needs whose built files are in a directory: the machine of the
// program that its command starts, or the interpreters that lead to it. It sees the beginning
// alone: what a script starts by itself is not known. Files that are not there are an error.
func NeedsOf(dir string, command []string) (Needs, error) {
	var n Needs
	if len(command) == 0 {
		return n, errors.New("bot: it has no command")
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
				n.add(filepath.Base(word))
				continue
			}
			if _, err := os.Stat(path); err != nil {
				return n, fmt.Errorf("bot: %w", err)
			}
			if arch, ok := archOf(path); ok {
				n.Arch = arch
				continue
			}
			next = append(next, interpreter.FirstLine(path)...)
		}
		if words = next; len(words) == 0 {
			return n, nil
		}
	}
	return n, interpreter.TooDeep(command[0])
}

// add notes an interpreter, unless every machine has it.
func (n *Needs) add(name string) {
	if interpreter.Starter(name) || slices.Contains(n.Interpreters, name) {
		return
	}
	n.Interpreters = append(n.Interpreters, name)
}

// archOf returns the architecture of an ELF file.
func archOf(path string) (arch string, ok bool) {
	f, err := elf.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if arch, ok = elfArch[f.Machine]; !ok {
		arch = f.Machine.String()
	}
	return arch, true
}

// Lacks returns what a machine lacks to play a bot, as text for people; "" if it can.
func Lacks(m Machine, n Needs) (missing string) {
	if n.Arch != "" && n.Arch != m.Arch {
		return fmt.Sprintf("a machine with the architecture %s (%s has %s)", n.Arch, m.Name, m.Arch)
	}
	for _, name := range n.Interpreters {
		if !has(m, name) {
			return fmt.Sprintf("%s (%s does not have it)", name, m.Name)
		}
	}
	return ""
}

// has reports whether a machine has an interpreter: python3.12 is python3 of version 3.12.
func has(m Machine, name string) bool {
	if _, ok := m.Interpreters[name]; ok {
		return true
	}
	base := strings.TrimRight(name, "0123456789.")
	wanted := strings.TrimPrefix(name, base)
	for _, have := range []string{base, base + "3"} {
		if version, ok := m.Interpreters[have]; ok && wanted != "" && (version + ".")[:min(len(wanted)+1, len(version)+1)] == wanted+"." {
			return true
		}
	}
	return !interpreter.WellKnown(base) && !interpreter.WellKnown(base+"3") // machines do not tell of others
}
