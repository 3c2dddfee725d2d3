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
	const own = "github.com/timba-arena/timba/"
	for _, path := range proc.Dependencies(t, ".") {
		name, ours := strings.CutPrefix(path, own)
		if ours && !slices.ContainsFunc([]string{"protocol/", "referee/rules/", "referee/fault/", "referee/text/"}, func(p string) bool {
			return strings.HasPrefix(name+"/", p)
		}) && name != "referee" || path == "os/exec" {
			t.Errorf("package referee depends on %s", path)
		}
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
