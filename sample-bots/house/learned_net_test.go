package house

import (
	"os"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/ga"
	"github.com/timba-arena/timba/sample-bots/learn/rollout"
)

// netModes are the modes in which @net is to beat the thesis's agents.
var netModes = []learn.Mode{{Players: 2}, {Tute: true, Players: 2}}

// @net plays from the protocol's view the moves that its net chooses in the training's own game,
// with every combination of rules.
func TestNetPlaysAsTrained(t *testing.T) {
	for _, m := range netModes {
		p := kit.Get[*rollout.Player](t)(netModels.load(builtIn, m))
		if m.Tute {
			playAsTrained[learn.Tute](t, m, "@net", asAgent[learn.Tute](p))
		} else {
			playAsTrained[learn.Brisca](t, m, "@net", asAgent[learn.Brisca](p))
		}
	}
}

// netAgent is @net's player in the training's own game.
type netAgent[S any, P viewed[S]] struct{ *rollout.Player }

func asAgent[S any, P viewed[S]](p *rollout.Player) ga.Agent[S] { return netAgent[S, P]{p} }

func (netAgent[S, P]) Begin(learn.Mode, *rules.Rand) {}

func (a netAgent[S, P]) Choose(s *S, w *learn.Watch, legal []rules.Move) rules.Move {
	move, _ := rollout.Choose[S, P](a.Player, s, w, legal)
	return move
}

// Each mode has a small model.
func TestNetModels(t *testing.T) {
	for _, m := range learn.Modes() {
		p, err := netModels.load(builtIn, m)
		if err != nil || p.Mode != m {
			t.Errorf("%v: %v, %v", m, p, err)
			continue
		}
		info, err := os.Stat("models/net/" + m.String() + ".timba")
		if err != nil || info.Size() > mostEmbedded/2 {
			t.Errorf("%v: the model has %d bytes: %v", m, info.Size(), err)
		}
	}
}

func BenchmarkNetLoad(b *testing.B) {
	for b.Loop() {
		if _, err := netModels.load(builtIn, netModes[1]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNetMove chooses the first move of games of Tute: of eight cards.
func BenchmarkNetMove(b *testing.B) {
	m := netModes[1]
	p := kit.Get[*rollout.Player](b)(netModels.load(builtIn, m))
	src := rules.FastStream(rules.NewRand(1))
	var s learn.Tute
	s.Begin(m, m.Rules()[0], &src)
	legal := s.Legal(nil)
	b.ReportAllocs()
	for b.Loop() {
		chooseNet(p, &s, legal)
	}
}
