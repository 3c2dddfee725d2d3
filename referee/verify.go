package referee

import (
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Verify rebuilds a replay and returns the differences: illegal moves, misplaced forfeits
// and stand-in moves, an adjudication that does not follow from the scores, a wrong result,
// a seed that does not match its commitment. The list
// is empty if the replay is correct.
func (r *Replay) Verify(g *rules.Game) []error {
	v, err := r.Resolve(g)
	if err != nil {
		return []error{err}
	}
	c := &checker{replay: r, forfeits: forfeits{variant: v}, standIn: newStandIn(rules.Seed(r.Seed))}
	c.head(v)
	for s, err := range r.Walk(v, nil) {
		if err == nil {
			err = c.step(s)
		}
		if err != nil {
			return append(c.differences, err)
		}
	}
	return c.differences
}

// checker follows the forfeits of a replay.
type checker struct {
	replay      *Replay
	forfeits    forfeits
	standIn     *standIn
	taken       int // number of faults so far
	legal       []rules.Move
	timers      []timer     // by seat; nil without a clock
	judge       *judge      // nil without valid rules of adjudication
	scored      *ReplayMove // the move before the step, if a bot made it
	ended       *Adjudicated
	differences []error
}

func (c *checker) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Errorf("replay: "+format, args...))
}

// head checks the clock, the place in the match and, once the match's seed is revealed,
// everything derived from it.
func (c *checker) head(v *rules.Variant) {
	clock := c.replay.Clock.CheckReplay()
	if clock != nil {
		c.differ("%w", clock)
	}
	for i, s := range c.replay.Seats {
		if err := new(Hex).UnmarshalText([]byte(s.SHA256)); err != nil {
			c.differ("the hash of seat %d: %w", i, err)
		}
		if own := c.replay.checkClock(i); own != nil {
			c.differ("%w", own)
			clock, c.timers = own, nil
		}
		if clock == nil {
			c.timers = append(c.timers, newTimer(c.replay.ClockOf(i).Clock()))
		}
	}
	if a := c.replay.Adjudication; a != nil {
		if err := a.Check(); err != nil {
			c.differ("the adjudication: %w", err)
		} else {
			c.judge = newJudge(*a, v)
		}
	}
	m := c.replay.Match
	if m.Deal < 0 {
		c.differ("deal %d does not exist", m.Deal)
	}
	if m.Rotation < 0 || m.Rotation >= v.Players {
		c.differ("rotation %d does not exist: there are at most %d bots", m.Rotation, v.Players)
	}
	if m.Seed == nil {
		return
	}
	seed := rules.Seed(*m.Seed)
	if want := Commitment(seed); want != c.replay.Commitment {
		c.differ("commitment is %s where SHA-256 of the match's seed is %s", c.replay.Commitment, want)
	}
	if want := Hex(DealSeed(seed, m.Deal)); want != c.replay.Seed {
		c.differ("seed is %s where deal %d of the match has %s", c.replay.Seed, m.Deal, want)
	}
	for seat := range v.Players {
		if want := BotSeed(seed, m.Deal, m.Rotation, seat); want != c.replay.Seats[seat].Seed {
			c.differ("the bot at seat %d had the seed %d where the match gives %d", seat, c.replay.Seats[seat].Seed, want)
		}
	}
}

// faults checks the faults before the next move.
func (c *checker) faults(step Step) {
	s := step.State
	for _, f := range step.Faults {
		i := c.taken
		c.taken++
		switch {
		case f.Ply < s.Ply():
			c.differ("fault %d is at ply %d, out of order", i, f.Ply)
		case f.Ply > s.Ply():
			c.differ("fault %d is at ply %d, after the last move", i, f.Ply)
			return
		case f.Seat < 0 || f.Seat >= len(c.replay.Seats):
			c.differ("fault %d: seat %d does not exist", i, f.Seat)
			continue
		case f.Code == protocol.Startup && f.Ply > 0:
			c.differ("fault %d: a bot does not start at ply %d, but before the first move", i, f.Ply)
		case slices.ContainsFunc(c.replay.Faults[:i], func(o Fault) bool { return o.Seat == f.Seat }):
			c.differ("fault %d: seat %d has forfeited before", i, f.Seat)
		case c.ended != nil:
			c.differ("fault %d: the game was adjudicated before it", i)
		case f.Ply > 0 && c.forfeits.decided():
			c.differ("fault %d: the game was decided by forfeit before it", i)
		case f.Ply > 0 && f.Seat != s.Turn(): // faults at the start may be of any seat
			c.differ("fault %d: it is not the turn of seat %d", i, f.Seat)
		case f.Reason.Kind.Code() == "":
			c.differ("fault %d: the reason %q is unknown", i, f.Reason.Kind)
		case f.Code != f.Reason.Code():
			c.differ("fault %d: the code is %q where the reason has %q", i, f.Code, f.Reason.Code())
		case f.Text != f.Reason.Text():
			c.differ("fault %d: the text is %q where the reason has %q", i, f.Text, f.Reason.Text())
		case f.Credit < 0:
			c.differ("fault %d: others cannot have taken %v ms", i, f.Credit)
		}
		c.forfeits.add(f.Seat)
	}
}

// step checks a position's faults and its move, or the result at the last position.
func (c *checker) step(s Step) error {
	if c.judge != nil && c.scored != nil {
		c.ended = c.judge.after(c.scored, &c.forfeits, s.State)
	}
	c.scored = nil
	c.faults(s)
	if s.Record == nil {
		c.result(s.State)
		return nil
	}
	ply, seat := s.State.Ply(), s.Record.Seat
	if c.forfeits.decided() {
		return fmt.Errorf("replay: move %d, %q: the game was decided by forfeit before it", ply, s.Record.Move)
	}
	if c.ended != nil {
		return fmt.Errorf("replay: move %d, %q: the game was %s before it", ply, s.Record.Move, c.ended)
	}
	if !c.forfeits.has(seat) {
		if !s.Record.StandIn {
			c.scored = s.Record
			c.time(ply, s.Record)
		} else {
			c.differ("move %d: seat %d has not forfeited, so the stand-in does not play for it", ply, seat)
		}
		return nil
	}
	c.legal = s.State.Legal(c.legal[:0])
	if want := c.standIn.choose(c.legal); want != s.Move {
		c.differ("move %d: the stand-in plays %q here, not %q", ply, s.State.MoveText(nil, want), s.Record.Move)
	}
	switch m := s.Record; {
	case !m.StandIn:
		c.differ("move %d: seat %d has forfeited, so the stand-in plays for it", ply, seat)
	case m.MS != 0 || m.Credit != 0 || len(m.Info) > 0:
		c.differ("move %d: the stand-in takes no time and tells nothing", ply)
	}
	return nil
}

// result checks how the game ended.
func (c *checker) result(end rules.State) {
	if end.Turn() != rules.Over && !c.forfeits.decided() && c.ended == nil {
		c.differ("the game is not over after the last move, and nobody has forfeited it")
	}
	if !c.ended.equal(c.replay.Adjudicated) {
		c.differ("the game is %s where the scores and rules give %s", c.replay.Adjudicated, c.ended)
	}
	points := end.Points()
	if ranks := c.ended.rank(&c.forfeits, points); !slices.Equal(ranks, c.replay.Ranks) {
		c.differ("ranks are %v where the rules give %v", c.replay.Ranks, ranks)
	}
	if !slices.Equal(points, c.replay.Points) {
		c.differ("points are %v where the rules give %v", c.replay.Points, points)
	}
}

// time checks a move's time, which is rounded up to a microsecond, against the seat's
// clock.
func (c *checker) time(ply int, m *ReplayMove) {
	if err := m.checkTime(); err != nil {
		c.differ("move %d: %w", ply, err)
		return
	}
	if c.timers == nil { // the clock is unknown
		return
	}
	own := m.taken()
	t := &c.timers[m.Seat]
	if limit := t.left() + t.clock.Margin; own > limit+time.Microsecond && !c.replay.Seats[m.Seat].Untimed {
		c.differ("move %d: it took %v ms where seat %d had %v with the margin and %v ms of credit", ply, m.MS, m.Seat, limit, m.Credit)
	}
	t.spend(own)
}
