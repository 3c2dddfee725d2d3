package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sandbox"
)

// A build that is called off ends at once, held or not, and leaves nothing.
func TestBuildCalledOff(t *testing.T) {
	kit.Slow(t)
	levels := []sandbox.Level{sandbox.LevelNone}
	if best := sandbox.Probe().Level; best >= sandbox.LevelReduced {
		levels = append(levels, best)
	}
	for _, level := range levels {
		ctx, cancel := context.WithCancel(t.Context())
		seconds := fmt.Sprintf("%d.%d", 80_000+os.Getpid()%1000, level)
		dir := newDir(t, "slow", map[string]string{
			"timba.toml": "build = [\"sh\", \"-c\", \"echo begun; sleep " + seconds + "\"]\nrun = [\"./bot\"]",
			"level":      level.String(), // so that each is a build of its own
		})
		ended := make(chan error, 1)
		go func() {
			_, err := Resolver{Level: level, Cache: withHouse.Cache}.Resolve(ctx, dir)
			ended <- err
		}()
		kit.Until(t, "the build runs", func() bool { return runs(seconds) })
		cancel() // hours before the build would end
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", level, err)
		}
	}
}

// runs reports whether a process sleeps for this number of seconds.
func runs(seconds string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(all, func(path string) bool {
		line, _ := os.ReadFile(path)
		return string(line) == "sleep\x00"+seconds+"\x00"
	})
}
