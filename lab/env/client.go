package env

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
)

// python is the client in Python, its example and its benchmark.
//
//go:embed python/*.py
var python embed.FS

// The programs of the client.
const (
	clientModule = "timba_env.py"
	exampleFile  = "example_brisca.py"
	benchFile    = "bench_env.py"
)

// WriteClient writes the client and its example into a directory, which it makes if there is
// none, and returns their paths. It overwrites nothing.
func WriteClient(dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{clientModule, exampleFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("env: %q exists already: name another directory", path)
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		if err := writePython(path); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// writePython writes an embedded file with the name of the path.
func writePython(path string) error {
	data, err := python.ReadFile("python/" + filepath.Base(path))
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
