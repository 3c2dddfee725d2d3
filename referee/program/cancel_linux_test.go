package program

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/timba-arena/timba/sandbox"
)

// A build that is called off ends at once, held or not, and leaves nothing.
func TestBuildCalledOff(t *testing.T) {
	levels := []sandbox.Level{sandbox.None}
	if best := sandbox.Probe().Level; best >= sandbox.Reduced {
		levels = append(levels, best)
	}
	for _, level := range levels {
		ctx, cancel := context.WithCancel(t.Context())
		dir := newDir(t, "slow", map[string]string{
			"timba.toml": "build = [\"sh\", \"-c\", \"echo begun; sleep 600\"]\nrun = [\"./bot\"]",
			"level":      level.String(), // so that each is a build of its own
		})
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, cancel)
		_, err := Resolver{Level: level}.Resolve(ctx, dir)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", level, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %v", level, took)
		}
	}
}
