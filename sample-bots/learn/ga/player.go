package ga

import (
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/features"
	"github.com/timba-arena/timba/sample-bots/learn/net"
	"github.com/timba-arena/timba/sample-bots/learn/rl"
)

// Agent chooses moves of one game after another. It plays any number of seats of a game.
type Agent[S any] interface {
	// Begin is called before a game.
	Begin(m learn.Mode, r *rules.Rand)
	// Choose returns one of the legal moves, of which there is at least one.
	Choose(s *S, w *learn.Watch, legal []rules.Move) rules.Move
}

// Player plays a net: the legal move with the highest output. It allocates nothing while it plays.
//
// The inputs are bits, so that the first layer is a sum of columns of weights. Those of the cards
// played are summed up once in a game. Of the last layer only the outputs of legal moves are
// computed.
type Player[S any, P learn.Position[S]] struct {
	encoder features.Encoder
	net     *net.Net
	work    *net.Work
	inputs  net.Sample
	played  []float32 // the first layer's sums for the cards counted, and nothing else
	counted uint8     // cards played so far that are in played
}

// NewPlayer returns a player of a net for a mode.
func NewPlayer[S any, P learn.Position[S]](m learn.Mode, n *net.Net) *Player[S, P] {
	p := &Player[S, P]{encoder: encoder(m), work: n.NewWork()}
	p.played = make([]float32, len(p.work.First))
	p.use(n, false)
	return p
}

// use sets the net, of the same sizes as before. It learns nothing.
func (p *Player[S, P]) use(n *net.Net, _ bool) {
	p.net = n
	p.restart()
}

func (p *Player[S, P]) end(*baraja.Table) {}

func (p *Player[S, P]) lessons() []rl.Update { return nil }

func (p *Player[S, P]) restart() {
	p.net.Start(p.work)
	copy(p.played, p.work.First)
	p.counted = 0
}

// encoder returns the encoder of the nets' inputs.
func encoder(m learn.Mode) features.Encoder {
	e, err := features.NewEncoder(m, features.Genetic)
	if err != nil {
		panic(err) // it exists
	}
	return e
}

// sizes returns the sizes of a net of a mode with hidden layers, inputs first.
func sizes(m learn.Mode, hidden []int) []int {
	e := encoder(m)
	return append(append([]int{e.Inputs()}, hidden...), m.Actions())
}

// Begin starts a game.
func (p *Player[S, P]) Begin(learn.Mode, *rules.Rand) { p.restart() }

// Choose returns the legal move with the highest output, the first of equal ones.
func (p *Player[S, P]) Choose(s *S, w *learn.Watch, legal []rules.Move) (best rules.Move) {
	if len(legal) == 1 {
		return legal[0]
	}
	p.input(s, w)
	hidden := p.net.Hidden(p.work)
	top := float32(0)
	for i, m := range legal {
		if x := p.net.Sum(hidden, learn.Action(m)); i == 0 || x > top {
			best, top = m, x
		}
	}
	return best
}

// choose returns the place of the action with the highest output in a position, the first of equal
// ones.
func (p *Player[S, P]) choose(j *judged) (best int) {
	p.net.Start(p.work)
	for _, input := range j.ones {
		p.net.Add(p.work, int(input), 1)
	}
	hidden, top := p.net.Hidden(p.work), float32(0)
	for a, action := range j.actions {
		if x := p.net.Sum(hidden, int(action)); a == 0 || x > top {
			best, top = a, x
		}
	}
	return best
}

// input sums up the first layer for the seat to move.
func (p *Player[S, P]) input(s *S, w *learn.Watch) {
	t, first := P(s).Board(), p.work.First
	copy(first, p.played)
	if p.counted < t.Played {
		for ; p.counted < t.Played; p.counted++ {
			p.net.Add(p.work, p.encoder.SeenInput(t.Pack[p.counted]), 1)
		}
		copy(p.played, first)
	}
	p.inputs.Reset()
	unseen := *w
	unseen.Seen = 0 // they are in played
	features.AppendState(&p.encoder, &p.inputs, P(s), &unseen, P(s).Turn())
	for _, input := range p.inputs.Index {
		p.net.Add(p.work, int(input), 1)
	}
}

// Random plays any legal move.
type Random[S any] struct{ r *rules.Rand }

// Begin starts a game.
func (a *Random[S]) Begin(_ learn.Mode, r *rules.Rand) { a.r = r }

// Choose returns any legal move, each as likely as the others.
func (a *Random[S]) Choose(_ *S, _ *learn.Watch, legal []rules.Move) rules.Move {
	return legal[a.r.Below(len(legal))]
}
