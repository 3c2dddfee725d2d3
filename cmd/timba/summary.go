package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// shownMoments is how many of each kind a summary has.
const shownMoments = 5

// moment is a move worth looking at.
type moment struct {
	game          *kept
	ply           int
	move          *referee.ReplayMove
	before, after float64 // what its bot thought of the game
	weight        float64
}

// summary tells what was remarkable in games without faults.
func (e *explainer) summary() {
	games := "1 game"
	if len(e.games) != 1 {
		games = fmt.Sprintf("%d games", len(e.games))
	}
	fmt.Fprintf(e, "%s of %s, without faults\n", games, e.games[0].replay.Game)
	if len(e.games) == 1 {
		fmt.Fprintf(e, "\n%s", ranking(e.games[0].replay))
	}
	e.moments("longest thinks", "ms", best(e.thinks(), shownMoments, func(m moment) float64 { return m.move.MS }), func(m moment) string {
		return fmt.Sprintf("%.3f", m.move.MS)
	})
	e.moments("decisive moments (what bots thought of their game before and after, by their own scores)", "score",
		best(e.turns(), shownMoments, func(m moment) float64 { return m.weight }), func(m moment) string {
			return fmt.Sprintf("%g to %g", m.before, m.after)
		})
	e.deals()
	fmt.Fprintf(e, "\nlook at one: %s replay show %s --ply N\n", self(), quoted(e.games[0].path))
}

func (e *explainer) thinks() (all []moment) {
	for _, g := range e.games {
		for ply := range g.replay.Moves {
			if m := &g.replay.Moves[ply]; !m.StandIn {
				all = append(all, moment{game: g, ply: ply, move: m})
			}
		}
	}
	return all
}

// turns are the moves after which a bot's score was another, weighed by how much
// it usually changes: each bot counts in a unit of its own.
func (e *explainer) turns() (all []moment) {
	usual := map[string]*struct {
		sum float64
		n   int
	}{}
	for _, g := range e.games {
		last := map[int]*moment{} // by seat, its move with a score
		for ply := range g.replay.Moves {
			m := &g.replay.Moves[ply]
			score, ok := scoreOf(m)
			if !ok {
				continue
			}
			if before := last[m.Seat]; before != nil {
				name := g.name(m.Seat)
				if usual[name] == nil {
					usual[name] = &struct {
						sum float64
						n   int
					}{}
				}
				before.after = score
				before.weight = math.Abs(score - before.before)
				usual[name].sum += before.weight
				usual[name].n++
				all = append(all, *before)
			}
			last[m.Seat] = &moment{game: g, ply: ply, move: m, before: score}
		}
	}
	for i, m := range all {
		if u := usual[m.game.name(m.move.Seat)]; u.sum > 0 {
			all[i].weight /= u.sum / float64(u.n)
		}
	}
	return slices.DeleteFunc(all, func(m moment) bool { return m.weight == 0 })
}

// scoreOf is what a bot thought of its game when it made a move, as its last
// score tells.
func scoreOf(m *referee.ReplayMove) (float64, bool) {
	for _, info := range slices.Backward(m.Info) {
		if score, err := strconv.ParseFloat(protocol.Pairs(info).Get("score"), 64); err == nil && !math.IsNaN(score) && !math.IsInf(score, 0) {
			return score, true
		}
	}
	return 0, false
}

func (e *explainer) moments(title, unit string, moments []moment, value func(moment) string) {
	if len(moments) == 0 {
		return
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold(title))
	t := newTable(e)
	t.AppendHeader(table.Row{"bot", "seat", "move", unit, "replay", "ply"})
	for _, m := range moments {
		t.AppendRow(table.Row{m.game.name(m.move.Seat), m.move.Seat, e.Move(m.move.Move), value(m), m.game.path, m.ply})
	}
	t.Render()
}

// duel is a deal with all its rotations.
type duel struct {
	match         string
	deal          int
	games         int
	points        map[string]float64 // by bot
	first, second string
	margin        float64
}

// deals tells the closest and the most lopsided deals of matches.
func (e *explainer) deals() {
	all := e.duels()
	if len(all) < 2 {
		return
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold("deals, by the points of all rotations"))
	t := newTable(e)
	t.AppendHeader(table.Row{"", "match", "deal", "first", "points", "second", "points"})
	row := func(title string, d duel) {
		t.AppendRow(table.Row{title, d.match, d.deal, d.first, number(d.points[d.first]), d.second, number(d.points[d.second])})
	}
	n := min(3, len(all)/2)
	for _, d := range best(all, n, func(d duel) float64 { return -d.margin }) {
		row("close", d)
	}
	for _, d := range best(all, n, func(d duel) float64 { return d.margin }) {
		row("lopsided", d)
	}
	t.Render()
}

// duels are the deals that were played in all their rotations.
func (e *explainer) duels() (all []duel) {
	index := map[string]int{}
	most := 0
	for _, g := range e.games {
		key := fmt.Sprintf("%s/%d", g.match, g.replay.Match.Deal)
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, duel{match: g.match, deal: g.replay.Match.Deal, points: map[string]float64{}})
		}
		d := &all[i]
		d.games++
		most = max(most, d.games)
		for seat, p := range g.replay.Points {
			d.points[g.name(seat)] += p
		}
	}
	all = slices.DeleteFunc(all, func(d duel) bool { return d.games < most || len(d.points) < 2 })
	for i := range all {
		d := &all[i]
		var names []string
		for name := range d.points {
			names = append(names, name)
		}
		slices.Sort(names)
		names = best(names, 2, func(name string) float64 { return d.points[name] })
		d.first, d.second = names[0], names[1]
		d.margin = d.points[d.first] - d.points[d.second]
	}
	return all
}
