package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder/config"
)

// A worker has a core; the command line overrides the configuration.
func TestCores(t *testing.T) {
	all, err := Cores(0, &config.Config{Workers: runtime.NumCPU()})
	if err != nil || len(all) < 1 || len(all) > runtime.NumCPU() {
		t.Fatalf("all cores are %v, %v", all, err)
	}
	if one, err := Cores(1, &config.Config{Workers: len(all)}); err != nil || len(one) != 1 {
		t.Errorf("one worker has cores %v, %v", one, err)
	}
	for _, n := range []int{-1, len(all) + 1} {
		if _, err := Cores(n, &config.Config{}); err == nil || !strings.Contains(err.Error(), "workers cannot be") {
			t.Errorf("%d workers: %v", n, err)
		}
	}
	if runtime.NumCPU() > 1 {
		if one, err := Cores(0, &config.Config{Workers: 1}); err != nil || len(one) != 1 {
			t.Errorf("one configured worker has cores %v, %v", one, err)
		}
	}
}
