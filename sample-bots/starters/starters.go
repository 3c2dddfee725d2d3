// Package starters holds a complete bot to copy for each language.
package starters

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed all:python all:c all:bash all:javascript all:cpp all:rust all:java all:go all:perl all:ruby all:lua all:tcl all:php
var files embed.FS

// Languages are the names of the starters.
var Languages = []string{"python", "javascript", "c", "cpp", "rust", "java", "go", "bash", "perl", "ruby", "lua", "tcl", "php"}

// Write puts a language's starter into a folder, which may exist but must hold
// none of its files.
func Write(language, dir string) error {
	if !slices.Contains(Languages, language) {
		return fmt.Errorf("starter: there is none for %q: try %s", language, strings.Join(Languages, ", "))
	}
	return fs.WalkDir(files, language, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(language, path)
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("starter: %w: name a new folder", err)
		}
		if _, err := f.Write(data); err != nil {
			f.Close()
			return fmt.Errorf("starter: %w", err)
		}
		return f.Close()
	})
}
