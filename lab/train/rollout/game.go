package rollout

import (
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/features"
	"github.com/timba-arena/timba/sample-bots/learned/net"
)

// lesson is a position and what its moves are worth.
type lesson struct {
	ones    []uint16  // the inputs that are 1
	outputs []uint8   // of the legal moves
	worth   []float32 // of these moves: what each is better than their mean
}

// games plays games of a mode: one for each worker.
type games struct {
	config   *Config
	encoder  features.CompleteEncoder
	rules    []baraja.TableRules // of which each game draws one
	player   *learned.Net
	position cards.Position
	trial    cards.Position // in which a move is tried
	src      rules.Stream
	legal    [rules.MaxMoves]rules.Move
	next     [rules.MaxMoves]rules.Move // of trial
}

func newGames(c *Config, m cards.Mode, n *net.Net) *games {
	list, _ := m.Combinations(c.Rules) // Check has found it
	return &games{config: c, encoder: features.NewCompleteEncoder(m), rules: list, player: learned.NewNet(m, n)}
}

func (t *games) begin(r *rules.Rand) *cards.Position {
	rule := t.rules[r.Below(len(t.rules))]
	t.src = rules.FastStream(r)
	t.position.Deal(t.player.Mode, rule, &t.src)
	return &t.position
}

// lessons plays a game by itself with a seed, and appends what is to be learned from it.
func (t *games) lessons(dst []lesson, seed uint64) []lesson {
	r := rules.NewRand(seed)
	random := uint64(t.config.Epsilon * (1 << 32))
	p := t.begin(r)
	for p.Turn() >= 0 {
		legal := p.Legal(t.legal[:0])
		move := legal[0]
		if len(legal) > 1 {
			if r.Below(t.config.Every) == 0 {
				dst = append(dst, t.lesson(legal))
			}
			if r.Uint64()>>32 < random {
				move = legal[r.Below(len(legal))]
			} else {
				move, _ = t.player.Choose(p, legal)
			}
		}
		p.Play(move)
	}
	return dst
}

// lesson tries each legal move of the position.
func (t *games) lesson(legal []rules.Move) (l lesson) {
	seat := t.position.Turn()
	ones, places := t.encoder.Append(nil, &t.position)
	l.ones = ones
	mean := float32(0)
	for _, m := range legal {
		worth := t.try(m, seat)
		mean += worth
		l.outputs = append(l.outputs, uint8(places.Output(cards.Action(m))))
		l.worth = append(l.worth, worth)
	}
	mean /= float32(len(legal))
	for i := range l.worth {
		l.worth[i] -= mean
	}
	return l
}

// try makes a move, lets the net play to the end, and returns what that is worth for a seat.
func (t *games) try(m rules.Move, seat int) float32 {
	t.trial = t.position
	p := &t.trial
	p.Play(m)
	for p.Turn() >= 0 {
		legal := p.Legal(t.next[:0])
		move := legal[0]
		if len(legal) > 1 {
			move, _ = t.player.Choose(p, legal)
		}
		p.Play(move)
	}
	return t.worth(p, seat)
}

// worth returns what the end of a game is worth for a seat: 1, 0 or -1 for the standing, and the
// margin in points.
func (t *games) worth(p *cards.Position, seat int) float32 {
	return float32(p.Outcome(seat)) + float32(t.config.Margin)*float32(p.PointLead(seat))/baraja.AllPoints
}

// test plays a game against random moves, from a seat, and returns its standing.
func (t *games) test(seat int, seed uint64) int {
	r := rules.NewRand(seed)
	p := t.begin(r)
	m := &t.player.Mode
	for p.Turn() >= 0 {
		legal := p.Legal(t.legal[:0])
		move := legal[r.Below(len(legal))]
		if m.Side(p.Turn()) == m.Side(seat) {
			move, _ = t.player.Choose(p, legal)
		}
		p.Play(move)
	}
	return p.Outcome(seat)
}

// fill makes a row of a lesson for a net with so many outputs. Nothing is wanted of the others.
func (l *lesson) fill(s *fit.Sample, outputs int) {
	for _, input := range l.ones {
		s.Add(int(input), 1)
	}
	if s.Want == nil {
		s.Want = make([]float32, outputs)
	}
	for i := range s.Want {
		s.Want[i] = fit.Any
	}
	for i, output := range l.outputs {
		s.Want[output] = l.worth[i]
	}
}
