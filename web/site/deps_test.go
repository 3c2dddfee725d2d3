package site

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// The site is no client of its own server.
func TestDependencies(t *testing.T) {
	if slices.Contains(proc.Dependencies(t, "."), "github.com/timba-arena/timba/web/client") {
		t.Error("it depends on the client of the API")
	}
}
