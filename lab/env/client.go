package env

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// python contains the Python client and its example.
//
//go:embed python/*.py
var python embed.FS

// WriteClient writes the Python client and its example into dir and returns their paths. If dir does not
// exist, it is created. Existing files are not overwritten.
func WriteClient(dir string) (paths []string, err error) {
	files, err := fs.Sub(python, "python")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"timba_env.py", "example_brisca.py"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("env: %q exists already: name another directory", path)
		}
		paths = append(paths, path)
	}
	return paths, os.CopyFS(dir, files)
}

// FindPython returns the path of an installed Python 3.8 or later, preferably one with numpy. The result
// numpy reports whether it has numpy.
func FindPython(ctx context.Context) (path string, numpy bool, err error) {
	const script = "import sys\nif sys.version_info < (3, 8): sys.exit(1)\nprint('timba')\nimport numpy\nprint('numpy')"
	for _, name := range []string{"python3", "/usr/bin/python3", "python"} {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, _ := exec.CommandContext(ctx, found, "-c", script).Output() // without numpy it fails
		if strings.Contains(string(out), "numpy") {
			return found, true, nil
		}
		if path == "" && strings.Contains(string(out), "timba") {
			path = found
		}
	}
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if path == "" {
		return "", false, errors.New("env: there is no Python 3.8 or later: install python3, and numpy for speed")
	}
	return path, false, nil
}
