package ladder

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// Package ladder depends on the rules of the games, and on nothing that reads
// configuration, starts programs or plays.
func TestDependencies(t *testing.T) {
	const own = "github.com/timba-arena/timba/"
	for _, path := range proc.Dependencies(t, ".") {
		name, ours := strings.CutPrefix(path, own)
		switch {
		case ours && (name == "ladder" || strings.HasPrefix(name+"/", "protocol/") || name == "referee" || name == "referee/fault" || name == "referee/text" || strings.HasPrefix(name+"/", "referee/rules/")):
		case !ours && !strings.Contains(strings.SplitN(path, "/", 2)[0], "."): // the standard library
		case strings.HasPrefix(path, "vendor/"):
		default:
			t.Errorf("package ladder depends on %s", path)
		}
	}
}
