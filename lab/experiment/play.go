package experiment

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tebes"
)

// findPlayers returns all players by way of training (with which defects) and name. A model has one player for
// each seed, other bots have only one.
func (e *Experiment) findPlayers(ctx context.Context, o *Options, models []TrainedModel) (map[way]map[string][]player, error) {
	found := map[way]map[string][]player{}
	add := func(w way, name, spec, label string, seed uint64) error {
		p, err := o.Resolver.Resolve(ctx, spec)
		if err == nil {
			found[w][name] = append(found[w][name], player{p.Contestant, label, seed})
		}
		return err
	}
	for _, w := range e.ways() {
		found[w] = map[string][]player{}
		for name, spec := range e.Bots {
			spec = scaleTime(spec, o.TimeScale, o.NodeRate)
			if err := add(w, name, spec, spec, 0); err != nil {
				return nil, err
			}
		}
	}
	for i := range models {
		m := &models[i]
		if err := add(m.Way, m.Name, m.spec(), m.label(), m.Seed); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// play plays all blocks (series of games of a match) that have no results in file, and stores their results
// there. It returns all results by row of the tables; their order does not depend on the workers. If it fails, it
// also returns the results of the finished games.
func (e *Experiment) play(ctx context.Context, o *Options, report *Findings, file *resultsFile) ([][]result, error) {
	found, err := e.findPlayers(ctx, o, report.Models)
	if err != nil {
		return nil, err
	}
	blocks := e.blocks(o, found)
	played := 0
	var left []*block
	for _, b := range blocks {
		if b.results = file.results[b.resultsLine(o.Seed).Key]; b.results == nil {
			left = append(left, b)
		}
		played += len(b.results)
	}
	playing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	run.ForEach(len(o.Workers), len(left), func(worker, i int) {
		if playing.Err() != nil {
			return
		}
		b := left[i]
		err := b.play(playing, o, o.Workers[worker], func(r result) {
			mu.Lock()
			defer mu.Unlock()
			b.results = append(b.results, r)
			played++
			o.Progress("", "games", played, report.TotalGames)
		})
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			line := b.resultsLine(o.Seed)
			line.Results = b.results
			err = file.add(line)
		}
		if err != nil {
			stop(err)
		}
	})
	rows := make([][]result, len(e.ways())*len(e.Matches))
	for _, b := range blocks {
		for _, r := range b.results {
			r.instance = b.instance
			rows[b.row] = append(rows[b.row], r)
		}
	}
	// Ctrl-C may also end the bots, so an interruption takes precedence over their faults.
	return rows, cmp.Or(file.writeErr, context.Cause(ctx), context.Cause(playing))
}

// play plays the games of the block, a series of games of one match, on the given processor core. It calls done
// with the result of each game. The match has only its first seating, because b.seats already has the bots in the
// order of the block.
func (b *block) play(ctx context.Context, o *Options, core int, done func(result)) error {
	m := match.Match{
		Variant: b.variant, Deals: b.games, OnlyRotations: []int{0}, Clock: run.Clock, Seed: o.Seed.Derive(b.key()),
		Resources: match.Resources{Workers: []int{core}},
	}
	for _, p := range b.seats {
		m.Bots = append(m.Bots, p.Contestant)
	}
	return m.Play(ctx, func(g *referee.GameResult) error {
		if err := run.FirstFault(g); err != nil {
			return err
		}
		r, err := resultOf(b.variant, g)
		if err == nil {
			done(r)
		}
		return err
	})
}

// copyMark separates the two parts in the name of a player: the bot's name in the experiment, and its index
// in the match.
const copyMark = "#"

// resultOf returns the values of the finished game g of variant v from which the tables are computed. It returns an
// error only if a game of Tebes, or of Brisca for two players, cannot be replayed from its moves.
func resultOf(v *rules.Variant, g *referee.GameResult) (result, error) {
	r := result{WinnerSeat: -1, Points: map[string]float64{}, Turns: float64(len(g.Moves)), Seconds: g.Took.Seconds(), FirstSeatPoints: g.Points[0]}
	firsts, seats := map[int]bool{}, map[string]float64{}
	for seat, s := range g.Seats {
		name, _, _ := strings.Cut(s.Name, copyMark)
		r.Points[name] += g.Points[seat]
		seats[name]++
		if g.Ranks[seat] == 1 {
			r.Winner, r.WinnerSeat = name, seat
			firsts[v.Side(seat)] = true
			if !slices.Contains(r.FirstRanked, name) {
				r.FirstRanked = append(r.FirstRanked, name)
			}
		}
	}
	for name, n := range seats {
		r.Points[name] /= n
	}
	if len(firsts) > 1 {
		r.Winner, r.WinnerSeat, r.IsDraw = "", -1, true
	}
	r.Nodes, r.MoveSeconds = meanThinking(g.Moves)
	r.Gaps = gapShare(g.Moves)
	if v.Game != tebes.Game && (v.Game != brisca.Game || v.Players != 2) {
		return r, nil
	}
	return r, r.replay(v, g)
}

// replay plays the game g of variant v again from its moves and adds to r what only the positions show. In Tebes, this
// is how the game ended and the mean number of legal moves. In Brisca for two players, it is the name of a bot for each
// move after the last draw that cost the bot points. replay returns an error if a move is not legal.
func (r *result) replay(v *rules.Variant, g *referee.GameResult) error {
	var legal [rules.MaxMoves]rules.Move
	for step, err := range g.Walk(v, nil) {
		if err != nil {
			return err
		}
		switch s := step.State.(type) {
		case *tebes.State:
			r.Choices += float64(len(s.Legal(legal[:0]))) / max(1, r.Turns)
			if step.Next == nil {
				r.Ending = s.EndReason()
			}
		case *brisca.State:
			if step.Next != nil && losesPoints(s, step.Move) {
				name, _, _ := strings.Cut(g.Seats[s.Turn()].Name, copyMark)
				r.Slips = append(r.Slips, name)
			}
		}
	}
	return nil
}

// losesPoints reports whether move m costs the player to move points in a game of Brisca for two. If both players play
// their best afterwards, the final lead of this player is then smaller than after the best move. While cards can still
// be drawn, losesPoints returns false.
func losesPoints(s *brisca.State, m rules.Move) bool {
	if s.StockSize() > 0 {
		return false
	}
	next := *s
	next.Apply(m, nil)
	return bestLead(&next, s.Turn()) < bestLead(s, s.Turn())
}

// bestLead returns the points of the seat at the end of the game minus those of its opponent, if both make their best
// moves from s on. s is a position of Brisca for two players with nothing left to draw.
func bestLead(s *brisca.State, seat int) float64 {
	if s.Turn() == rules.Over {
		return s.Points()[seat] - s.Points()[1-seat]
	}
	best := math.Inf(-1)
	for _, m := range s.Legal(nil) {
		next := *s
		next.Apply(m, nil)
		best = max(best, bestLead(&next, s.Turn()))
	}
	if s.Turn() != seat {
		return -best
	}
	return best
}

// meanThinking returns two means: the number of nodes over the moves that report it in their info, and the
// time in seconds over all moves.
func meanThinking(moves []referee.ReplayMove) (nodes, seconds float64) {
	told := 0.0
	for _, m := range moves {
		seconds += m.MS / 1000
		for _, line := range m.Info {
			if text, ok := protocol.Pairs(line).Lookup("nodes"); ok {
				if n, err := strconv.ParseFloat(string(text), 64); err == nil {
					nodes += n
					told++
				}
			}
		}
	}
	return nodes / max(1, told), seconds / max(1, float64(len(moves)))
}

// gapShare returns the share, from 0 to 1, of the bids for which the bot @podrida-rules has no rule. It counts the bids
// whose info lines have the key "rule"; the value 0 means that no rule applies. It is 0 if there are no such bids.
func gapShare(moves []referee.ReplayMove) float64 {
	gaps, bids := 0.0, 0.0
	for _, m := range moves {
		for _, line := range m.Info {
			if rule, ok := protocol.Pairs(line).Lookup("rule"); ok && strings.HasPrefix(m.Move, "bid:") {
				bids++
				gaps += indicator(string(rule) == "0")
			}
		}
	}
	return gaps / max(1, bids)
}
