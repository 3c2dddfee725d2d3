package stats

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBootstrap checks that the intervals do not depend on the number of processors.
func TestBootstrap(t *testing.T) {
	r := simRand(1)
	deals := cards.tournament(r, []float64{-50, 0, 50}, 20)
	run := func(procs int, seed uint64) []Estimate {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		e := bootstrap(3, deals, 100, seed)
		return e
	}
	one := run(1, 7)
	if diff := cmp.Diff(one, run(3, 7)); diff != "" {
		t.Errorf("one processor and three differ:\n%s", diff)
	}
	if cmp.Equal(one, run(1, 8)) {
		t.Error("two seeds give the same intervals")
	}
}
