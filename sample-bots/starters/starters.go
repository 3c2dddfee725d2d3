// Package starters contains a complete bot to start from for each language.
package starters

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed all:python all:c all:bash all:javascript all:cpp all:rust all:java all:go all:perl all:ruby all:lua all:tcl all:php
var files embed.FS

// Language is a language with a starter.
type Language struct {
	Name    string   // also of the directory
	Title   string   // for people
	Aliases []string // other names that users may type
	Needs   []string // the programs that build and run the bot
}

// Languages is all languages, in display order.
var Languages = []Language{
	{"python", "Python", []string{"py", "python3"}, []string{"python3"}},
	{"javascript", "JavaScript", []string{"js", "node"}, []string{"node"}},
	{"c", "C", nil, []string{"cc"}},
	{"cpp", "C++", []string{"c++", "cxx"}, []string{"c++"}},
	{"rust", "Rust", []string{"rs"}, []string{"rustc"}},
	{"java", "Java", nil, []string{"javac", "java"}},
	{"go", "Go", []string{"golang"}, []string{"go"}},
	{"bash", "Bash", []string{"sh", "shell"}, []string{"bash"}},
	{"perl", "Perl", []string{"pl"}, []string{"perl"}},
	{"ruby", "Ruby", []string{"rb"}, []string{"ruby"}},
	{"lua", "Lua", nil, []string{"lua5.4"}},
	{"tcl", "Tcl", []string{"tclsh"}, []string{"tclsh"}},
	{"php", "PHP", nil, []string{"php"}},
}

// Find returns the language with a name, title or alias, ignoring case.
func Find(word string) (Language, error) {
	word = strings.ToLower(word)
	var known []string
	for _, l := range Languages {
		if word == l.Name || slices.Contains(l.Aliases, word) {
			return l, nil
		}
		names := l.Name
		if len(l.Aliases) > 0 {
			names += " (" + strings.Join(l.Aliases, ", ") + ")"
		}
		known = append(known, names)
	}
	return Language{}, fmt.Errorf("language %q has no starter: try %s; bots in other languages work, too: see SPEC.md", word, strings.Join(known, ", "))
}

// Missing returns the programs that the bot needs and this machine lacks.
func (l Language) Missing() (programs []string) {
	for _, program := range l.Needs {
		if _, err := exec.LookPath(program); err != nil {
			programs = append(programs, program)
		}
	}
	return programs
}

// Write writes the starter into a new or empty directory. It returns the bot's name, which is
// derived from the directory's name.
func (l Language) Write(dir string) (name string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("starter: %w", err)
	}
	if err := checkEmpty(dir); err != nil {
		return "", err
	}
	name = botName(filepath.Base(dir))
	// The heading of the README and the name in the manifest and the source.
	rename := strings.NewReplacer("# A timba bot in ", "# "+name+": a timba bot in ", "my-"+l.Name+"-bot", name)
	err = fs.WalkDir(files, l.Name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, l.Name)))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		return create(to, rename.Replace(string(data)))
	})
	if err != nil {
		return "", fmt.Errorf("starter: %w", err)
	}
	return name, nil
}

// checkEmpty returns an error for a directory that is not empty; a new git repository passes.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("starter: %w: name a new directory", err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			return fmt.Errorf("starter: %s is not empty (%s is in it): name a new directory", dir, e.Name())
		}
	}
	return nil
}

// create writes a file that must not exist.
func create(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// botName returns a name that needs no quoting in any of the languages.
func botName(dir string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, dir)
	if name = strings.Trim(name, "-."); name == "" {
		return "my-bot"
	}
	return name
}
