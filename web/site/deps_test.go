package site

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// The site stands beside the API, and is no client of its own server.
func TestDependencies(t *testing.T) {
	all := proc.Dependencies(t, ".")
	for _, not := range []string{"web/api", "web/client"} {
		if slices.Contains(all, "github.com/timba-arena/timba/"+not) {
			t.Errorf("it depends on %s", not)
		}
	}
}
