package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IgnoreFile is the name of a file in a bot's directory that lists which files are not uploaded, in the format
// of .gitignore.
const IgnoreFile = ".timbaignore"

// defaultIgnore lists files of editors and tools that are not uploaded. A line of IgnoreFile that begins with
// "!" can include some of them.
const defaultIgnore = `
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

// ignore is a list of patterns for paths. The last pattern that matches a path decides whether it is uploaded.
type ignore []pattern

type pattern struct {
	glob    string
	negated bool // matching paths are included
	dir     bool // matches directories only
}

// readIgnore returns the patterns of defaultIgnore, followed by the patterns in the IgnoreFile of a directory, if it
// has such a file.
func readIgnore(directory string) (ignore, error) {
	list, err := parseIgnore([]byte(defaultIgnore))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(directory, IgnoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	own, err := parseIgnore(data)
	return append(list, own...), err
}

// parseIgnore parses the content of an IgnoreFile by the rules of git for a .gitignore.
func parseIgnore(data []byte) (ignore, error) {
	var list ignore
	n := 0
	for whole := range strings.Lines(string(data)) {
		n++
		whole = strings.TrimRight(whole, "\r\n")
		line := strings.TrimPrefix(whole, "\ufeff")
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
		// Braces have no special meaning in git.
		p.glob = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(strings.TrimPrefix(line, "/"))
		if !anchored {
			p.glob = "**/" + p.glob
		}
		if line == "" || !doublestar.ValidatePattern(p.glob) {
			return nil, invalid("write it as in a .gitignore", "line %d of %s, %q, is not a pattern", n, IgnoreFile, whole)
		}
		list = append(list, p)
	}
	return list, nil
}

// excludes reports whether the file or directory with the path p is not uploaded. dir says whether p is a directory.
// The directories above p do not matter here: the caller skips an excluded directory with everything in it.
func (list ignore) excludes(p string, dir bool) bool {
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
