package referee

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Traffic rebuilds what went through the pipes of a seat's bot in this game: the lines
// that it was sent, and the answers that a replay has, its infos and moves. The lines
// begin with the greeting and, unless the process was ended for a fault, end with "bye",
// as if this were its only game. They are empty for a bot whose process was not started.
//
// A replay does not have what depends on the machine's speed: whether a bot that failed
// by itself (exit, garbled, output, a limit of the sandbox) did so before or after its
// turn was sent. Traffic always includes that "view" and "turn".
func (r *Replay) Traffic(g *rules.Game, seat int) ([]Traffic, error) {
	v, err := r.Resolve(g)
	if err != nil {
		return nil, err
	}
	if err := r.Clock.CheckReplay(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if seat < 0 || seat >= v.Players {
		return nil, fmt.Errorf("replay: seat %d does not exist: the game has seats 0 to %d", seat, v.Players-1)
	}
	if err := r.checkClock(seat); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	clock := r.ClockOf(seat).Clock()
	for i, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= v.Players {
			return nil, fmt.Errorf("replay: fault %d: seat %d does not exist", i, f.Seat)
		}
	}
	f := &feed{replay: r, seat: seat, variant: v, timer: newTimer(clock), forfeits: forfeits{variant: v}}
	for step, err := range r.Walk(v, &f.events) {
		if err == nil {
			err = f.step(step)
		}
		if err != nil {
			return nil, err
		}
	}
	f.end()
	return f.traffic, nil
}

// feed replays a game for one seat.
type feed struct {
	replay   *Replay
	seat     int
	variant  *rules.Variant
	timer    timer
	forfeits forfeits
	taken    int    // number of faults so far
	out      []byte // queued lines for the seat
	traffic  []Traffic
	closed   bool // the seat's process has ended
	unplayed bool // decided before any bot was sent the "game" line
	events   rules.Log
	legal    []rules.Move
	turn     turnLine
}

func (f *feed) send() { f.pass(false, f.out); f.out = nil }

func (f *feed) pass(fromBot bool, lines []byte) {
	if len(lines) > 0 {
		f.traffic = append(f.traffic, Traffic{
			Deal: f.replay.Match.Deal, Rotation: f.replay.Match.Rotation, Seat: f.seat, FromBot: fromBot, Lines: lines,
		})
	}
}

// step adds the events before a position, the faults at it, and the move made.
func (f *feed) step(s Step) error {
	faults := s.Faults
	if s.State.Ply() == 0 {
		faults = f.start(faults)
	}
	if !f.unplayed {
		f.out = f.events.Events(f.out, f.seat, protocol.EventPrefix)
	}
	if err := f.faults(s.State, faults); err != nil {
		return err
	}
	if m := s.Record; m != nil && m.Seat == f.seat && !m.StandIn && !f.closed {
		f.ask(s.State)
		var answer []byte
		for _, info := range m.Info {
			answer = protocol.AppendInfo(answer, []byte(info))
		}
		f.pass(true, protocol.AppendMove(answer, []byte(m.Move)))
		if err := m.checkTime(); err != nil {
			return fmt.Errorf("replay: move %d: %w", s.State.Ply(), err)
		}
		f.timer.spend(m.taken())
	}
	return nil
}

// start adds the greeting, its faults, and the beginning of the game. It returns the
// other faults.
func (f *feed) start(faults []Fault) []Fault {
	f.out = protocol.AppendGreeting(nil)
	f.send()
	for ; len(faults) > 0 && faults[0].BeforeGame(); faults = faults[1:] {
		if faults[0].Seat == f.seat && faults[0].Unstarted() {
			f.traffic = nil
			f.closed = true
		}
		f.fault(faults[0])
	}
	if f.unplayed = f.forfeits.decided(); !f.unplayed {
		begin := appendGame(nil, f.variant, f.timer.clock, f.seat, f.replay.Seats[f.seat].Seed)
		f.out = append(begin, f.out...)
	}
	return faults
}

func (f *feed) fault(fault Fault) {
	f.taken++
	f.forfeits.add(fault.Seat)
	f.out = appendFault(f.out, f.seat, &fault)
	if fault.Seat == f.seat && !f.closed {
		f.send()
		f.closed = true
	}
}

// faults adds the faults before the next move.
func (f *feed) faults(s rules.State, faults []Fault) error {
	for _, fault := range faults {
		if fault.Ply > s.Ply() {
			break // after the last move: the game has no such ply
		}
		if fault.Seat != s.Turn() {
			return fmt.Errorf("replay: fault %d: it is not the turn of seat %d", f.taken, fault.Seat)
		}
		if fault.Seat == f.seat && !fault.Unasked() {
			f.ask(s)
		}
		f.fault(fault)
	}
	return nil
}

// ask adds the queued lines and the seat's turn.
func (f *feed) ask(s rules.State) {
	f.legal = s.Legal(f.legal[:0])
	f.out = f.turn.append(f.out, s, f.seat, f.timer.left(), f.legal)
	if !f.closed {
		f.send()
	}
}

func (f *feed) end() {
	if f.closed {
		return
	}
	if f.unplayed {
		f.out = nil
	} else {
		f.out = protocol.AppendEnd(f.out, f.replay.Ranks, f.replay.Points)
		f.send()
	}
	f.out = protocol.AppendBye(nil)
	f.send()
}
