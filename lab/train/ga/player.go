package ga

import (
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// Agent chooses the moves in a series of games. It may play several seats of the same game.
type Agent interface {
	// Begin is called before each game.
	Begin(r *rules.Rand)
	// Choose returns one of the legal moves. There is at least one.
	Choose(p *cards.Position, legal []rules.Move) rules.Move
}

// netPlayer plays the moves that a net ranks highest.
type netPlayer struct {
	*learned.GA
	net  *net.Net
	work *net.Workspace
}

func newNetPlayer(m cards.Mode, n *net.Net) *netPlayer {
	return &netPlayer{GA: learned.NewGA(m, n), net: n, work: n.NewWorkspace()}
}

func (p *netPlayer) setIndividual(n *net.Net, _ bool) {
	p.net = n
	p.SetNet(n)
}

func (p *netPlayer) lessons() []rl.Update { return nil }

func (p *netPlayer) Begin(*rules.Rand) { p.GA.StartGame() }

// choosePlace returns the index in j.actions of the action for which the net has the highest output. If several
// outputs are equal, it returns the lowest index.
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

// sizes returns the sizes of the layers of a net for m (a game with its number of players): the number of inputs,
// the units of each hidden layer (the argument hidden), and the number of outputs.
func sizes(m cards.Mode, hidden []int) []int {
	e := learned.GAEncoder(m)
	return append(append([]int{e.Inputs()}, hidden...), m.Actions())
}

// RandomAgent plays random legal moves.
type RandomAgent struct{ r *rules.Rand }

func (a *RandomAgent) Begin(r *rules.Rand) { a.r = r }

func (a *RandomAgent) Choose(_ *cards.Position, legal []rules.Move) rules.Move {
	return legal[a.r.Below(len(legal))]
}
