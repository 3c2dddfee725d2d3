package submission

import (
	"context"
	"errors"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/cores"
)

// checkInterrupted runs a version whose bot hangs in a stage, cancels the context there, and checks that the
// version is still on its way.
func (w *world) checkInterrupted(v ladder.Version, state ladder.VersionState) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, v.ID, cores.Any) }()
	kit.Until(w.t, "it is "+string(state), func() bool {
		now, _ := w.version(v.ID)
		return now.State == state || len(ended) > 0
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		w.t.Errorf("in %s: %v", state, err)
	}
	if v, _ := w.version(v.ID); v.State != state {
		w.t.Errorf("called off in %s it is %s", state, v.State)
	}
	w.checkClean()
}

// After the end of the context the version is still on its way and can start again.
func TestCalledOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.checkInterrupted(w.add("builder", fileTree(t, map[string]string{"timba.toml": "build = [\"sleep\", \"1d\"]\n" + tebesOnly, "bot.sh": ""})), ladder.Building)
	// It hangs on the ladder whose clock is a minute and a millisecond.
	hangs := shellBot(`case $line in *" 60001 "*) exec sleep 1d ;; esac`)
	v := w.add("patience", fileTree(t, map[string]string{"timba.toml": tebesOnly, "bot.sh": hangs}))
	fast, slow := &w.Config.Ladders[1].Clock.Move, &w.Config.Ladders[2].Clock.Move
	was := *fast
	*fast = *slow // by which it is checked
	w.checkInterrupted(v, ladder.Checking)
	*fast = was
	w.checkInterrupted(v, ladder.Trial)
	*slow = was
	v, stages := w.runStages(v)
	if v.State != ladder.Live || len(stages) != 4 {
		t.Errorf("it is %+v\n%s", v, joinLogs(stages))
	}
	// A version that is live stays live.
	if again, stages := w.runStages(v); again.State != ladder.Live || !again.LiveAt.Equal(v.LiveAt) || len(stages) != 4 {
		t.Errorf("run again it is %+v", again)
	}
}
