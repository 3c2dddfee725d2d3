package learned

import (
	"fmt"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/net"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// GA plays by a neural net that a genetic algorithm has found. It makes the legal move with the highest output. It
// allocates nothing while it plays.
//
// The inputs are bits, so that the sums of the first layer are sums of columns of weights. The columns of played
// cards are added only once in a game. In the last layer, only the outputs of legal moves are computed.
type GA struct {
	encoder     features.Encoder
	net         *net.Net
	work        *net.Workspace
	inputs      net.Inputs
	playedSums  []float32 // sums of the first layer for the first playedCount cards alone
	playedCount uint8     // number of played cards that playedSums includes
}

// NewGA returns a player for the mode m (a game with certain options), which plays by the net n.
func NewGA(m cards.Mode, n *net.Net) *GA {
	p := &GA{encoder: GAEncoder(m), work: n.NewWorkspace()}
	p.playedSums = make([]float32, len(p.work.FirstSums))
	p.SetNet(n)
	return p
}

// SetNet replaces the net by n, which must have layers of the same sizes, and starts a new game.
func (p *GA) SetNet(n *net.Net) {
	p.net = n
	p.StartGame()
}

// StartGame must be called before the first move of every game. It makes the player forget the played cards.
func (p *GA) StartGame() {
	p.net.StartSums(p.work)
	copy(p.playedSums, p.work.FirstSums)
	p.playedCount = 0
}

// GAEncoder returns the encoder that converts positions to inputs for the nets of GA.
func GAEncoder(m cards.Mode) features.Encoder {
	e, err := features.NewEncoder(m, features.Genetic)
	if err != nil {
		panic(err) // the encoding exists
	}
	return e
}

// Choose returns the legal move with the highest output, or the first one if several are equal. s must be a
// position of the game for which StartGame was called last, and later than the positions of earlier calls.
func (p *GA) Choose(s *cards.Position, legal []rules.Move) (best rules.Move) {
	if len(legal) == 1 {
		return legal[0]
	}
	p.setFirstSums(s)
	hidden := p.net.HiddenOutputs(p.work)
	top := float32(0)
	for i, m := range legal {
		if x := p.net.OutputSum(hidden, cards.Action(m)); i == 0 || x > top {
			best, top = m, x
		}
	}
	return best
}

// setFirstSums computes the sums of the net's first layer for the seat to move in s.
func (p *GA) setFirstSums(s *cards.Position) {
	t, first := s.Board(), p.work.FirstSums
	copy(first, p.playedSums)
	if p.playedCount < t.PlayedCount {
		for ; p.playedCount < t.PlayedCount; p.playedCount++ {
			p.net.AddInput(p.work, p.encoder.PlayedInput(t.Pack[p.playedCount]), 1)
		}
		copy(p.playedSums, first)
	}
	p.inputs.Reset()
	seen := s.History.PlayedCards
	s.History.PlayedCards = 0 // playedSums includes them
	p.encoder.AppendState(&p.inputs, s, s.Turn())
	s.History.PlayedCards = seen
	for _, input := range p.inputs.Index {
		p.net.AddInput(p.work, int(input), 1)
	}
}

// ReadGA reads a model of the kind ga from b; h is its header. It returns a net, or a policy if the individuals of
// the genetic algorithm were agents that learn policies. The other result is nil.
func ReadGA(h model.Header, b *model.Body) (*net.Net, *policy.Model, error) {
	mode, _ := cards.ParseMode(h.Mode) // model.Read has checked it
	switch {
	case h.Variant == model.RL:
		keys, err := policy.ParseKeys(h.Encoding)
		if err != nil {
			return nil, nil, fmt.Errorf("model: %w", err)
		}
		p, err := policy.Read(h, keys, b)
		return nil, p, err
	case h.Encoding != features.Genetic:
		return nil, nil, fmt.Errorf("model: encoding %q is not %q: try a model of timba-lab train ga", h.Encoding, features.Genetic)
	}
	e := GAEncoder(mode)
	n, err := net.Read(h, b, e.Inputs(), mode.Actions())
	return n, nil, err
}
