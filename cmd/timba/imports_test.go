package main

import (
	"regexp"
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// timba links nothing of the laboratory: no trainers, no measurements, no library that draws plots. Each
// house bot in a match is a start of this program.
func TestImports(t *testing.T) {
	laboratory := regexp.MustCompile(`^gonum\.org/v1/plot|/timba/(lab|ladder/rating/worth)(/|$)`)
	for _, pkg := range proc.Dependencies(t, ".") {
		if laboratory.MatchString(pkg) {
			t.Errorf("timba links %s", pkg)
		}
	}
}
