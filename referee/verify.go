package referee

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Step is one move of a replay in the position before it.
type Step struct {
	Number int // of the move in the replay, from 0
	State  rules.State
	Move   rules.Move
	Record ReplayMove
}

// Settle checks a replay's head against its game and gives the variant.
func (r *Replay) Settle(g rules.Game) (rules.Variant, error) {
	if g.Name() != r.Game {
		return nil, fmt.Errorf("replay: it is of %q, not of %q", r.Game, g.Name())
	}
	v, err := rules.Settle(g, r.Options)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if want := settingsMap(v.Settings()); !maps.Equal(want, r.Options) {
		return nil, fmt.Errorf("replay: options are %v where the game has %v", r.Options, want)
	}
	if len(r.Seats) != v.Players() {
		return nil, fmt.Errorf("replay: %d seats in a game for %d players", len(r.Seats), v.Players())
	}
	return v, nil
}

// Rebuild plays a replay again by the rules. visit sees each move before it is
// made; start, if not nil, the first position. The error says where the replay
// and the rules part.
func (r *Replay) Rebuild(g rules.Game, start func(rules.State), visit func(Step) error) (rules.State, error) {
	v, err := r.Settle(g)
	if err != nil {
		return nil, err
	}
	stream := rules.NewStream(rules.Seed(r.Seed))
	state := v.Deal(&stream)
	if start != nil {
		start(state)
	}
	for i, rec := range r.Moves {
		if turn := state.Turn(); turn == rules.Over {
			return nil, fmt.Errorf("replay: move %d, %q: the game is over before it", i, rec.Move)
		} else if turn != rec.Seat {
			return nil, fmt.Errorf("replay: move %d, %q: it is the turn of seat %d, not of seat %d", i, rec.Move, turn, rec.Seat)
		}
		m, err := state.ParseMove(rec.Move)
		if err == nil {
			err = state.Check(m)
		}
		if err != nil {
			return nil, fmt.Errorf("replay: move %d of seat %d: %w", i, rec.Seat, err)
		}
		if text := string(state.MoveText(nil, m)); text != rec.Move {
			return nil, fmt.Errorf("replay: move %d of seat %d: %q is written %q", i, rec.Seat, rec.Move, text)
		}
		if visit != nil {
			if err := visit(Step{i, state, m, rec}); err != nil {
				return nil, err
			}
		}
		state.Apply(m, nil)
	}
	return state, nil
}

// Verify rebuilds a replay and says what differs: moves that the rules do not
// allow, forfeits and stand-in moves out of place, another result, a seed that is
// not the one committed to. Nothing differs when the list is empty.
func (r *Replay) Verify(g rules.Game) []error {
	v, err := r.Settle(g)
	if err != nil {
		return []error{err}
	}
	c := &checker{replay: r, forfeits: forfeits{variant: v}, standIn: newStandIn(rules.Seed(r.Seed))}
	c.head(v)
	state, err := r.Rebuild(g, nil, c.step)
	if err != nil {
		return append(c.differences, err)
	}
	c.faultsBefore(state)
	if c.next < len(r.Faults) {
		c.differ("fault %d is at ply %d, after the last move", c.next, r.Faults[c.next].Ply)
	}
	if state.Turn() != rules.Over && !c.forfeits.decided() {
		c.differ("the game is not over after the last move, and nobody has forfeited it")
	}
	want := c.forfeits.rank(state.Result())
	if !slices.Equal(want.Ranks, r.Ranks) {
		c.differ("ranks are %v where the rules give %v", r.Ranks, want.Ranks)
	}
	if !slices.Equal(want.Points, r.Points) {
		c.differ("points are %v where the rules give %v", r.Points, want.Points)
	}
	return c.differences
}

// checker follows the forfeits of a replay.
type checker struct {
	replay      *Replay
	forfeits    forfeits
	standIn     *standIn
	next        int // of the faults
	legal       []rules.Move
	timers      []timer // by seat; nil without a clock
	differences []error
}

func (c *checker) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Errorf("replay: "+format, args...))
}

// head checks the clock, the place in the match and, once it is revealed, what
// the match's seed tells.
func (c *checker) head(v rules.Variant) {
	clock := c.replay.Clock.check()
	if clock != nil {
		c.differ("%w", clock)
	}
	for i, s := range c.replay.Seats {
		if err := new(Hex).UnmarshalText([]byte(s.SHA256)); err != nil {
			c.differ("the hash of seat %d: %w", i, err)
		}
		if clock == nil {
			c.timers = append(c.timers, c.replay.Clock.clock().timer())
		}
	}
	m := c.replay.Match
	if m.Deal < 0 {
		c.differ("there is no deal %d", m.Deal)
	}
	if m.Rotation < 0 || m.Rotation >= v.Players() {
		c.differ("there is no rotation %d between at most %d bots", m.Rotation, v.Players())
	}
	if m.Seed == nil {
		return
	}
	seed := rules.Seed(*m.Seed)
	if want := Commitment(seed); want != c.replay.Commitment {
		c.differ("commitment is %s where SHA-256 of the match's seed is %s", c.replay.Commitment, want)
	}
	if want := Hex(dealSeed(seed, m.Deal)); want != c.replay.Seed {
		c.differ("seed is %s where deal %d of the match has %s", c.replay.Seed, m.Deal, want)
	}
	for seat := range v.Players() {
		if want := botSeed(seed, m.Deal, m.Rotation, seat); want != c.replay.Seats[seat].Seed {
			c.differ("the bot at seat %d had the seed %d where the match gives %d", seat, c.replay.Seats[seat].Seed, want)
		}
	}
}

// faultsBefore takes the faults that came before the move at hand.
func (c *checker) faultsBefore(s rules.State) {
	for ; c.next < len(c.replay.Faults) && c.replay.Faults[c.next].Ply <= s.Ply(); c.next++ {
		f := c.replay.Faults[c.next]
		switch {
		case f.Ply < s.Ply():
			c.differ("fault %d is at ply %d, out of order", c.next, f.Ply)
		case f.Seat < 0 || f.Seat >= len(c.replay.Seats):
			c.differ("fault %d: there is no seat %d", c.next, f.Seat)
			continue
		case f.Code == protocol.Startup && f.Ply > 0:
			c.differ("fault %d: a bot does not start at ply %d, but before the first move", c.next, f.Ply)
		case !slices.Contains(protocol.Codes, f.Code):
			c.differ("fault %d: there is no code %q", c.next, f.Code)
		case slices.ContainsFunc(c.replay.Faults[:c.next], func(o Fault) bool { return o.Seat == f.Seat }):
			c.differ("fault %d: seat %d has forfeited before", c.next, f.Seat)
		case f.Ply > 0 && c.forfeits.decided():
			c.differ("fault %d: the game was decided by forfeit before it", c.next)
		case f.Ply > 0 && f.Seat != s.Turn(): // only the start is everybody's
			c.differ("fault %d: it is not the turn of seat %d", c.next, f.Seat)
		}
		c.forfeits.add(f.Seat)
	}
}

func (c *checker) step(s Step) error {
	c.faultsBefore(s.State)
	if c.forfeits.decided() {
		return fmt.Errorf("replay: move %d, %q: the game was decided by forfeit before it", s.Number, s.Record.Move)
	}
	if !c.forfeits.has(s.Record.Seat) {
		if !s.Record.StandIn {
			c.time(s)
		} else {
			c.differ("move %d: seat %d has not forfeited, so the stand-in does not play for it", s.Number, s.Record.Seat)
		}
		return nil
	}
	c.legal = s.State.Legal(c.legal[:0])
	if want := c.standIn.choose(c.legal); want != s.Move {
		c.differ("move %d: the stand-in plays %q here, not %q", s.Number, s.State.MoveText(nil, want), s.Record.Move)
	}
	if !s.Record.StandIn {
		c.differ("move %d: seat %d has forfeited, so the stand-in plays for it", s.Number, s.Record.Seat)
	}
	return nil
}

// time checks a move's time against the seat's clock. It is written rounded up
// to a microsecond.
func (c *checker) time(s Step) {
	ms, seat := s.Record.MS, s.Record.Seat
	if ms <= 0 {
		c.differ("move %d: it took %v ms, and every move takes some time", s.Number, ms)
		return
	}
	if c.timers == nil { // there is no clock to go by
		return
	}
	took := time.Duration(math.Round(min(ms, 1e12)*1e3)) * time.Microsecond
	t := &c.timers[seat]
	if limit := t.left() + t.clock.Margin; took > limit+time.Microsecond && !c.replay.Seats[seat].Untimed {
		c.differ("move %d: it took %v ms where seat %d had %v with the margin", s.Number, ms, seat, limit)
	}
	t.spend(took)
}
