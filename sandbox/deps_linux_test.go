package sandbox

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// Go initializes what a package imports before it, and the first process of a sandbox begins in an
// init function: packages that take long, or wait for many others, are not for it.
func TestDependencies(t *testing.T) {
	deps := proc.Dependencies(t)
	if !slices.Contains(deps, "os") {
		t.Fatalf("the dependencies are %q", deps)
	}
	for _, path := range []string{"net", "net/http", "regexp", "log/slog", "github.com/godbus/dbus/v5"} {
		if slices.Contains(deps, path) {
			t.Errorf("package sandbox depends on %s", path)
		}
	}
}
