// Package interpreter finds out how a program is run: where its links lead, what its
// first line names, and which Python its environment was made from.
//
// A command is its user's choice, but the files of a bot are its author's: they may lead
// only to the bot's directory and to programs that Bounds knows. Otherwise a bot could
// make any file visible whose path it can guess. All code that starts or admits bots
// reads their files through this package.
package interpreter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// MaxDepth is how many files a command may lead to, each run by the next.
	MaxDepth = 4
	// MaxConfig is the largest size of a pyvenv.cfg in bytes.
	MaxConfig = 64 << 10

	maxLinks = 40  // the kernel's limit
	maxLine  = 256 // bytes of a first line, the kernel's limit
)

// Bounds is where the files of a bot may lead.
type Bounds struct {
	// Dir is the absolute path of the bot's directory. Files outside it are not the
	// bot's and may lead anywhere; "" means that no file is the bot's.
	Dir string
	// IsKnown reports whether files may lead to a clean absolute path outside Dir.
	IsKnown func(path string) bool
}

// Error says that a file of a bot leads where it must not.
type Error struct {
	From string // the file, relative to the bot's directory, or "the command"
	Text string // what is wrong, and what to do instead
}

func (e *Error) Error() string { return e.From + " " + e.Text }

// Targets is what running a file leads to.
type Targets struct {
	Links    []string // the file's path, then the target of each link
	RealPath string   // its path without links
	Programs []string // the words of its first line that are programs: see FirstLine
	Bases    []string // programs that the Python environments around Links are made from
}

// Follow returns what a file leads to when it is run. The error is an *Error if a step
// leaves the bounds; other errors are the system's.
func (b Bounds) Follow(path string) (Targets, error) {
	var l Targets
	for at := path; ; {
		if len(l.Links) == maxLinks {
			return l, &Error{b.displayName(path), "is a link that leads to itself: replace it by the program"}
		}
		l.Links = append(l.Links, at)
		bases, err := b.venvBases(at)
		if err != nil {
			return l, err
		}
		l.Bases = append(l.Bases, bases...)
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		if err := b.checkLead(at, target); err != nil {
			return l, err
		}
		at = target
	}
	var err error
	if l.RealPath, err = filepath.EvalSymlinks(path); err != nil {
		return l, err
	}
	if err := b.checkLead(path, l.RealPath); err != nil {
		return l, err
	}
	words, err := readFirstLine(l.RealPath)
	if err != nil {
		return l, err
	}
	// All words that look like a path are checked: env has options of many forms.
	for i, word := range words {
		word = splitOption(word)
		if i > 0 && (!strings.Contains(word, "/") || strings.Contains(word, "=")) {
			continue
		}
		if err := b.checkLead(l.RealPath, b.absolute(word)); err != nil {
			return l, err
		}
	}
	l.Programs = programWords(words)
	return l, nil
}

// CheckPath returns an *Error if the first word of a bot's own command is a path out of the
// bounds. A word without a slash is a program of the system's PATH.
func (b Bounds) CheckPath(word string) error {
	if strings.ContainsRune(word, 0) {
		return &Error{"the command", fmt.Sprintf("has the program %q, which is not a file name", word)}
	}
	if strings.Contains(word, "/") && !b.allows(b.absolute(word)) {
		return b.refuse("the command", word)
	}
	return nil
}

// CheckCommand returns an *Error if Place does, or if the command leads out of the bounds. A
// command that cannot be run leads nowhere.
func (b Bounds) CheckCommand(word string) error {
	if err := b.CheckPath(word); err != nil {
		return err
	}
	words := []string{word}
	for range MaxDepth {
		var next []string
		for _, word := range words {
			path := filepath.Clean(b.absolute(word))
			if !strings.Contains(word, "/") || !b.owns(path) {
				continue
			}
			leads, err := b.Follow(path)
			if refused := new(Error); errors.As(err, &refused) {
				return err
			}
			next = append(append(next, leads.Programs...), leads.Bases...)
		}
		if words = next; len(words) == 0 {
			return nil
		}
	}
	return tooDeep(word)
}

// tooDeep returns the error for a command that leads to more than MaxDepth files.
func tooDeep(word string) error {
	return &Error{"the command", fmt.Sprintf("has the program %q, which starts a chain of too many scripts: name the program that runs", word)}
}

// FirstLine returns the programs in the first line of a script, as written: the
// interpreter and, if that is env, the program that env starts. It is nil for a file
// that is not a script or cannot be read.
func FirstLine(path string) []string {
	words, _ := readFirstLine(path)
	return programWords(words)
}

// IsScript reports whether a file begins with a line that names an interpreter.
func IsScript(path string) bool {
	head, err := readHead(path)
	return err == nil && strings.HasPrefix(head, "#!")
}

// readFirstLine returns the words of a script's first line, none for other files.
func readFirstLine(path string) ([]string, error) {
	head, err := readHead(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil // it may be executable nevertheless
	}
	line, ok := strings.CutPrefix(head, "#!")
	if err != nil || !ok {
		return nil, err
	}
	line, _, _ = strings.Cut(line, "\n")
	return strings.Fields(line), nil
}

// readHead returns the beginning of a regular file, "" for others.
func readHead(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxLine))
	return string(head), err
}

// splitOption returns the first word in an option of env that is a line of words.
func splitOption(word string) string {
	word = strings.TrimPrefix(word, "--split-string=")
	return strings.TrimPrefix(word, "-S")
}

// programWords returns the words of a first line that are programs.
func programWords(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	interpreter := words[0]
	if !strings.Contains(interpreter, "/") {
		interpreter = "./" + interpreter // the kernel has no PATH
	}
	if filepath.Base(interpreter) != "env" {
		return []string{interpreter}
	}
	for i := 1; i < len(words); i++ {
		word := splitOption(words[i])
		switch {
		case slices.Contains([]string{"-u", "--unset", "-C", "--chdir"}, word):
			i++ // its value
		case word == "" || strings.HasPrefix(word, "-") || strings.Contains(word, "="):
		default:
			return []string{interpreter, word}
		}
	}
	return []string{interpreter}
}

// venvBases returns the programs that a program's Python environment is made from; none
// without an environment.
func (b Bounds) venvBases(path string) (venvBases []string, err error) {
	config := filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")
	info, err := os.Stat(config)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > MaxConfig {
		return nil, &Error{b.displayName(config), fmt.Sprintf("has %d bytes: at most %d are read", info.Size(), MaxConfig)}
	}
	data, err := os.ReadFile(config)
	if err != nil {
		return nil, nil
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, "=")
		home := strings.TrimSpace(value)
		if !ok || home == "" || !strings.EqualFold(strings.TrimSpace(key), "home") {
			continue
		}
		homes := []string{b.absolute(home)}
		if !filepath.IsAbs(homes[0]) {
			continue
		}
		if real, err := filepath.EvalSymlinks(homes[0]); err == nil {
			homes = append(homes, real)
		}
		for _, home := range homes {
			base := filepath.Join(home, filepath.Base(path))
			if err := b.checkLead(config, base); err != nil {
				return nil, err
			}
			venvBases = append(venvBases, base)
		}
	}
	return venvBases, nil
}

// absolute returns the absolute path for a word in a file of the bot, which runs in its
// directory.
func (b Bounds) absolute(word string) string {
	if filepath.IsAbs(word) {
		return word // not cleaned: what "dir/.." leads to depends on links
	}
	return filepath.Join(b.Dir, word)
}

// owns reports whether a path is in the bot's directory, by name or with links resolved.
func (b Bounds) owns(path string) bool {
	if b.Dir == "" {
		return false
	}
	if isBelow(path, b.Dir) {
		return true
	}
	real, err := filepath.EvalSymlinks(b.Dir)
	return err == nil && isBelow(path, real)
}

func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// allows reports whether files of the bot may lead to an absolute path.
func (b Bounds) allows(path string) bool {
	clean := filepath.Clean(path)
	return b.owns(clean) || path == clean && b.IsKnown(path)
}

// checkLead returns an *Error if the bounds do not allow what a file of the bot leads to.
func (b Bounds) checkLead(from, to string) error {
	if !b.owns(filepath.Clean(from)) || b.allows(to) {
		return nil
	}
	return b.refuse(b.displayName(from), to)
}

func (b Bounds) refuse(from, to string) error {
	return &Error{from, fmt.Sprintf("leads to %q, which is neither in the bot's directory nor a program of the system: "+
		"name one without a path, as in python3 or #!/usr/bin/env python3; the interpreter of a virtual environment can be in the bot's directory, as in venv/bin/python", strings.ToValidUTF8(to, "?"))}
}

// displayName returns a path relative to the bot's directory, for its author.
func (b Bounds) displayName(path string) string {
	if !isBelow(path, b.Dir) {
		return path
	}
	name, _ := filepath.Rel(b.Dir, path) // it is below Dir
	return name
}
