package tebes

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// Bytes choose options, seed and moves: nothing panics, every position is sound.
func FuzzPlay(f *testing.F) { rulestest.Fuzz(f, Game{}, conformance) }
