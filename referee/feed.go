package referee

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Traffic rebuilds what went through the pipes of a seat's bot in this game:
// what it was sent, and what it answered as far as a replay has that, its infos
// and moves. The bot is greeted before and, where its process was not ended for
// a fault, sent "bye" after, as if this were its only game. There is nothing at
// all for a bot whose process was not started.
//
// One thing a replay cannot tell, since it depends on the machine's speed: whether
// a bot that failed by itself (exit, garbled, output, a limit of the sandbox) did
// so before or after its turn was sent. Here it always was. In between it can
// only have been the "view" and the "turn" that were not.
func (r *Replay) Traffic(g rules.Game, seat int) ([]Traffic, error) {
	v, err := r.Settle(g)
	if err != nil {
		return nil, err
	}
	if err := r.Clock.check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if seat < 0 || seat >= v.Players() {
		return nil, fmt.Errorf("replay: seat %d does not exist: the game has seats 0 to %d", seat, v.Players()-1)
	}
	clock := r.Clock.clock()
	for i, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= v.Players() {
			return nil, fmt.Errorf("replay: fault %d: there is no seat %d", i, f.Seat)
		}
	}
	f := &feed{replay: r, seat: seat, variant: v, timer: clock.timer(), forfeits: forfeits{variant: v}}
	end, err := r.Rebuild(g, f.start, f.step)
	if err != nil {
		return nil, err
	}
	if err := f.faults(end); err != nil {
		return nil, err
	}
	f.end()
	return f.traffic, nil
}

// feed follows a replay as the game that it is of went, for one seat.
type feed struct {
	replay   *Replay
	seat     int
	variant  rules.Variant
	timer    timer
	forfeits forfeits
	next     int    // of the faults
	out      []byte // lines for the seat that are not sent yet
	traffic  []Traffic
	closed   bool // the seat's process has ended
	unplayed bool // decided before anybody was told that it began
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

// start is the greeting, the faults at it, and the beginning of the game.
func (f *feed) start(s rules.State) {
	f.out = protocol.AppendGreeting(nil)
	f.send()
	for ; f.next < len(f.replay.Faults) && f.replay.Faults[f.next].BeforeGame(); f.next++ {
		fault := f.replay.Faults[f.next]
		if fault.Seat == f.seat && fault.unstarted() {
			f.traffic = nil
			f.closed = true
		}
		f.fault(fault)
	}
	if f.forfeits.decided() {
		f.unplayed = true
		return
	}
	begin := appendGame(nil, f.variant, f.timer.clock, f.seat, f.replay.Seats[f.seat].Seed)
	f.out = append(begin, f.out...)
	s.Start(&f.events)
	f.tellEvents()
}

func (f *feed) tellEvents() {
	f.out = f.events.Events(f.out, f.seat, protocol.EventPrefix)
	f.events.Reset()
}

func (f *feed) fault(fault Fault) {
	f.forfeits.add(fault.Seat)
	f.out = appendFault(f.out, f.seat, &fault)
	if fault.Seat == f.seat && !f.closed {
		f.send()
		f.closed = true
	}
}

// faults takes the faults before the move at hand.
func (f *feed) faults(s rules.State) error {
	for ; f.next < len(f.replay.Faults) && f.replay.Faults[f.next].Ply <= s.Ply(); f.next++ {
		fault := f.replay.Faults[f.next]
		if fault.Seat != s.Turn() {
			return fmt.Errorf("replay: fault %d: it is not the turn of seat %d", f.next, fault.Seat)
		}
		if fault.Seat == f.seat && !fault.unasked() {
			f.ask(s)
		}
		f.fault(fault)
	}
	return nil
}

// ask sends what is waiting and the seat's turn.
func (f *feed) ask(s rules.State) {
	f.legal = s.Legal(f.legal[:0])
	f.out = f.turn.append(f.out, s, f.seat, f.timer.left(), f.legal)
	if !f.closed {
		f.send()
	}
}

func (f *feed) step(step Step) error {
	if err := f.faults(step.State); err != nil {
		return err
	}
	if m := step.Record; m.Seat == f.seat && !m.StandIn && !f.closed {
		f.ask(step.State)
		var answer []byte
		for _, info := range m.Info {
			answer = protocol.AppendInfo(answer, []byte(info))
		}
		f.pass(true, protocol.AppendMove(answer, []byte(m.Move)))
		f.timer.spend(m.taken())
	}
	after := step.State.Clone()
	after.Apply(step.Move, &f.events)
	f.tellEvents()
	return nil
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
