package interpreter

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Obstacle describes why the system cannot execute a file that exists.
type Obstacle struct {
	Kind    ObstacleKind
	File    string // path of the file
	System  string // if Kind is OtherSystem: the system and the processor of the program, such as windows/amd64; "" if unknown
	Line    string // if Kind is NoInterpreter: the first line of the script, without its LF
	Missing string // if Kind is NoInterpreter or NoLoader: the program that does not exist
}

// ObstacleKind says why the system cannot execute a file. Each value is also a kind of fault (fault.Kind).
type ObstacleKind string

const (
	OtherSystem   ObstacleKind = "other-system"    // a program for another operating system or processor
	NoInterpreter ObstacleKind = "no-interpreter"  // a script whose first line names a program that does not exist
	NoLoader      ObstacleKind = "no-loader"       // a program whose dynamic loader does not exist
	NoFirstLine   ObstacleKind = "no-first-line"   // a text without #!
	ByteOrderMark ObstacleKind = "byte-order-mark" // a script with a byte order mark before #!, or a text in UTF-16
	EmptyFile     ObstacleKind = "empty-file"      // a file without content
	NotExecutable ObstacleKind = "not-executable"  // a file without an execute bit
	NoProgram     ObstacleKind = "no-program"      // an object file, an archive or the like
)

const (
	maxHead       = 4096 // bytes at the beginning of a file that are examined
	maxHeaders    = 16   // program headers of an ELF file that are examined
	byteOrderMark = "\xef\xbb\xbf"
	machine386    = 3 // number of a processor in an ELF file
	machineARM    = 40
)

// FindObstacle returns why the system cannot execute the file that word, the first word of a command, names. A
// relative path starts from dir. If the file is a script, FindObstacle also examines its interpreter. ok is false if
// it finds no file or no reason. FindObstacle does not execute anything; call it only after the command could not be
// started.
func FindObstacle(word, dir string) (o Obstacle, ok bool) {
	for range MaxDepth {
		path, err := findFile(word, dir)
		if err != nil {
			return o, false
		}
		head, err := ReadStart(path, maxHead)
		if err != nil {
			return o, false
		}
		o = Obstacle{File: path}
		next, found := o.examine(head, dir)
		if found || next == "" {
			return o, found
		}
		word = next
	}
	return o, false
}

// findFile returns the path of the file that word, the first word of a command, names. If word has no slash, findFile
// searches it in PATH. Otherwise a relative path starts from dir.
func findFile(word, dir string) (string, error) {
	if !strings.Contains(word, "/") && !filepath.IsAbs(word) {
		return exec.LookPath(word)
	}
	return Bounds{Dir: dir}.absolute(word), nil
}

// examine finds the reason why the file o.File cannot be executed, and sets it in o. head is the beginning of the
// file. found is true if there is a reason. If the file is a script whose interpreter exists, found is false and next
// is the interpreter, which the caller must examine next.
func (o *Obstacle) examine(head, dir string) (next string, found bool) {
	switch {
	case head == "":
		info, err := os.Stat(o.File)
		o.Kind = EmptyFile
		return "", err == nil && info.Mode().IsRegular() && info.Size() == 0
	case runtime.GOOS != "windows" && o.hasNoExecuteBit():
		o.Kind = NotExecutable
		return "", true
	case strings.HasPrefix(head, "\x7fELF"):
		return "", o.examineELF(head)
	case strings.HasPrefix(head, "MZ"):
		o.Kind, o.System = OtherSystem, windowsProgram(head)
		return "", runtime.GOOS != "windows"
	case isMachO(head):
		o.Kind, o.System = OtherSystem, macProgram(head)
		return "", runtime.GOOS != "darwin" && runtime.GOOS != "ios"
	case runtime.GOOS == "windows":
		return "", false // it executes no scripts
	case strings.HasPrefix(head, byteOrderMark+"#!"), strings.HasPrefix(head, "\xff\xfe"), strings.HasPrefix(head, "\xfe\xff"):
		o.Kind = ByteOrderMark
		return "", true
	case strings.HasPrefix(head, "#!"):
		return o.examineScript(head, dir)
	}
	o.Kind = NoFirstLine
	if !isText(head) {
		o.Kind = NoProgram
	}
	return "", true
}

// hasNoExecuteBit reports whether the file o.File exists and has no execute bit.
func (o *Obstacle) hasNoExecuteBit() bool {
	info, err := os.Stat(o.File)
	return err == nil && info.Mode()&0o111 == 0
}

// examineScript does what examine does, for a file whose first line begins with #!.
func (o *Obstacle) examineScript(head, dir string) (next string, found bool) {
	line, _, _ := strings.Cut(head, "\n")
	o.Kind, o.Line = NoInterpreter, line
	// Unlike readFirstLine, the kernel leaves a CR at the end of the line, as a part of the last word.
	words := strings.FieldsFunc(line[len("#!"):], func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || words[0] == "\r" {
		o.Kind = NoFirstLine
		return "", true
	}
	exists := func(word string) bool {
		path, err := findFile(word, dir)
		if err == nil {
			_, err = os.Stat(path)
		}
		return err == nil
	}
	for _, program := range programWords(words) {
		if !exists(program) {
			o.Missing = strings.TrimPrefix(program, "./")
			return "", true
		}
		next = program
	}
	return next, false
}

// examineELF does what examine does, for a program in the format ELF, as on Linux. It returns whether it found a
// reason.
func (o *Obstacle) examineELF(head string) bool {
	data := []byte(head)
	if len(data) < 64 {
		return false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[5] == 2 {
		order = binary.BigEndian
	}
	machine := order.Uint16(data[18:])
	o.Kind, o.System = OtherSystem, "linux"
	if name := elfMachines[machine]; name != "" {
		o.System += "/" + name
	}
	if runtime.GOOS != "linux" {
		return true
	}
	native := elfMachines[machine] == runtime.GOARCH
	older := runtime.GOARCH == "amd64" && machine == machine386 || runtime.GOARCH == "arm64" && machine == machineARM
	if !native && !older { // a processor may run the programs of its predecessor
		return true
	}
	if elf.Type(order.Uint16(data[16:])) == elf.ET_REL {
		o.Kind = NoProgram
		return true
	}
	if loader := loaderOf(data, order); loader != "" {
		if _, err := os.Stat(loader); err != nil {
			o.Kind, o.Missing = NoLoader, loader
			return true
		}
	}
	return older
}

// elfMachines maps the numbers of processors in ELF files (e_machine) to values of GOARCH.
var elfMachines = map[uint16]string{machine386: "386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", machineARM: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}

// loaderOf returns the path of the dynamic loader that an ELF file names, or "" if it names none. data is the
// beginning of the file, at least 64 bytes, and order is the byte order of the file.
func loaderOf(data []byte, order binary.ByteOrder) string {
	is64 := data[4] == 2
	// Positions of the table of program headers, of the size of an entry and of the number of entries.
	table, size, count := uint64(order.Uint32(data[28:])), uint64(order.Uint16(data[42:])), order.Uint16(data[44:])
	if is64 {
		table, size, count = order.Uint64(data[32:]), uint64(order.Uint16(data[54:])), order.Uint16(data[56:])
	}
	for i := range uint64(min(count, maxHeaders)) {
		at := table + i*size
		if at > uint64(len(data)) || uint64(len(data))-at < 56 {
			return ""
		}
		entry := data[at:]
		if order.Uint32(entry) != 3 { // PT_INTERP
			continue
		}
		from, length := uint64(order.Uint32(entry[4:])), uint64(order.Uint32(entry[16:]))
		if is64 {
			from, length = order.Uint64(entry[8:]), order.Uint64(entry[32:])
		}
		if from > uint64(len(data)) || length > uint64(len(data))-from {
			return ""
		}
		path, _, _ := strings.Cut(string(data[from:from+length]), "\x00")
		return path
	}
	return ""
}

// windowsProgram returns the operating system and the processor for which a Windows program was built, such as
// "windows/amd64", or only "windows" if the processor is unknown. head is the beginning of the file.
func windowsProgram(head string) string {
	if len(head) < 0x40 {
		return "windows"
	}
	at := uint64(binary.LittleEndian.Uint32([]byte(head[0x3c:])))
	if at+6 > uint64(len(head)) || head[at:at+4] != "PE\x00\x00" {
		return "windows"
	}
	name := map[uint16]string{0x14c: "386", 0x1c4: "arm", 0x8664: "amd64", 0xaa64: "arm64"}[binary.LittleEndian.Uint16([]byte(head[at+4:]))]
	return strings.TrimSuffix("windows/"+name, "/")
}

// isMachO reports whether a file that begins with head is a macOS program, for one or for several processors.
func isMachO(head string) bool {
	if len(head) < 8 {
		return false
	}
	if head[:4] == "\xca\xfe\xba\xbe" { // a class of Java begins with the same bytes; the next are its version
		return binary.BigEndian.Uint32([]byte(head[4:])) < 40
	}
	return slices.Contains([]string{"\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe"}, head[:4])
}

// macProgram returns the operating system and the processor for which a macOS program was built, such as
// "darwin/arm64", or only "darwin" if there are several processors or an unknown one. head is the beginning of the
// file.
func macProgram(head string) string {
	name := map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[binary.LittleEndian.Uint32([]byte(head[4:]))]
	return strings.TrimSuffix("darwin/"+name, "/")
}

// isText reports whether head, the beginning of a file, is text in UTF-8. Apart from ESC, tabs and ends of lines, it
// must not contain control characters. head may end within a character.
func isText(head string) bool {
	for i, r := range head {
		if r == utf8.RuneError && len(head)-i >= utf8.UTFMax || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) {
			return false
		}
	}
	return true
}

// ReadStart returns the first bytes of a regular file, at most maxBytes. If path is not a regular file but, for
// instance, a directory or a device, it returns "" without an error.
func ReadStart(path string, maxBytes int64) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxBytes))
	return string(head), err
}
