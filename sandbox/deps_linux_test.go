package sandbox

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// The first process of a sandbox begins in the init function of package initproc, which Go
// initializes early only if none of these are before it.
func TestDependencies(t *testing.T) {
	deps := proc.Dependencies(t, "./internal/initproc")
	if !slices.Contains(deps, "os") {
		t.Fatalf("the dependencies are %q", deps)
	}
	for _, path := range []string{"reflect", "strings", "fmt", "encoding/json", "path/filepath", "os/exec", "golang.org/x/sys/unix"} {
		if slices.Contains(deps, path) {
			t.Errorf("package initproc depends on %s", path)
		}
	}
}
