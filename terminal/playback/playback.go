// Package playback shows replays in a terminal, position by position.
package playback

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
)

// ReplayPosition is a position of a replay, with the move that follows.
type ReplayPosition struct {
	Ply    int
	Turn   int                 // the seat to move, or rules.Over
	Views  []string            // by seat, in the form of the protocol
	Legal  []string            // the legal moves
	Faults []referee.Fault     // the faults between the previous move and Move
	Move   *referee.ReplayMove // the next move; nil at the end
	Events SeatEvents          // the events of Move
}

// SeatEvents are the events of a move or of the deal of the cards, complete and as each seat sees them.
type SeatEvents struct {
	All    []string // complete, also with what some seats may not see
	BySeat [][]string
}

// Walk is a replay as a list of positions, to be shown one by one.
type Walk struct {
	Replay  *referee.Replay
	Variant *rules.Variant
	Deal    SeatEvents       // the events before the first position
	Frames  []ReplayPosition // the positions: one before each move, and one after the last
}

// New plays a replay again by the rules of g and returns its positions. The error is the first difference between
// the replay and the rules.
func New(r *referee.Replay, g *rules.Game) (*Walk, error) {
	v, err := r.Resolve(g)
	if err != nil {
		return nil, err
	}
	game := &Walk{Replay: r, Variant: v}
	events := &game.Deal
	var log rules.Log
	for step, err := range r.Walk(v, &log) {
		if err != nil {
			return nil, err
		}
		*events = eventsOf(&log, v.Players)
		game.Frames = append(game.Frames, frameOf(step, v.Players))
		events = &game.Frames[len(game.Frames)-1].Events
	}
	return game, nil
}

func frameOf(step referee.Step, players int) ReplayPosition {
	s := step.State
	fr := ReplayPosition{Ply: s.Ply(), Turn: s.Turn(), Faults: step.Faults, Move: step.Next}
	for seat := range players {
		fr.Views = append(fr.Views, string(s.View(nil, seat)))
	}
	for _, m := range s.Legal(nil) {
		fr.Legal = append(fr.Legal, string(s.MoveText(nil, m)))
	}
	return fr
}

func eventsOf(log *rules.Log, players int) SeatEvents {
	e := SeatEvents{All: log.OpenEvents()}
	for seat := range players {
		e.BySeat = append(e.BySeat, log.EventsFor(seat))
	}
	return e
}

func (g *Walk) names() (names []string) {
	for _, s := range g.Replay.Seats {
		names = append(names, s.Name)
	}
	return names
}

// Position returns the position g.Frames[i] in the form for drawing, as the given seat sees it. A seat of -1 means
// the seat that is to move. If open is true, the hands of all seats are shown.
func (g *Walk) Position(i, seat int, open bool) draw.Position {
	fr := g.Frames[i]
	if seat < 0 {
		seat = g.viewer(i)
	}
	p := draw.Position{
		Game:    g.Replay.Game,
		Display: g.Variant.Game.Display,
		Options: protocol.Pairs(g.Variant.Settings.String()),
		View:    protocol.Pairs(fr.Views[seat]),
		Seat:    seat,
		Ply:     fr.Ply,
		Turn:    fr.Turn,
		Names:   g.names(),
	}
	if open {
		p.Open = fr.Views
	}
	if i > 0 {
		p.Last, p.LastBy = g.Replay.Moves[i-1].Move, g.Replay.Moves[i-1].Seat
	}
	return p
}

// viewer returns the seat that is to move in the position g.Frames[i] or, after the end, the seat that moved last.
func (g *Walk) viewer(i int) int {
	switch {
	case g.Frames[i].Turn >= 0:
		return g.Frames[i].Turn
	case i > 0:
		return g.Replay.Moves[i-1].Seat
	}
	return 0
}
