package runner

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// The runner plays on its own machine without NATS, and what carries jobs to others knows neither the runner nor
// the store.
func TestDependencies(t *testing.T) {
	for pkg, not := range map[string][]string{
		".":          {"nats-io/", "timba/ladder/cluster"},
		"../cluster": {"timba/ladder/runner", "timba/ladder/store"},
	} {
		for _, path := range proc.Dependencies(t, pkg) {
			for _, other := range not {
				if strings.Contains(path, other) {
					t.Errorf("%s depends on %s", pkg, path)
				}
			}
		}
	}
}
