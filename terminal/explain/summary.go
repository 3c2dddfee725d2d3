package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/playback"
)

// shownMoments is the number of moves that a summary shows in each list: of long thinks, and of decisive moves.
const shownMoments = 5

// moment is a move that a summary of games may show.
type moment struct {
	game          *ReplayFile
	ply           int
	move          *referee.ReplayMove
	before, after float64 // the scores that the bot gave its position before this move and before its next one
	weight        float64
}

func (e *Explainer) writeSummary() {
	var played []string
	for _, g := range e.Games {
		played = append(played, g.Replay.Game)
	}
	slices.Sort(played)
	fmt.Fprintf(e, "%s of %s, without faults\n", text.Count(len(e.Games), "game"), strings.Join(slices.Compact(played), ", "))
	e.writeAdjudicated("of them")
	e.writeEndings()
	if len(e.Games) == 1 {
		fmt.Fprintf(e, "\n%s", playback.Ranking(e.Style, e.Games[0].Replay))
	}
	e.writeMoments("longest thinks", "ms", e.longThinks(), func(m moment) string {
		return fmt.Sprintf("%.3f", m.move.MS)
	})
	e.writeMoments("decisive moves (the bot's own score before and after)", "score",
		e.mostDecisive(), func(m moment) string {
			return fmt.Sprintf("%g to %g", m.before, m.after)
		})
	e.writeDeals()
	fmt.Fprintf(e, "\nshow a move: %s --ply N\n", e.Command("replay", "show", e.Games[0].Path))
}

// writeAdjudicated writes how many games were ended early because of the scores that the bots reported. It writes
// nothing if there were none. If there is only one game, it writes how that game ended. ofGames is the text after
// the number, such as "of 10 games".
func (e *Explainer) writeAdjudicated(ofGames string) {
	n := e.countAdjudicated()
	switch {
	case n == 0:
	case len(e.Games) == 1:
		fmt.Fprintln(e, draw.Clean(e.Games[0].Replay.Ending()))
	default:
		fmt.Fprintf(e, "%d %s adjudicated by the bots' own scores\n", n, ofGames)
	}
}

func (e *Explainer) countAdjudicated() (n int) {
	for _, g := range e.Games {
		if g.Replay.AdjudicationResult != nil {
			n++
		}
	}
	return n
}

// writeEndings writes a line that says how many games ended for each reason, such as "games by ending: limit 1, line
// 3". It leaves out games whose rules give no reason, and writes nothing if there are no others.
func (e *Explainer) writeEndings() {
	var list []string
	count := e.countEndings()
	for _, reason := range slices.Sorted(maps.Keys(count)) {
		list = append(list, fmt.Sprintf("%s %d", reason, count[reason]))
	}
	if len(list) > 0 {
		fmt.Fprintf(e, "games by ending: %s\n", strings.Join(list, ", "))
	}
}

// countEndings returns the number of games that ended for each reason. A reason is a short text that the rules of a
// game give, such as "line" in Teeko. Games without a reason are not counted.
func (e *Explainer) countEndings() map[string]int {
	count := map[string]int{}
	for _, g := range e.Games {
		if reason := g.endReason(); reason != "" {
			count[reason]++
		}
	}
	return count
}

// longThinks returns the moves that took longest, the longest first.
func (e *Explainer) longThinks() []moment {
	return best(e.timedMoves(), shownMoments, func(m moment) float64 { return m.move.MS })
}

// mostDecisive returns the decisive moves with the most weight, the largest first.
func (e *Explainer) mostDecisive() []moment {
	return best(e.decisiveMoves(), shownMoments, func(m moment) float64 { return m.weight })
}

func (e *Explainer) timedMoves() (all []moment) {
	for _, g := range e.Games {
		for ply := range g.Replay.Moves {
			if m := &g.Replay.Moves[ply]; m.ByBot() {
				all = append(all, moment{game: g, ply: ply, move: m})
			}
		}
	}
	return all
}

// decisiveMoves returns each move after which the bot that made it reports another score than before. The weight of
// a move is the change of the score divided by the average change of this bot, because bots use different units.
func (e *Explainer) decisiveMoves() (all []moment) {
	sum, n := map[string]float64{}, map[string]float64{} // of the changes, by bot
	for _, g := range e.Games {
		last := map[int]*moment{} // by seat, its move with a score
		for ply := range g.Replay.Moves {
			m := &g.Replay.Moves[ply]
			score, ok := m.Score()
			if !ok {
				continue
			}
			if before := last[m.Seat]; before != nil {
				before.after, before.weight = score, math.Abs(score-before.before)
				sum[g.name(m.Seat)] += before.weight
				n[g.name(m.Seat)]++
				all = append(all, *before)
			}
			last[m.Seat] = &moment{game: g, ply: ply, move: m, before: score}
		}
	}
	for i, m := range all {
		if name := m.game.name(m.move.Seat); sum[name] > 0 {
			all[i].weight /= sum[name] / n[name]
		}
	}
	return slices.DeleteFunc(all, func(m moment) bool { return m.weight == 0 })
}

func (e *Explainer) writeMoments(title, unit string, list []moment, value func(moment) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold(title))
	text.Rows(e, "bot|seat|move|"+unit+"|replay|ply", list, func(m moment) []any {
		return []any{m.game.name(m.move.Seat), m.move.Seat, e.Move(m.move.Move), value(m), m.game.Path, m.ply}
	})
}

// duel is one deal with the points that each bot got, summed over its games with all seatings of the bots, and
// the two bots with the most points.
type duel struct {
	match         string
	deal          int
	games         int
	points        map[string]float64 // by name of the bot, sum over the rotations
	first, second string
	margin        float64
}

// writeDeals writes the deals with the smallest and those with the largest difference in points between the two
// best bots.
func (e *Explainer) writeDeals() {
	near, far := e.extremeDeals()
	if len(near) == 0 {
		return
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold("deals, by the points of all rotations"))
	row := 0
	text.Rows(e, "|match|deal|first|points|second|points", append(near, far...), func(d duel) []any {
		title := "lopsided"
		if row++; row <= len(near) {
			title = "close"
		}
		points := func(bot string) string { return fmt.Sprintf("%g", d.points[bot]) }
		return []any{title, d.match, d.deal, d.first, points(d.first), d.second, points(d.second)}
	})
}

// extremeDeals returns the deals with the smallest and those with the largest difference in points between the two
// best bots. With fewer than two deals there are none.
func (e *Explainer) extremeDeals() (near, far []duel) {
	all := e.duels()
	n := min(3, len(all)/2)
	near = best(all, n, func(d duel) float64 { return -d.margin })
	return near, best(all, n, func(d duel) float64 { return d.margin })
}

// duels returns the deals whose games with all seatings of the bots are in e.Games.
func (e *Explainer) duels() (all []duel) {
	index := map[string]int{}
	most := 0
	for _, g := range e.Games {
		key := fmt.Sprintf("%s/%d", g.Match, g.Replay.Match.Deal)
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, duel{match: g.Match, deal: g.Replay.Match.Deal, points: map[string]float64{}})
		}
		d := &all[i]
		d.games++
		most = max(most, d.games)
		for seat, p := range g.Replay.Points {
			d.points[g.name(seat)] += p
		}
	}
	all = slices.DeleteFunc(all, func(d duel) bool { return d.games < most || len(d.points) < 2 })
	for i := range all {
		d := &all[i]
		names := best(slices.Sorted(maps.Keys(d.points)), 2, func(name string) float64 { return d.points[name] })
		d.first, d.second = names[0], names[1]
		d.margin = d.points[d.first] - d.points[d.second]
	}
	return all
}
