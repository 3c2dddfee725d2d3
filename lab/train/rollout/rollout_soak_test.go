//go:build soak

package rollout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// TestLearns checks that a net wins more than random players after a short training, and that its model
// plays the same moves.
func TestLearns(t *testing.T) {
	for _, mode := range []string{"brisca2", "follow2"} {
		c := small(mode)
		c.Hidden, c.Generations, c.Games, c.LearningRate = []int{32}, 6, 200, 0.005
		dir, r := runtest.Train[RolloutReport](t, &c)
		t.Logf("%s: %+v", mode, r)
		if r.Random.WinShare() < 0.6 || r.Positions == 0 {
			t.Errorf("%s: %+v", mode, r)
		}
		file := kit.Get[*os.File](t)(os.Open(filepath.Join(dir, run.ModelFile)))
		defer file.Close()
		h, b, err := model.Read(file)
		kit.Must(t, err)
		p, err := learned.ReadNet(h, b)
		kit.Must(t, err)
		again, err := newTraining(c, nil, 2)
		kit.Must(t, err)
		again.players = []*gamePlayer{newGamePlayer(&c, p.Mode, p.Weights()), newGamePlayer(&c, p.Mode, p.Weights())}
		if tally := again.testAgainstRandom(finalTest); tally != r.Random {
			t.Errorf("%s: the model has %+v, the net %+v", mode, tally, r.Random)
		}
	}
}
