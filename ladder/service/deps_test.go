package service

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// A service knows nothing of HTTP, nor who plays where.
func TestDependencies(t *testing.T) {
	for _, path := range proc.Dependencies(t, ".") {
		for _, not := range []string{"net/http", "timba/web/", "timba/ladder/runner", "timba/ladder/cluster"} {
			if strings.Contains(path, not) {
				t.Errorf("it depends on %s", path)
			}
		}
	}
}
