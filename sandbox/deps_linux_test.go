package sandbox

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The first process of a sandbox begins in the init function of package initproc, which Go
// initializes early only if none of these are before it.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./internal/initproc").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "os") {
		t.Fatalf("the dependencies are %q", deps)
	}
	for _, path := range []string{"reflect", "strings", "fmt", "encoding/json", "path/filepath", "os/exec", "golang.org/x/sys/unix"} {
		if slices.Contains(deps, path) {
			t.Errorf("package initproc depends on %s", path)
		}
	}
}
