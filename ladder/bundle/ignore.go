package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IgnoreFile names what is not to be uploaded, in the form of a .gitignore.
const IgnoreFile = ".timbaignore"

// leftOut is what editors and tools keep beside a program; a line of IgnoreFile
// that begins with "!" takes some of it in again.
const leftOut = `
/` + IgnoreFile + `
*~
.*.sw[op]
.#*
\#*#
.idea/
.vscode/
.vs/
*.py[co]
.mypy_cache/
.pytest_cache/
.ruff_cache/
.tox/
`

// ignore is a list of patterns, of which the last one that fits counts.
type ignore []pattern

type pattern struct {
	glob    string
	negated bool // what fits is not left out
	dir     bool // fits folders only
}

// readIgnore reads a folder's IgnoreFile, behind what is left out everywhere.
func readIgnore(folder string) (ignore, error) {
	list, err := parseIgnore([]byte(leftOut))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(folder, IgnoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	own, err := parseIgnore(data)
	return append(list, own...), err
}

// parseIgnore reads lines as git does.
func parseIgnore(data []byte) (ignore, error) {
	var list ignore
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimPrefix(lines.Text(), "\ufeff")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = strings.TrimSuffix(line, " ")
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var p pattern
		line, p.negated = strings.CutPrefix(line, "!")
		line, p.dir = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		// Braces mean nothing to git.
		p.glob = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(line, "/"))
		if !anchored {
			p.glob = "**/" + p.glob
		}
		if line == "" || !doublestar.ValidatePattern(p.glob) {
			return nil, invalid("write it as in a .gitignore", "line %d of %s, %q, is no pattern", n, IgnoreFile, lines.Text())
		}
		list = append(list, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", IgnoreFile, err)
	}
	return list, nil
}

// leaves tells whether a path is left out. What is in a folder that is left out
// is not asked for.
func (list ignore) leaves(p string, dir bool) bool {
	out := false
	for _, i := range list {
		if i.dir && !dir || i.negated != out {
			continue
		}
		if ok, err := doublestar.Match(i.glob, p); ok && err == nil {
			out = !i.negated
		}
	}
	return out
}
