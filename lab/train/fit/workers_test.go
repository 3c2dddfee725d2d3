package fit

import (
	"reflect"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// TestWorkers checks that the number of workers does not change the net at all.
func TestWorkers(t *testing.T) {
	var first *net.Net
	for _, workers := range []int{1, 2, 5} {
		n := newNet(t, net.Softmax, 30, 20, 10)
		trainer := NewTrainer(n, DefaultRate, workers)
		for step := range 30 {
			trainer.Step(90, func(_, i int, s *Sample) {
				r := rules.NewRand(uint64(step*90 + i))
				for k := range 30 {
					s.Add(k, float32(uniform(r)))
				}
				s.Class = i % 10
			})
		}
		if first == nil {
			first = n
		} else if !reflect.DeepEqual(first, n) {
			t.Errorf("with %d workers the net differs", workers)
		}
	}
}

func newNet(t testing.TB, out net.Output, sizes ...int) *net.Net {
	t.Helper()
	n := kit.Get[*net.Net](t)(net.New(sizes, out))
	n.Randomize(rules.NewRand(1))
	return n
}

func uniform(r *rules.Rand) float64 { return float64(r.Uint64()>>11)/(1<<52) - 1 }
