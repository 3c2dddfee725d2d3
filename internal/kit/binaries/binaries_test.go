package binaries

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
)

func TestMain(m *testing.M) { os.Exit(Clean(m).Run()) }

// TestProgram checks that a program is built once and that all users can run it.
func TestProgram(t *testing.T) {
	path := Program(t, "misbehave")
	if again := Program(t, "misbehave"); again != path {
		t.Errorf("%s, then %s", path, again)
	}
	out, err := exec.Command(path, "--list").Output()
	if err != nil || !strings.Contains(string(out), "exit-at-start") {
		t.Errorf("%v: %s", err, out)
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(name); err != nil || info.Mode()&0o005 != 0o005 {
			t.Errorf("%s has the mode %v, %v", name, info.Mode(), err)
		}
	}
}

// TestProgramIsInput checks that Go runs a test that starts a program again if the program has a new source file.
func TestProgramIsInput(t *testing.T) {
	kit.Slow(t)
	root := t.TempDir()
	kit.Files(t, root, map[string]string{
		"go.mod":            "module example.org/m\n\ngo 1.26\n",
		"prog/main.go":      "package main\n\nfunc main() { print(text) }\n",
		"prog/text.txt":     "x\n",
		"prog/text.go":      "package main\n\nimport _ \"embed\"\n\n//go:embed text.txt\nvar text string\n",
		"uses/uses.go":      "package uses\n",
		"uses/uses_test.go": "package uses\n",
	})
	// This copies the package of this module, because it has the name of its program.
	code, err := os.ReadFile("binaries.go")
	kit.Must(t, err)
	copied := strings.NewReplacer("package binaries", "package uses", module, "example.org/m/", "cmd/timba", "prog").Replace(string(code))
	kit.Files(t, filepath.Join(root, "uses"), map[string]string{
		"uses_test.go": copied + "\nfunc TestMain(m *testing.M) { os.Exit(Clean(m).Run()) }\n\nfunc Test(t *testing.T) { Program(t, \"timba\") }\n",
	})
	run := func() string {
		t.Helper()
		cmd := exec.Command("go", "test", "./uses")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=", "GOWORK=off", EnvBin+"=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	age(t, root)
	run()
	if out := run(); !strings.Contains(out, "(cached)") {
		t.Fatalf("nothing has changed, and the test is run again: %s", out)
	}
	for _, name := range []string{"prog/main.go", "prog/text.txt", "prog/new.go"} {
		kit.Files(t, root, map[string]string{name: map[string]string{
			"prog/main.go": "package main\n\nfunc main() { println(text) }\n", "prog/text.txt": "y\n", "prog/new.go": "package main\n",
		}[name]})
		age(t, root)
		if out := run(); strings.Contains(out, "(cached)") {
			t.Errorf("%s is new, and the test is not run again: %s", name, out)
		}
	}
}

// age makes new files and directories an hour old, because Go does not cache results that depend on newer ones.
func age(t *testing.T, root string) {
	t.Helper()
	aged++
	kit.Must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || info.ModTime().Before(now.Add(-time.Minute)) {
			return err
		}
		then := now.Add(-time.Hour + time.Duration(aged)*time.Second)
		return os.Chtimes(path, then, then)
	}))
}

var (
	now  = time.Now()
	aged int // the times that age has been called
)
