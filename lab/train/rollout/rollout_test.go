package rollout

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/lab/train/run/runtest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// small returns the configuration of a very short training.
func small(mode string) Config {
	c := Default(mode)
	c.Hidden, c.Generations, c.Games, c.LessonPeriod, c.Passes, c.Batch = []int{12, 6}, 4, 40, 4, 2, 32
	return c
}

// TestSame checks that the files depend on the seed, but neither on the number of workers nor on interruptions.
func TestSame(t *testing.T) {
	modes := []string{"tute-teams"}
	if kit.Soak {
		modes = append(modes, "brisca2", "follow3")
	}
	for _, mode := range modes {
		c := small(mode)
		files := runtest.CheckDeterminism(t, &c)
		c.Seed++
		if dir, _ := runtest.Train[RolloutReport](t, &c); runtest.Files(t, dir) == files {
			t.Errorf("%s: the seed does not matter", mode)
		}
	}
}

// TestLesson checks that the advantages of a position add up to 0. In a position where everything after the
// move is forced, it compares them with the values of the results.
func TestLesson(t *testing.T) {
	c := small("brisca2")
	c.Margin = 2
	g := newGamePlayer(&c, cards.Mode{Players: 2}, newNet(t, &c))
	r := rules.NewRand(5)
	compared := 0
	for range 50 {
		p := g.deal(r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			l, sum := g.newLesson(legal), 0.0
			for _, worth := range l.advantages {
				sum += float64(worth)
			}
			if math.Abs(sum) > 1e-4 || len(l.outputs) != len(legal) || len(l.advantages) != len(legal) {
				t.Fatalf("%+v: the sum is %v", l, sum)
			}
			if p.Board().PlayedCount == 37 {
				got := l.advantages[0] - l.advantages[1]
				want := forced(g, *p, legal[0]) - forced(g, *p, legal[1])
				if compared++; math.Abs(float64(got-want)) > 1e-5 {
					t.Errorf("the moves differ by %v, the ends by %v", got, want)
				}
			}
			p.Play(legal[r.Below(len(legal))])
		}
	}
	if compared < 40 {
		t.Errorf("only %d positions are compared", compared)
	}
}

// forced makes a move and then the moves that follow, each of which is the only legal one. It returns the value of
// the result.
func forced(g *gamePlayer, p cards.Position, m rules.Move) float32 {
	seat := p.Turn()
	for p.Apply(m, nil); p.Turn() >= 0; {
		p.Apply(p.Legal(nil)[0], nil)
	}
	return g.endValue(&p, seat)
}

func TestWorth(t *testing.T) {
	c := small("brisca2")
	c.Margin = 2
	g := newGamePlayer(&c, cards.Mode{Players: 2}, newNet(t, &c))
	p := &cards.Position{Mode: cards.Mode{Players: 2}}
	p.Board().Players, p.Board().Points = 2, [4]int16{75, 45}
	for seat, want := range []float64{1.5, -1.5} { // 1 for winning, and 2 x 30/120
		if got := g.endValue(p, seat); math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("seat %d: 75 to 45 points are worth %v, not %v", seat, got, want)
		}
	}
}

func newNet(t *testing.T, c *Config) *net.Net {
	t.Helper()
	tr := kit.Get[*training](t)(newTraining(*c, nil, 1))
	return tr.net
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`rules "2"`:   func(c *Config) { c.Rules = "2" },
		"a layer has": func(c *Config) { c.Hidden = []int{net.MaxUnits + 1} },
	} {
		c := small("brisca2")
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := Default("follow-teams")
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestCost(t *testing.T) {
	c := small("brisca3")
	cost, err := run.Estimate(t.Context(), "generations", &c, run.Input{Workers: 2})
	if err != nil || cost.Work != 4 || cost.Time <= 0 || cost.Memory <= 0 || cost.Disk <= 0 {
		t.Errorf("%+v, %v", cost, err)
	}
}

// TestFrom checks that a training with initial weights plays with them from the first generation on.
func TestFrom(t *testing.T) {
	c := small("brisca2")
	first := newNet(t, &c)
	first.Genes()[0][3] = 7
	tr, err := newTraining(c, first, 1)
	if err != nil || !reflect.DeepEqual(tr.net, first) || tr.net == first {
		t.Errorf("it begins with another net: %v", err)
	}
}
