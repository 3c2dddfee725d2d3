package ga

import (
	"context"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Fitness by games is mostly luck: in a thousand games against random moves, the standard deviation of the share of
// games won is 1.6 percentage points, and most nets of a generation differ by less. Fitness by positions lets a net
// choose a move in many positions and sums the values of these moves, which are computed beforehand by playing
// games to their end by random moves. It needs the time of a forward pass for each position.

// poolGenerations is the number of successive generations that are evaluated in the same positions.
const poolGenerations = 20

// evalPosition is a position for which the values of all moves were computed beforehand. The fitness of a net is
// the sum of the values of the moves that it chooses in a number of these positions.
type evalPosition struct {
	ones     []uint16 // indices of the net's inputs that are 1
	actions  []uint8  // legal actions
	halfWins []int32  // by index in actions: sum over all random games, 2 for a win and 1 for a shared game
	points   []int32  // by index in actions: sum over all random games
}

// evalPositions returns the positions in which the present generation is evaluated. Every poolGenerations
// generations it creates new ones. If ctx ends, it returns the error of ctx; it has no other errors.
func (s *search[I]) evalPositions(ctx context.Context) ([]evalPosition, error) {
	window := s.generation / poolGenerations
	if s.pool != nil && s.window == window {
		return s.pool, nil
	}
	pool := make([]evalPosition, s.Positions)
	err := s.forEach(ctx, len(pool), func(w *worker[I], i int) {
		r := rules.NewRand(run.DeriveSeed(s.Seed, forPositions, window*s.Positions+i))
		pool[i] = w.valueMoves(w.reachDecision(r), s.Playouts, s.MoveValue == ValueTrick, r)
	})
	if err == nil {
		s.pool, s.window = pool, window
	}
	return pool, err
}

// valueMoves estimates the value of each legal move in w.position. For each move it plays the given number of
// playouts, in which only random moves follow. If byTrick is true, a playout ends with the trick. Its value is then
// the points of the trick if the side to move wins it, plus the heuristic value of the card.
func (w *worker[I]) valueMoves(legal []rules.Move, playouts int, byTrick bool, r *rules.Rand) (j evalPosition) {
	seat := w.position.Turn()
	e := learned.GAEncoder(w.mode)
	w.inputs.Reset()
	e.AppendState(&w.inputs, &w.position, seat)
	j.ones = append(j.ones, w.inputs.Index...)
	for _, m := range legal {
		j.actions = append(j.actions, uint8(cards.Action(m)))
	}
	j.halfWins, j.points = make([]int32, len(legal)), make([]int32, len(legal))
	for range playouts {
		dealt := w.position
		dealt.Redeal(seat, r)
		luck := *r // every move gets the same random numbers
		for i, m := range legal {
			w.end = dealt
			q := luck
			w.end.Apply(m, nil)
			if byTrick {
				j.points[i] += int32(w.finishTrick(seat, &q))
				continue
			}
			for w.end.Turn() != rules.Over {
				next := w.end.Legal(w.next[:0])
				w.end.Apply(next[q.Below(len(next))], nil)
			}
			j.halfWins[i] += int32(1 + w.end.Outcome(seat))
			j.points[i] += int32(w.end.Board().Points[seat])
		}
		r.Uint64()
	}
	if byTrick {
		w.addHeuristic(&j, legal, int32(playouts))
	}
	return j
}

// finishTrick completes the current trick in w.end, a copy of the position, by random moves. It returns the points
// of the trick if the side of the given seat wins the trick, otherwise 0.
func (w *worker[I]) finishTrick(seat int, r *rules.Rand) int {
	p, side := &w.end, w.mode.Side(seat)
	for p.Turn() >= 0 && p.Board().TrickSize > 0 {
		legal := p.Legal(w.next[:0])
		p.Apply(legal[r.Below(len(legal))], nil)
	}
	return p.Points(side) - w.position.Points(side)
}

// addHeuristic adds a value to j.points for each legal move that plays a card: the heuristic value of the card (see
// package decisions), multiplied by the factor times.
func (w *worker[I]) addHeuristic(j *evalPosition, legal []rules.Move, times int32) {
	w.heuristic.SetPosition(&w.position)
	for i, m := range legal {
		if m < baraja.SwapMove {
			j.points[i] += times * int32(w.heuristic.Worth(baraja.Card(m)))
		}
	}
}

// reachDecision deals a random game in w.position and makes a random number of random moves. After that, it stops
// at the first position with several legal moves and returns these moves.
func (w *worker[I]) reachDecision(r *rules.Rand) []rules.Move {
	p := &w.position
	for {
		w.src = rules.FastStream(r)
		p.Deal(w.mode, w.rules[r.Below(len(w.rules))], &w.src)
		for skip := r.Below(w.mode.TypicalMaxPlies()); p.Turn() >= 0; skip-- {
			legal := p.Legal(w.legal[:0])
			if skip <= 0 && len(legal) > 1 {
				return legal
			}
			p.Play(legal[r.Below(len(legal))])
		}
	}
}

// positionFitness returns the fitness of each net of a generation: the sum of the values of the moves that the net
// chooses in the positions from evalPositions. Each playout (a game of random moves) counts as one game.
func (s *search[I]) positionFitness(ctx context.Context) ([]Fitness, error) {
	pool, err := s.evalPositions(ctx)
	if err != nil {
		return nil, err
	}
	fit := make([]Fitness, len(s.members))
	err = s.forEach(ctx, len(s.members), func(w *worker[I], i int) {
		w.players[0].setIndividual(s.members[i], false)
		p := w.players[0].(chooser) // Check allows positions for nets only
		for k := range pool {
			j := &pool[k]
			best := p.choosePlace(j)
			fit[i].add(Fitness{int(j.halfWins[best]), int(j.points[best]), s.Playouts})
		}
	})
	return fit, err
}

type chooser interface {
	// choosePlace returns the action to play, as its index in the position's list of legal actions.
	choosePlace(*evalPosition) int
}
