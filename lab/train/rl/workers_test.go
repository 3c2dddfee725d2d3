package rl

import (
	"bytes"
	"maps"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

func TestWorkers(t *testing.T) {
	for _, variant := range []string{policy.OneState, policy.ManyStates} {
		c := Default("brisca2")
		c.Variant, c.Agents, c.Episodes, c.Batch, c.Memory = variant, 2, 1500, 500, 4
		if kit.HasRaceDetector() {
			c.Episodes, c.Batch = 200, 100
		}
		kit.Must(t, c.Check())
		one := train(t, c, 1, CardGames(c))
		for _, workers := range []int{2, 7} {
			other := train(t, c, workers, CardGames(c))
			if one.lastBatch != other.lastBatch || one.states[0].Len() == 0 {
				t.Errorf("%s: %d workers: %+v, not %+v", variant, workers, other.lastBatch, one.lastBatch)
			}
			for i, table := range one.tables() {
				if !maps.Equal(pairs(table), pairs(other.tables()[i])) {
					t.Errorf("%s: table %d differs with %d workers", variant, i, workers)
				}
			}
			if !bytes.Equal(written(t, one), written(t, other)) {
				t.Errorf("%s: the model differs with %d workers", variant, workers)
			}
		}
	}
}

func train(t testing.TB, c Config, workers int, games func() Environment) *Learner {
	t.Helper()
	l := New(c, workers, games)
	for l.Episodes < l.config.Episodes {
		kit.Must(t, l.Step(t.Context()))
	}
	return l
}

func pairs(table *ReturnTable) map[plainPair]Pair {
	all := map[plainPair]Pair{}
	for p := range table.All() {
		all[plainPair{p.Key, p.Action}] = p
	}
	return all
}

type plainPair struct {
	key    policy.Key
	action uint8
}

func written(t *testing.T, l *Learner) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := l.WriteModel(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
