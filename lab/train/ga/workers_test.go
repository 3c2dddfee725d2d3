package ga

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run/runtest"
)

func TestWorkers(t *testing.T) {
	for mode, change := range map[string]func(*Config){
		"brisca2":      func(c *Config) { c.SecondRound = true },
		"brisca3":      func(c *Config) { c.Rival = RandomRival },
		"tute-teams":   func(c *Config) { c.KeepElite = false },
		"follow2":      func(c *Config) { c.Positions, c.Playouts = 20, 5 },
		"brisca4":      func(c *Config) { c.Defects = []string{defectLayers, defectOutput} },
		"tute2":        func(c *Config) { c.Rules = "1010" },
		"brisca-teams": func(c *Config) { c.Positions, c.Playouts = 7, 3 },
	} {
		if kit.HasRaceDetector() && mode != "brisca-teams" {
			continue // the detector sees the same goroutines in each
		}
		c := small(mode)
		c.Generations = 3
		change(&c)
		testSame(t, c)
	}
}

// small returns the configuration of a very short search.
func small(mode string) Config {
	c := Default(mode)
	c.Layers, c.Population, c.Parents, c.Games, c.Generations, c.FinalGames = []int{8, 6}, 8, 3, 4, 6, 20
	return c
}

// testSame checks that the files of a search depend on the seed, but neither on the number of workers nor on
// interruptions.
func testSame(t *testing.T, c Config) {
	t.Helper()
	files := runtest.CheckDeterminism(t, &c)
	c.Seed = 2
	if dir, _ := trained(t, c); runtest.Files(t, dir) == files {
		t.Errorf("%s: two seeds come to the same files", c.Mode)
	}
}

// trained runs a search in a new directory and returns the directory and the report.
func trained(t *testing.T, c Config) (dir string, r SearchReport) {
	t.Helper()
	return runtest.Train[SearchReport](t, &c)
}
