package fault

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/sample-bots/starters"
)

// Every language of a starter has its own advice how to flush.
func TestFlush(t *testing.T) {
	for _, l := range starters.Languages {
		if how := Flush(l.Title); !strings.HasPrefix(how.String(), "in "+l.Title+": ") {
			t.Errorf("%s: %s", l.Title, how)
		}
	}
	if how := Flush(""); !strings.Contains(how.String(), "fflush(stdout) in C") {
		t.Errorf("without a language: %s", how)
	}
	if len(flushes) != len(starters.Languages) {
		t.Errorf("%d languages, and %d starters", len(flushes), len(starters.Languages))
	}
}
