package referee

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/proc"
)

// Package referee starts no processes and reads no clock: live play is in package match.
func TestDependencies(t *testing.T) {
	proc.DependsOnly(t, "protocol/...", "referee", "referee/fault", "referee/rules/...")
	if slices.Contains(proc.Dependencies(t, "."), "os/exec") {
		t.Error("package referee depends on os/exec")
	}
	for _, file := range kit.Get[[]string](t)(filepath.Glob("*.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, word := range []string{"time.Now", "time.Since", "time.Sleep"} {
			if strings.Contains(string(kit.Get[[]byte](t)(os.ReadFile(file))), word) {
				t.Errorf("%s has %s", file, word)
			}
		}
	}
}
