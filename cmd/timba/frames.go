package main

import (
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/rules"
)

// frame is a position of a replay, what happened at it, and the move made.
type frame struct {
	ply    int
	turn   int
	views  []string            // by seat
	legal  []string            // moves
	faults []referee.Fault     // before the move
	move   *referee.ReplayMove // nil at the end
	events []string            // of the move, of all seats
	seen   [][]string          // the same by seat
}

// film is a replay taken apart into positions. The first has the events of the
// deal before it.
type film struct {
	replay *referee.Replay
	rules  rules.Variant
	deal   frame // only events
	frames []frame
}

func newFilm(r *referee.Replay, g rules.Game) (*film, error) {
	v, err := r.Settle(g)
	if err != nil {
		return nil, err
	}
	f := &film{replay: r, rules: v}
	var log rules.Log
	end, err := r.Rebuild(g, func(s rules.State) {
		s.Start(&log)
		f.deal.tell(&log, v.Players())
	}, func(step referee.Step) error {
		fr := f.frame(step.State)
		fr.move = &r.Moves[step.Number]
		log.Reset()
		after := step.State.Clone()
		after.Apply(step.Move, &log)
		fr.tell(&log, v.Players())
		f.frames = append(f.frames, fr)
		return nil
	})
	if err != nil {
		return nil, err
	}
	f.frames = append(f.frames, f.frame(end))
	for _, fault := range r.Faults {
		i := min(max(fault.Ply, 0), len(f.frames)-1)
		f.frames[i].faults = append(f.frames[i].faults, fault)
	}
	return f, nil
}

func (f *film) frame(s rules.State) frame {
	fr := frame{ply: s.Ply(), turn: s.Turn()}
	for seat := range f.rules.Players() {
		fr.views = append(fr.views, string(s.View(nil, seat)))
	}
	for _, m := range s.Legal(nil) {
		fr.legal = append(fr.legal, string(s.MoveText(nil, m)))
	}
	return fr
}

func (fr *frame) tell(log *rules.Log, players int) {
	fr.events = log.Open()
	for seat := range players {
		var lines []string
		for line := range strings.Lines(string(log.Events(nil, seat, ""))) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
		fr.seen = append(fr.seen, lines)
	}
}

// names are the bots' by seat.
func (f *film) names() (names []string) {
	for _, s := range f.replay.Seats {
		names = append(names, s.Name)
	}
	return names
}

// position is how a seat sees frame i; with all, the other hands lie open.
func (f *film) position(i, seat int, all bool) draw.Position {
	fr := f.frames[i]
	if seat < 0 {
		seat = f.viewer(i)
	}
	p := draw.Position{
		Game:    f.replay.Game,
		Options: protocol.Pairs(f.rules.Settings().String()),
		View:    protocol.Pairs(fr.views[seat]),
		Seat:    seat,
		Ply:     fr.ply,
		Turn:    fr.turn,
		Names:   f.names(),
	}
	if all {
		p.Open = fr.views
	}
	if i > 0 {
		p.Last, p.LastBy = f.replay.Moves[i-1].Move, f.replay.Moves[i-1].Seat
	}
	return p
}

// viewer is the seat to move, at the end the one that moved last.
func (f *film) viewer(i int) int {
	switch {
	case f.frames[i].turn >= 0:
		return f.frames[i].turn
	case i > 0:
		return f.replay.Moves[i-1].Seat
	}
	return 0
}
