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

// lesson is a position from which the net learns. It has the advantage of each legal move, which is the result of
// the move minus the mean over all moves.
type lesson struct {
	ones       []uint16  // indices of the net's inputs that are 1
	outputs    []uint8   // by legal move: index of the net's output
	advantages []float32 // by legal move: its value minus the mean over all legal moves
}

// gamePlayer plays games with the moves of the net. Only one goroutine may use it at a time.
type gamePlayer struct {
	config   *Config
	encoder  features.CompleteEncoder
	rules    []baraja.TableRules // each game draws one of these combinations
	player   *learned.NetAgent
	position cards.Position
	trial    cards.Position // in which moves are tried
	src      rules.Stream
	legal    [rules.MaxMoves]rules.Move
	next     [rules.MaxMoves]rules.Move // legal moves of trial
}

func newGamePlayer(c *Config, m cards.Mode, n *net.Net) *gamePlayer {
	list, _ := m.Combinations(c.Rules) // Check has parsed it before
	return &gamePlayer{config: c, encoder: features.NewCompleteEncoder(m), rules: list, player: learned.NewNet(m, n)}
}

func (t *gamePlayer) deal(r *rules.Rand) *cards.Position {
	rule := t.rules[r.Below(len(t.rules))]
	t.src = rules.FastStream(r)
	t.position.Deal(t.player.Mode, rule, &t.src)
	return &t.position
}

// playLessons plays a game of the net against itself. seed determines all random choices. playLessons appends to dst
// the positions from which the net can learn, and returns the extended slice.
func (t *gamePlayer) playLessons(dst []lesson, seed uint64) []lesson {
	r := rules.NewRand(seed)
	random := uint64(t.config.Epsilon * (1 << 32))
	p := t.deal(r)
	for p.Turn() >= 0 {
		legal := p.Legal(t.legal[:0])
		move := legal[0]
		if len(legal) > 1 {
			if r.Below(t.config.LessonPeriod) == 0 {
				dst = append(dst, t.newLesson(legal))
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

// newLesson tries each of the legal moves in the present position. It returns the position with the advantage of
// each move: the move's result minus the mean over all moves.
func (t *gamePlayer) newLesson(legal []rules.Move) (l lesson) {
	seat := t.position.Turn()
	ones, places := t.encoder.Append(nil, &t.position)
	l.ones = ones
	mean := float32(0)
	for _, m := range legal {
		worth := t.tryMove(m, seat)
		mean += worth
		l.outputs = append(l.outputs, uint8(places.Output(cards.Action(m))))
		l.advantages = append(l.advantages, worth)
	}
	mean /= float32(len(legal))
	for i := range l.advantages {
		l.advantages[i] -= mean
	}
	return l
}

// tryMove makes move m in a copy of the present position and lets the net play the game to its end. It returns the
// value of the result for the given seat, as endValue computes it.
func (t *gamePlayer) tryMove(m rules.Move, seat int) float32 {
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
	return t.endValue(p, seat)
}

// endValue returns the value of a finished game for a seat. It is 1 for a win, 0 for a shared first place and -1
// for a loss, plus Config.Margin times the lead of the seat's side, as a share of all points in the game.
func (t *gamePlayer) endValue(p *cards.Position, seat int) float32 {
	return float32(p.Outcome(seat)) + float32(t.config.Margin)*float32(p.PointLead(seat))/baraja.AllPoints
}

// playTest plays a game of the net against random moves. The net plays the given seat and the seats of its partners.
// seed determines all random choices. The result is 1 if the seat wins, 0 if it shares the first place, and
// otherwise -1.
func (t *gamePlayer) playTest(seat int, seed uint64) int {
	r := rules.NewRand(seed)
	p := t.deal(r)
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

// fillSample sets s to the inputs and the targets of the lesson. outputs is the number of outputs of the net. The
// targets are the advantages of the legal moves. Outputs for other moves have no target.
func (l *lesson) fillSample(s *fit.Sample, outputs int) {
	for _, input := range l.ones {
		s.Add(int(input), 1)
	}
	if s.Targets == nil {
		s.Targets = make([]float32, outputs)
	}
	for i := range s.Targets {
		s.Targets[i] = fit.NoTarget
	}
	for i, output := range l.outputs {
		s.Targets[output] = l.advantages[i]
	}
}
