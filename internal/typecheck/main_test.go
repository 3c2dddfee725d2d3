package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example\n\ngo 1.26\n",
		"main.go":         "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(size) }\n",
		"size_darwin.go":  "package main\n\nconst size = 1\n",
		"size_windows.go": "package main\n\nconst size int = \"one\"\n",
		"main_test.go":    "package main\n\nimport \"testing\"\n\nfunc TestSize(*testing.T) { _ = size }\n",
	} {
		kit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if errs := kit.Get[[]string](t)(check(dir, "darwin")); len(errs) != 0 {
		t.Errorf("darwin: %q", errs)
	}
	errs := kit.Get[[]string](t)(check(dir, "windows"))
	if len(errs) != 1 || !strings.Contains(errs[0], "size_windows.go:3:18: ") {
		t.Errorf("windows: %q, want the error in size_windows.go", errs)
	}
}
