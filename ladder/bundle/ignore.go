package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IgnoreFile is the name of the file in a bot's directory that lists what not to
// upload, in the format of a .gitignore.
const IgnoreFile = ".timbaignore"

// defaultIgnore has the files of editors and tools; a line of IgnoreFile that begins
// with "!" includes some of them again.
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

// ignore is a list of patterns; the last one that matches a path counts.
type ignore []pattern

type pattern struct {
	glob    string
	negated bool // what matches is included
	dir     bool // matches directories only
}

// readIgnore returns defaultIgnore, followed by the patterns in a directory's
// IgnoreFile.
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

// parseIgnore reads lines as git does.
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

// excludes reports whether a path is left out. It does not look at the directories
// above: the caller skips those that are left out.
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
