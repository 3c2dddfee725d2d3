// Package interpreter finds out which files a command runs: where symbolic links lead, which interpreter the
// first line of a script names, and which Python a virtual environment was made from.
//
// A user may choose any command. But the files of a bot are written by its author, and they may lead only to
// the bot's directory and to the programs that Bounds allows. Otherwise a bot could make any file visible
// whose path it can guess. All code that starts or accepts bots reads their files through this package.
package interpreter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// MaxDepth is the largest number of scripts in a chain in which each script is run by the next.
	MaxDepth = 4
	// MaxConfig is the largest size in bytes of a pyvenv.cfg, the configuration of a Python virtual environment.
	MaxConfig = 64 << 10

	maxLinks = 40  // limit of the kernel
	maxLine  = 256 // bytes of a script's first line, limit of the kernel
)

// Bounds restricts the paths to which the files of a bot may lead. A file leads to a path by a symbolic link or by
// its #! line.
type Bounds struct {
	// Dir is the absolute path of the bot's directory. Files outside it do not belong to the bot and may lead
	// anywhere. If Dir is "", no file belongs to the bot.
	Dir string
	// IsKnown reports whether files of the bot may lead to a path outside Dir. path is absolute and clean (see
	// filepath.Clean).
	IsKnown func(path string) bool
}

// PathError is the error for a bot's file that leads to a path which Bounds does not allow. A file leads to a path by
// a symbolic link or by its #! line.
type PathError struct {
	From string // the file, relative to the bot's directory, or "the command"
	Text string // what is wrong with it, and what to do instead
}

func (e *PathError) Error() string { return e.From + " " + e.Text }

// Targets lists the files that are used when a program is executed.
type Targets struct {
	Links    []string // the path of the program, then the target of each symbolic link
	RealPath string   // the path of the program without symbolic links
	Programs []string // the programs that the #! line of the program names; see FirstLine
	Bases    []string // the Python programs from which the virtual environments around Links were made
}

// Follow returns the files that are used when the program at path is executed: the program itself, the targets of
// symbolic links, and the programs that a #! line names. The error is a *PathError if a file of the bot leads to a
// path that b does not allow, or if links form a loop. Other errors come from the operating system.
func (b Bounds) Follow(path string) (Targets, error) {
	var l Targets
	for at := path; ; {
		if len(l.Links) == maxLinks {
			return l, &PathError{b.displayName(path), "is a link that leads to itself: replace it by the program"}
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
	// All words that look like a path are checked, because env has many forms of options.
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

// CheckPath checks word, the first word of a bot's command. If word contains a slash, it is a path, and CheckPath
// returns a *PathError if b does not allow that path. A word without a slash is a program on the system's PATH, which
// is always allowed.
func (b Bounds) CheckPath(word string) error {
	if strings.ContainsRune(word, 0) {
		return &PathError{"the command", fmt.Sprintf("has the program %q, which is not a file name", word)}
	}
	if strings.Contains(word, "/") && !b.allows(b.absolute(word)) {
		return b.refuse("the command", word)
	}
	return nil
}

// CheckCommand checks word, the first word of a bot's command, as CheckPath does. If word is a file of the bot, it
// also checks all links and programs that are used when the file is executed, such as the interpreter of a script. It
// returns a *PathError if b does not allow one of them, or if too many scripts run each other. It returns nil for a
// command that cannot be executed.
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
			targets, err := b.Follow(path)
			if refused := new(PathError); errors.As(err, &refused) {
				return err
			}
			next = append(append(next, targets.Programs...), targets.Bases...)
		}
		if words = next; len(words) == 0 {
			return nil
		}
	}
	return tooDeep(word)
}

func tooDeep(word string) error {
	return &PathError{"the command", fmt.Sprintf("has the program %q, which starts a chain of too many scripts: name the program that runs", word)}
}

// FirstLine returns the programs that the #! line of a script names, as they are written there. These are the
// interpreter and, if the interpreter is env, the program that env starts. FirstLine returns nil if the file is not a
// script or cannot be read.
func FirstLine(path string) []string {
	words, _ := readFirstLine(path)
	return programWords(words)
}

func IsScript(path string) bool {
	head, err := ReadStart(path, maxLine)
	return err == nil && strings.HasPrefix(head, "#!")
}

// readFirstLine returns the words after #! in the first line of a script. It returns nil for a file that is not a
// script, or that this user may not read.
func readFirstLine(path string) ([]string, error) {
	head, err := ReadStart(path, maxLine)
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

// splitOption removes -S or --split-string= from the beginning of a word. The text after this option of env is a
// command.
func splitOption(word string) string {
	word = strings.TrimPrefix(word, "--split-string=")
	return strings.TrimPrefix(word, "-S")
}

// programWords returns the programs that the #! line of a script names. words are the words of the line. The result
// has the interpreter and, if the interpreter is env, the program that env starts.
func programWords(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	interpreter := words[0]
	if !strings.Contains(interpreter, "/") {
		interpreter = "./" + interpreter // the kernel does not search PATH
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

// venvBases returns the Python programs from which a virtual environment was made. path is the path of a program in
// the virtual environment. If the program is in no virtual environment, venvBases returns nil. It returns a
// *PathError if b does not allow one of these programs.
func (b Bounds) venvBases(path string) (bases []string, err error) {
	config := filepath.Join(filepath.Dir(filepath.Dir(path)), "pyvenv.cfg")
	info, err := os.Stat(config)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	if info.Size() > MaxConfig {
		return nil, &PathError{b.displayName(config), fmt.Sprintf("has %d bytes: at most %d are read", info.Size(), MaxConfig)}
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
			bases = append(bases, base)
		}
	}
	return bases, nil
}

// absolute returns the path word, which was found in a file of the bot, as an absolute path. If word is relative, it
// is relative to the bot's directory, because the bot runs there.
func (b Bounds) absolute(word string) string {
	if filepath.IsAbs(word) {
		return word // not cleaned: where "dir/.." leads depends on links
	}
	return filepath.Join(b.Dir, word)
}

// owns reports whether path is in the bot's directory, given either as in b.Dir or with the links in b.Dir resolved.
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

func (b Bounds) allows(path string) bool {
	clean := filepath.Clean(path)
	return b.owns(clean) || path == clean && b.IsKnown(path)
}

// checkLead returns a *PathError if a file of the bot leads to a path that b does not allow. from is the file, and to
// is that path. If from does not belong to the bot, checkLead returns nil.
func (b Bounds) checkLead(from, to string) error {
	if !b.owns(filepath.Clean(from)) || b.allows(to) {
		return nil
	}
	return b.refuse(b.displayName(from), to)
}

func (b Bounds) refuse(from, to string) error {
	return &PathError{from, fmt.Sprintf("leads to %q, which is neither in the bot's directory nor a program of the system: "+
		"name one without a path, as in python3 or #!/usr/bin/env python3; the interpreter of a virtual environment can be in the bot's directory, as in venv/bin/python", strings.ToValidUTF8(to, "?"))}
}

// displayName returns path as it appears in messages to the bot's author. A path in the bot's directory becomes
// relative to that directory; any other path stays unchanged.
func (b Bounds) displayName(path string) string {
	if !isBelow(path, b.Dir) {
		return path
	}
	name, _ := filepath.Rel(b.Dir, path) // path is below Dir
	return name
}
