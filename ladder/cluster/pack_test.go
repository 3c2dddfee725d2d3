package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
)

// A result that is too large loses its logs and info. It never loses moves without becoming a failure.
func TestPack(t *testing.T) {
	t.Parallel()
	a := newArena(t, nil)
	a.startWorker("lab-1")
	j := job(1, 1, greedy, greedy2)
	d, err := a.Play(t.Context(), "lab-1", j)
	a.checkComplete(j, d, err)
	through := func(r attempt.Result, most int) Delivery {
		t.Helper()
		back := kit.Get[Delivery](t)(Unpack(kit.Get[[]byte](t)(Pack(r, most))))
		if back.Failure == nil {
			a.must(back.Check(expectationOf(j)))
		}
		return back
	}
	for i, g := range through(d, MaxPacked).Games {
		if diff := cmp.Diff(string(d.Games[i].Encode()), string(g.Encode())); diff != "" {
			t.Errorf("game %d is another one:\n%s", i, diff)
		}
		if !cmp.Equal(d.Games[i].Logs, g.Logs) || !cmp.Equal(d.Games[i].Bots, g.Bots) || d.Games[i].Took != g.Took {
			t.Errorf("game %d has another log, bot or time", i)
		}
	}
	whole := len(kit.Get[[]byte](t)(Pack(d, MaxPacked)))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(i*i>>3 ^ i)
	}
	d.Games[0].Logs[0] = noise
	if back := through(d, whole+1000); len(back.Games) != len(d.Games) || len(back.Games[0].Logs[0]) > 0 {
		t.Errorf("without its logs it has %d games", len(back.Games))
	}
	if back := through(d, 300); back.Failure == nil || back.Failure.Kind != attempt.FailedMachine {
		t.Errorf("what never fits gives %+v", back)
	}
}
