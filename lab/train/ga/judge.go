package ga

import (
	"context"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	play "github.com/timba-arena/timba/sample-bots/search"
)

// Fitness by games is mostly luck: of a thousand games against random moves, chance alone moves the
// share of games won by 1.6 points, and most nets of a generation differ by less. Fitness by
// positions asks a net for a move in many positions and adds up what its moves are worth, which
// is known in advance from games that are played to their end by random moves. It costs the time
// of a forward pass for each position.

// judgedGenerations is how many generations are judged by the same positions.
const judgedGenerations = 20

// judged is a position in which a net chooses.
type judged struct {
	ones    []uint16 // the inputs that are 1
	actions []uint8  // legal
	won     []int32  // by action: in all playouts, 2 for a win and 1 for shared points
	points  []int32  // by action: in all playouts
}

// positions returns the positions for the generation, and makes them where they are new.
func (s *search[I]) positions(ctx context.Context) ([]judged, error) {
	window := s.generation / judgedGenerations
	if s.pool != nil && s.window == window {
		return s.pool, nil
	}
	pool := make([]judged, s.Positions)
	err := s.each(ctx, len(pool), func(d *desk[I], i int) {
		r := rules.NewRand(run.Derive(s.Seed, forPositions, window*s.Positions+i))
		pool[i] = d.value(d.reach(r), s.Playouts, s.Value == ValueTrick, r)
	})
	if err == nil {
		s.pool, s.window = pool, window
	}
	return pool, err
}

// value values the moves of the position.
func (d *desk[I]) value(legal []rules.Move, playouts int, byTrick bool, r *rules.Rand) (j judged) {
	seat := d.position.Turn()
	e := learned.GAEncoder(d.mode)
	d.inputs.Reset()
	e.AppendState(&d.inputs, &d.position, seat)
	j.ones = append(j.ones, d.inputs.Index...)
	for _, m := range legal {
		j.actions = append(j.actions, uint8(cards.Action(m)))
	}
	j.won, j.points = make([]int32, len(legal)), make([]int32, len(legal))
	for range playouts {
		dealt := d.position
		dealt.Redeal(seat, r)
		luck := *r // the same for all moves
		for i, m := range legal {
			d.end = dealt
			q := luck
			d.end.Apply(m, nil)
			if byTrick {
				j.points[i] += int32(d.trick(seat, &q))
				continue
			}
			play.Playout(&d.end, &q, d.next[:])
			j.won[i] += int32(1 + d.end.Standing(seat))
			j.points[i] += int32(d.end.Board().Points[seat])
		}
		r.Uint64()
	}
	if byTrick {
		d.addHeuristic(&j, legal, int32(playouts))
	}
	return j
}

// trick plays the trick to its end by random moves and returns its points, 0 if another side has
// won it.
func (d *desk[I]) trick(seat int, r *rules.Rand) int {
	p, side := &d.end, d.mode.Side(seat)
	for p.Turn() >= 0 && p.Board().InTrick > 0 {
		legal := p.Legal(d.next[:0])
		p.Apply(legal[r.Below(len(legal))], nil)
	}
	return p.Points(side) - d.position.Points(side)
}

// addHeuristic adds the study's heuristic values of cards, each so many times.
func (d *desk[I]) addHeuristic(j *judged, legal []rules.Move, times int32) {
	d.heuristic.Read(&d.position)
	for i, m := range legal {
		if m < baraja.SwapMove {
			j.points[i] += times * int32(d.heuristic.Worth(baraja.Card(m)))
		}
	}
}

// reach plays random moves up to a position with a choice, and returns its moves.
func (d *desk[I]) reach(r *rules.Rand) []rules.Move {
	p := &d.position
	for {
		d.src = rules.FastStream(r)
		p.Deal(d.mode, d.rules[r.Below(len(d.rules))], &d.src)
		for skip := r.Below(d.mode.MostPlies()); p.Turn() >= 0; skip-- {
			legal := p.Legal(d.legal[:0])
			if skip <= 0 && len(legal) > 1 {
				return legal
			}
			p.Play(legal[r.Below(len(legal))])
		}
	}
}

// judge returns the fitness of all members by positions. A position counts as many games as it
// has playouts.
func (s *search[I]) judge(ctx context.Context) ([]Fitness, error) {
	pool, err := s.positions(ctx)
	if err != nil {
		return nil, err
	}
	fit := make([]Fitness, len(s.members))
	err = s.each(ctx, len(s.members), func(d *desk[I], i int) {
		d.players[0].use(s.members[i], false)
		p := d.players[0].(chooser) // as Check has it
		for k := range pool {
			j := &pool[k]
			best := p.choose(j)
			fit[i].add(Fitness{int(j.won[best]), int(j.points[best]), s.Playouts})
		}
	})
	return fit, err
}

// chooser is a player that can choose without a game.
type chooser interface {
	// choose returns the place of the action that it chooses.
	choose(*judged) int
}
