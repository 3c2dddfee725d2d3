package referee

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestReadsNoClock: package referee reads no clock, as live play is in package match.
func TestReadsNoClock(t *testing.T) {
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
