package sandbox

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Go initializes what a package imports before it, and the first process of a sandbox begins in an
// init function: packages that take long, or wait for many others, are not for it.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "os") {
		t.Fatalf("the dependencies are %q", deps)
	}
	for _, path := range []string{"net", "net/http", "regexp", "log/slog", "github.com/godbus/dbus/v5"} {
		if slices.Contains(deps, path) {
			t.Errorf("package sandbox depends on %s", path)
		}
	}
}
