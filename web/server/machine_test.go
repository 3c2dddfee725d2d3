package server

import (
	"runtime"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/sandbox"
)

// Each worker has a core.
func TestCores(t *testing.T) {
	all, err := Cores(0)
	if err != nil || len(all) < 1 || len(all) > runtime.NumCPU() {
		t.Fatalf("all cores are %v, %v", all, err)
	}
	if one, err := Cores(1); err != nil || len(one) != 1 {
		t.Errorf("one worker has cores %v, %v", one, err)
	}
	for _, n := range []int{-1, len(all) + 1} {
		if _, err := Cores(n); err == nil || !strings.Contains(err.Error(), "workers cannot be") {
			t.Errorf("%d workers: %v", n, err)
		}
	}
}

// The default memory limit of a bot is lowered until the bots of the largest match fit. A limit in the
// configuration is not lowered, and no limit falls below what interpreters need.
func TestMemoryFits(t *testing.T) {
	defaults := func(text string) func() *config.Config {
		return func() *config.Config {
			return kit.Get[*config.Config](t)(config.Parse("c", []byte(text)))
		}
	}
	for _, test := range []struct {
		name   string
		config func() *config.Config
		level  sandbox.Level
		memory int64 // MiB of all bots
		want   int64 // of one
		says   string
	}{
		{"room enough", defaults(""), sandbox.LevelFull, 2048, 512, ""},
		{"a machine of 2 GiB", defaults(""), sandbox.LevelFull, 1536, 384, "a bot may use 384 MiB of memory, not 512: all bots together have 1536 MiB; limits.memory in timba.toml sets it"},
		{"with scratch beside it", defaults(""), sandbox.LevelReduced, 1536, 320, "a bot may use 320 MiB"},
		{"too small", defaults(""), sandbox.LevelFull, 511, 0, "all bots together have 511 MiB: lower limits.memory to"},
		{"the least", defaults(""), sandbox.LevelFull, 512, 128, "a bot may use 128 MiB"},
		{"named", defaults("[limits]\nmemory = \"512m\""), sandbox.LevelFull, 1536, 0, "lower limits.memory to \"384m\""},
	} {
		c := test.config()
		c.Memory = size.Bytes(test.memory << 20)
		room, notice, err := memoryOf(c, test.level)
		if test.want == 0 {
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err != nil || c.BotLimit().Memory != test.want<<20 || room.Bot != c.BotLimit().MaxMemory(test.level) || !strings.Contains(notice, test.says) || (notice == "") != (test.says == "") {
			t.Errorf("%s: a bot has %d MiB, %d with all; %q, %v", test.name, c.BotLimit().Memory>>20, room.Bot>>20, notice, err)
		}
	}
}

// A submission fits into the memory of all bots, whatever games the ladders have. Otherwise it would prevent
// the server from playing anything.
func TestSubmissionsFit(t *testing.T) {
	const two = `
[[ladder]]
name = "teeko"
game = "teeko"
clock = {movetime = 60000}
deals = 1
house = ["@random"]
`
	for _, text := range []string{"", two} {
		for _, memory := range []int64{512, 600, 1024, 1536, 2048, 8192} {
			c := kit.Get[*config.Config](t)(config.Parse("c", []byte(text)))
			c.Memory = size.Bytes(memory << 20)
			room, _, err := memoryOf(c, sandbox.LevelFull)
			kit.Must(t, err)
			reservePlayMemory(c, &room)
			p := &submission.Pipeline{Config: c, Room: room, Level: sandbox.LevelFull}
			if most := kit.Get[int64](t)(p.MaxMemory()); most > room.Total {
				t.Errorf("a submission can use %d MiB of %d", most>>20, room.Total>>20)
			}
		}
	}
}
