package ga

import (
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Agent chooses moves of one game after another. It plays any number of seats of a game.
type Agent interface {
	// Begin is called before a game.
	Begin(r *rules.Rand)
	// Choose returns one of the legal moves, of which there is at least one.
	Choose(p *cards.Position, legal []rules.Move) rules.Move
}

// netPlayer plays nets, one after the other.
type netPlayer struct {
	*learned.GA
	net  *net.Net
	work *net.Workspace
}

func newNetPlayer(m cards.Mode, n *net.Net) *netPlayer {
	return &netPlayer{GA: learned.NewGA(m, n), net: n, work: n.NewWorkspace()}
}

// setIndividual sets the net, of the same sizes as before. It learns nothing.
func (p *netPlayer) setIndividual(n *net.Net, _ bool) {
	p.net = n
	p.SetNet(n)
}

func (p *netPlayer) lessons() []rl.Update { return nil }

func (p *netPlayer) Begin(*rules.Rand) { p.GA.StartGame() }

// choosePlace returns the place of the action with the highest output in a position, the first of equal
// ones.
func (p *netPlayer) choosePlace(j *evalPosition) (best int) {
	p.net.StartSums(p.work)
	for _, input := range j.ones {
		p.net.AddInput(p.work, int(input), 1)
	}
	hidden, top := p.net.HiddenOutputs(p.work), float32(0)
	for a, action := range j.actions {
		if x := p.net.OutputSum(hidden, int(action)); a == 0 || x > top {
			best, top = a, x
		}
	}
	return best
}

// sizes returns the sizes of a net of a mode with hidden layers, inputs first.
func sizes(m cards.Mode, hidden []int) []int {
	e := learned.GAEncoder(m)
	return append(append([]int{e.Inputs()}, hidden...), m.Actions())
}

// RandomAgent plays any legal move.
type RandomAgent struct{ r *rules.Rand }

func (a *RandomAgent) Begin(r *rules.Rand) { a.r = r }

func (a *RandomAgent) Choose(_ *cards.Position, legal []rules.Move) rules.Move {
	return legal[a.r.Below(len(legal))]
}
