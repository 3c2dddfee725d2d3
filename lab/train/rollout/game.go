package rollout

import (
	"github.com/timba-arena/timba/lab/train/fit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
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
type games interface {
	// lessons plays a game by itself with a seed, and appends what is to be learned from it.
	lessons(dst []lesson, seed uint64) []lesson
	// test plays a game against random moves, from a seat, and returns its standing.
	test(seat int, seed uint64) int
}

type table[S any, P cards.Position[S]] struct {
	config  *Config
	encoder features.Table
	rules   []baraja.TableRules // of which each game draws one
	player  *learned.Net
	state   S
	watch   cards.Watch
	trial   S // in which a move is tried
	src     rules.Stream
	legal   [rules.MaxMoves]rules.Move
	next    [rules.MaxMoves]rules.Move // of trial
}

func newGames(c *Config, m cards.Mode, n *net.Net) games {
	list, _ := m.Combinations(c.Rules) // Check has found it
	if m.Tute {
		return &table[cards.Tute, *cards.Tute]{config: c, encoder: features.NewTable(m), rules: list, player: learned.NewNet(m, n)}
	}
	return &table[cards.Brisca, *cards.Brisca]{config: c, encoder: features.NewTable(m), rules: list, player: learned.NewNet(m, n)}
}

func (t *table[S, P]) begin(r *rules.Rand) P {
	p := P(&t.state)
	rule := t.rules[r.Below(len(t.rules))]
	t.src = rules.FastStream(r)
	p.Begin(t.player.Mode, rule, &t.src)
	t.watch = cards.Watch{}
	return p
}

func (t *table[S, P]) lessons(dst []lesson, seed uint64) []lesson {
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
				move, _ = learned.ChooseNet[S, P](t.player, p, &t.watch, legal)
			}
		}
		cards.Step[S, P](p, &t.watch, move)
	}
	return dst
}

// lesson tries each legal move of the position.
func (t *table[S, P]) lesson(legal []rules.Move) (l lesson) {
	p := P(&t.state)
	seat := p.Turn()
	ones, places := features.AppendTable[S, P](&t.encoder, nil, p, &t.watch)
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
func (t *table[S, P]) try(m rules.Move, seat int) float32 {
	t.trial = t.state
	watch := t.watch
	p := P(&t.trial)
	cards.Step[S, P](p, &watch, m)
	for p.Turn() >= 0 {
		legal := p.Legal(t.next[:0])
		move := legal[0]
		if len(legal) > 1 {
			move, _ = learned.ChooseNet[S, P](t.player, p, &watch, legal)
		}
		cards.Step[S, P](p, &watch, move)
	}
	return t.worth(p.Board(), seat)
}

// worth returns what the end of a game is worth for a seat: 1, 0 or -1 for the standing, and the
// margin in points.
func (t *table[S, P]) worth(board *baraja.Table, seat int) float32 {
	m := &t.player.Mode
	diff, side := 0, m.Side(seat)
	for other, points := range board.Points[:m.Players] {
		if m.Side(other) == side {
			diff += int(points)
		} else {
			diff -= int(points)
		}
	}
	return float32(cards.Standing(board, m.Teams, seat)) + float32(t.config.Margin)*float32(diff)/baraja.AllPoints
}

func (t *table[S, P]) test(seat int, seed uint64) int {
	r := rules.NewRand(seed)
	p := t.begin(r)
	m := &t.player.Mode
	for p.Turn() >= 0 {
		legal := p.Legal(t.legal[:0])
		move := legal[r.Below(len(legal))]
		if m.Side(p.Turn()) == m.Side(seat) {
			move, _ = learned.ChooseNet[S, P](t.player, p, &t.watch, legal)
		}
		cards.Step[S, P](p, &t.watch, move)
	}
	return cards.Standing(p.Board(), m.Teams, seat)
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
