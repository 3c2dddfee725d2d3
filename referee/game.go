package referee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Game is a finished game: its replay, and what the bots logged.
type Game struct {
	Replay
	Bots []int    // by seat, the index of the bot in the match
	Logs [][]byte // by seat, stderr and comments, at most MaxLog bytes and a note
	Took time.Duration
}

// Traffic is one block of lines that went through a pipe.
type Traffic struct {
	Deal, Rotation, Seat int
	FromBot              bool
	At                   time.Duration // since the game's start
	Lines                []byte        // each with its LF; valid during the call
}

// table is one rotation of a match: the same bots in the same seats for all deals. Each
// seat has a process that no other rotation uses.
type table struct {
	match    *Match
	ctx      context.Context
	rotation int
	cores    *cores.Watch // of the worker; nil if it tells nothing
	told     func()       // a bot was late: it may have to be said that the machine is busy
	chairs   []*chair
}

// chair is a seat across the games of a table.
type chair struct {
	bot     int
	conn    conn // nil while no process runs
	version string
	started time.Time
	out     []byte // lines to send with the next turn, or at the end of the game
	log     []byte // comments and the stderr of ended processes, in this game
	owed    error  // a fault found after the last turn, to report at the next one
}

// keep appends to the seat's log of this game, up to its limit.
func (c *chair) keep(parts ...[]byte) {
	for _, p := range parts {
		c.log = keepStderr(c.log, p)
	}
}

var lf = []byte{'\n'}

func newTable(ctx context.Context, m *Match, rotation int, w *cores.Watch, told func()) *table {
	t := &table{match: m, ctx: ctx, rotation: rotation, cores: w, told: told}
	for seat := range m.Variant.Players {
		t.chairs = append(t.chairs, &chair{bot: rules.BotAt(seat, rotation, len(m.Bots))})
	}
	return t
}

// game is a game in progress.
type game struct {
	*table
	deal     int
	began    time.Time
	seed     rules.Seed
	state    rules.State
	replay   Replay
	forfeits forfeits
	judge    *judge // nil without rules of adjudication
	standIn  *standIn
	timers   []timer
	events   rules.Log
	legal    []rules.Move
	turn     turnLine
	info     []string
	unplayed bool // decided before any bot was sent the "game" line
}

// ending is an error that ends the match: the game is not played again.
type ending struct{ error }

func (e ending) Unwrap() error { return e.error }

// play plays one deal. The error is the referee's own failure or the context's; after it
// the processes must not be used again. out marks the disqualified bots.
func (t *table) play(deal int, out []bool) (result *Game, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("referee: panic in deal %d, rotation %d: %v", deal, t.rotation, v)
		}
	}()
	g := t.newGame(deal)
	if err := g.seatAll(out); err != nil {
		return nil, err
	}
	for !g.forfeits.decided() {
		if err := g.ctx.Err(); err != nil {
			return nil, err
		}
		if g.match.Yield != nil {
			if err := g.match.Yield(g.ctx); err != nil {
				return nil, ending{err}
			}
		}
		seat := g.state.Turn()
		if seat == rules.Over {
			break
		}
		g.legal = g.state.Legal(g.legal[:0])
		var move rules.Move
		if g.forfeits.has(seat) {
			move = g.standIn.choose(g.legal)
			g.replay.Moves = append(g.replay.Moves, ReplayMove{Seat: seat, Move: string(g.state.MoveText(nil, move)), StandIn: true})
		} else if move, err = g.ask(seat); err != nil {
			if err := g.fail(seat, err); err != nil {
				return nil, err
			}
			continue
		}
		g.state.Apply(move, &g.events)
		g.tellEvents()
		g.watch(false)
		if g.adjudicate() {
			break
		}
	}
	return g.end()
}

func (t *table) newGame(deal int) *game {
	m := t.match
	g := &game{
		table:    t,
		deal:     deal,
		began:    time.Now(),
		seed:     DealSeed(m.Seed, deal),
		forfeits: forfeits{variant: m.Variant},
		judge:    newJudge(m.Adjudication, m.Variant),
		legal:    make([]rules.Move, 0, rules.MaxMoves),
	}
	stream := rules.NewStream(g.seed)
	g.state = m.Variant.Deal(&stream)
	g.standIn = newStandIn(g.seed)
	g.replay = Replay{
		Timba:        protocol.Version,
		Game:         m.Variant.Game.Name,
		Options:      m.Variant.Settings.Map(),
		Seed:         Hex(g.seed),
		Commitment:   Commitment(m.Seed),
		Match:        ReplayMatch{Deal: deal, Rotation: t.rotation},
		Clock:        m.Clock.InReplay(),
		Moves:        []ReplayMove{},
		Faults:       []Fault{},
		Adjudication: m.Adjudication.inReplay(),
	}
	for seat, c := range t.chairs {
		b := m.Bots[c.bot]
		g.timers = append(g.timers, newTimer(m.clock(c.bot)))
		s := ReplaySeat{Name: b.Name, Version: b.Version, SHA256: b.Hash, Seed: BotSeed(m.Seed, deal, t.rotation, seat), Untimed: b.Untimed}
		if b.Clock != nil {
			s.Clock = new(b.Clock.InReplay())
		}
		g.replay.Seats = append(g.replay.Seats, s)
		c.out, c.log = c.out[:0], nil
	}
	return g
}

// seatAll starts the missing processes and greets them in the order of their seats, and begins the
// game. They start all at once, but for bots that are stopped between their turns: each of these has
// the core for itself.
func (g *game) seatAll(out []bool) error {
	for seat, c := range g.chairs {
		if out[c.bot] {
			if err := g.fail(seat, disqualified()); err != nil {
				return err
			}
		}
	}
	if g.forfeits.decided() {
		g.unplayed = true
		return nil
	}
	startErrors := make([]error, len(g.chairs))
	fresh := make([]bool, len(g.chairs))
	for seat, c := range g.chairs {
		if c.conn == nil && !g.forfeits.has(seat) {
			fresh[seat] = true
			startErrors[seat] = g.launch(seat)
			if s := g.match.Bots[c.bot].Sandbox; s != nil && s.Freeze && startErrors[seat] == nil {
				fresh[seat], startErrors[seat] = false, g.greet(seat)
			}
		}
	}
	for seat, c := range g.chairs {
		if g.forfeits.has(seat) {
			continue
		}
		err := startErrors[seat]
		if err == nil && fresh[seat] {
			err = g.greet(seat)
		}
		if err != nil {
			if err := g.fail(seat, err); err != nil {
				return err
			}
		} else if g.replay.Seats[seat].Version == "" {
			g.replay.Seats[seat].Version = c.version
		}
	}
	if g.forfeits.decided() {
		g.unplayed = true
		return nil
	}
	for seat, c := range g.chairs {
		// The lines of faults at the start are queued already: the "game" line comes before them.
		begin := appendGame(nil, g.match.Variant, g.timers[seat].clock, seat, g.replay.Seats[seat].Seed)
		c.out = append(begin, c.out...)
	}
	g.state.Start(&g.events)
	g.tellEvents()
	g.watch(false)
	return nil
}

func (g *game) launch(seat int) error {
	c := g.chairs[seat]
	b := g.match.Bots[c.bot]
	scratch, err := b.makeScratch()
	if err != nil {
		return err
	}
	first := g.cores.Read(time.Now())
	c.started = time.Now()
	conn, err := g.match.start(g.ctx, b, scratch)
	if err != nil {
		dropScratch(scratch)
		return err
	}
	c.conn = conn
	if p, ok := conn.(*process); ok {
		p.observe(g.cores, first)
	}
	greeting := protocol.AppendGreeting(nil)
	g.trace(seat, false, c.started, greeting)
	return startup(g.write(seat, greeting, g.given(seat, c.started, g.timers[seat].clock.Startup, 0)))
}

// greet waits for the "ready" of a new process.
func (g *game) greet(seat int) error {
	c := g.chairs[seat]
	now := time.Now()
	limit := g.given(seat, c.started, g.timers[seat].clock.Startup, 0)
	deadline := limit.due
	for {
		line, at, err := c.conn.Line(now, deadline)
		if errors.Is(err, errLate) {
			r := fault.Reason{Kind: fault.NoReady, Limit: g.timers[seat].clock.Startup.Milliseconds()}
			if _, deadline, err = g.late(seat, limit, at, false, fault.New(r.Waiting(c.conn.Rest(), nil))); err != nil {
				return err
			}
			now = time.Now()
			continue
		}
		if err != nil {
			return startup(err)
		}
		now = at
		g.trace(seat, true, at, line)
		msg, err := protocol.ParseBot(line)
		switch {
		case err != nil:
			return startup(fault.New(fault.OfLine(err)))
		case msg.Verb == protocol.Ready:
			c.version = msg.Version
			c.conn.Answered()
			return nil
		case msg.Verb == protocol.Move:
			return aboutLine(fault.MoveBeforeReady, line)
		case msg.Verb == protocol.Comment:
			c.keep(msg.Text, lf)
		}
	}
}

// aboutLine returns the fault of a line at the wrong time.
func aboutLine(k fault.Kind, line []byte) *Fault {
	return fault.New(fault.Reason{Kind: k, Line: fault.Raw(protocol.Clip(line))})
}

// startup makes a fault one before "ready".
func startup(err error) error {
	var f *Fault
	if !errors.As(err, &f) {
		return err
	}
	r := f.Reason
	r.BeforeReady = true
	return fault.New(r)
}

// ask sends a seat its queued lines and its turn, and waits for its move.
func (g *game) ask(seat int) (rules.Move, error) {
	c, timer := g.chairs[seat], &g.timers[seat]
	g.info = nil
	now := time.Now()
	if err := g.early(seat, now); err != nil {
		return 0, err
	}
	left := timer.left()
	if err := c.conn.Begin(now, left); err != nil {
		return 0, err
	}
	sent := time.Now()
	c.out = g.turn.append(c.out, g.state, seat, left, g.legal)
	limit := g.given(seat, sent, left, timer.clock.Margin)
	if g.match.Bots[c.bot].Untimed {
		limit.due = sent.Add(untimed)
	}
	if err := g.send(seat, sent, limit); err != nil {
		return 0, err
	}
	now = sent
	deadline := limit.due
	for {
		line, at, err := c.conn.Line(now, deadline)
		none := errors.Is(err, errLate)
		if err != nil && !none {
			return 0, err
		}
		var credit time.Duration
		if none || at.After(limit.due) {
			f, answered := fault.New(Late(timer.clock)), isAnswer(line)
			if !answered {
				f = fault.New(Late(timer.clock).Waiting(c.conn.Rest(), g.turn.moves()))
			}
			if credit, deadline, err = g.late(seat, limit, at, answered, f); err != nil {
				return 0, err
			}
			if none {
				now = time.Now()
				continue
			}
		}
		now = at
		msg, err := g.read(seat, at, line)
		if err != nil {
			return 0, err
		}
		if msg.Verb != protocol.Move {
			continue
		}
		if timer.clock.Bank != 0 && at.Sub(sent) > LeastPaid && credit == 0 { // the bank does not pay for others
			credit = min(c.conn.Lost(sent, at, true).Known, limit.credit)
			g.told()
		}
		m := ReplayMove{Seat: seat, MS: milliseconds(at.Sub(sent)), Credit: credits(credit)}
		timer.spend(m.taken())
		c.conn.Answered()
		i := g.turn.find(msg.Move)
		if i < 0 {
			return 0, g.illegal(msg.Move)
		}
		m.Move, m.Info = string(msg.Move), g.info
		g.replay.Moves = append(g.replay.Moves, m)
		return g.legal[i], nil
	}
}

// isAnswer reports whether a line of a bot answers a greeting or a turn.
func isAnswer(line []byte) bool {
	msg, err := protocol.ParseBot(line)
	return err == nil && (msg.Verb == protocol.Move || msg.Verb == protocol.Ready)
}

// early reads what a bot has written since its last turn: comments and infos are allowed,
// a move is not.
func (g *game) early(seat int, now time.Time) error {
	if owed := g.chairs[seat].owed; owed != nil {
		return owed
	}
	for {
		line, _, err := g.chairs[seat].conn.Line(now, now)
		if errors.Is(err, errLate) {
			return nil
		}
		if err != nil {
			return err
		}
		msg, err := g.read(seat, now, line)
		if err != nil {
			return err
		}
		if msg.Verb == protocol.Move {
			return aboutLine(fault.MoveUnasked, line)
		}
	}
}

// read reads a line of a bot in a game, and records infos and comments.
func (g *game) read(seat int, at time.Time, line []byte) (protocol.BotLine, error) {
	g.trace(seat, true, at, line)
	msg, err := protocol.ParseBot(line)
	if err != nil {
		return msg, fault.New(fault.OfLine(err))
	}
	switch msg.Verb {
	case protocol.Info:
		g.info = append(g.info, string(msg.Text))
	case protocol.Comment:
		c := g.chairs[seat]
		c.keep(c.conn.Stderr(), msg.Text, lf)
	case protocol.Ready:
		return msg, aboutLine(fault.ReadyAgain, line)
	}
	return msg, nil
}

func (g *game) send(seat int, now time.Time, limit answerTime) error {
	c := g.chairs[seat]
	g.trace(seat, false, now, c.out)
	err := g.write(seat, c.out, limit)
	c.out = c.out[:0]
	return err
}

// write sends lines to a bot that reads them in time, or with credit.
func (g *game) write(seat int, lines []byte, limit answerTime) error {
	c := g.chairs[seat]
	for deadline := limit.due; ; {
		n, err := c.conn.Send(lines, deadline)
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Reason.Kind != fault.NotReading {
			return err
		}
		lines = lines[n:]
		if _, deadline, err = g.late(seat, limit, time.Now(), false, f); err != nil {
			return err
		}
	}
}

func (g *game) illegal(text []byte) error {
	why := "is not in the list of the turn"
	if m, err := g.state.ParseMove(string(text)); err != nil {
		why = err.Error()
	} else if err := g.state.Check(m); err != nil {
		why = err.Error()
	}
	return fault.New(fault.Reason{Kind: fault.IllegalMove, Move: fault.Raw(text), Detail: why})
}

// adjudicate reports whether the last move ends the game by the bots' scores.
func (g *game) adjudicate() bool {
	if m := &g.replay.Moves[len(g.replay.Moves)-1]; g.judge != nil && !m.StandIn {
		g.replay.Adjudicated = g.judge.after(m, &g.forfeits, g.state)
	}
	return g.replay.Adjudicated != nil
}

// tellEvents queues the events of a move for all seats that see them.
func (g *game) tellEvents() {
	for seat, c := range g.chairs {
		if c.conn != nil {
			c.out = g.events.Events(c.out, seat, protocol.EventPrefix)
		}
	}
	g.events.Reset()
}

// fail handles an error of a seat: a fault forfeits the game and ends the process; any
// other error is returned.
func (g *game) fail(seat int, err error) error {
	var f *Fault
	if !errors.As(err, &f) {
		return err
	}
	g.fault(seat, f)
	if c := g.chairs[seat]; c.conn != nil {
		now := time.Now()
		g.trace(seat, false, now, c.out)
		c.conn.Send(c.out, now) // the bot may have ended, or not read
		g.stop(seat, 0)
	}
	return nil
}

// fault records why a seat forfeits, and queues the line for all seats.
func (g *game) fault(seat int, f *Fault) {
	f.Seat, f.Ply = seat, g.state.Ply()
	g.replay.Faults = append(g.replay.Faults, *f)
	g.forfeits.add(seat)
	for s, c := range g.chairs {
		c.out = appendFault(c.out, s, f)
	}
}

// stop ends a seat's process and keeps its stderr.
func (t *table) stop(seat int, grace time.Duration) {
	c := t.chairs[seat]
	if c.conn == nil {
		return
	}
	c.conn.Close(grace)
	c.keep(c.conn.Stderr())
	c.conn, c.owed = nil, nil
	c.out = c.out[:0]
}

// end queues the result and returns the finished game.
func (g *game) end() (*Game, error) {
	g.replay.Points = g.state.Points()
	g.replay.Ranks = g.replay.Adjudicated.rank(&g.forfeits, g.replay.Points)
	g.watch(true)
	done := &Game{Replay: g.replay}
	now := time.Now()
	for seat, c := range g.chairs {
		if c.conn != nil && !g.unplayed {
			c.out = protocol.AppendEnd(c.out, g.replay.Ranks, g.replay.Points)
			c.owed = g.send(seat, now, g.given(seat, now, 0, g.timers[seat].clock.Margin))
			if c.owed != nil && !isFault(c.owed) {
				return nil, c.owed
			}
			c.keep(c.conn.Stderr())
		}
		done.Bots = append(done.Bots, c.bot)
		done.Logs = append(done.Logs, c.log)
	}
	done.Took = time.Since(g.began)
	return done, nil
}

func isFault(err error) bool {
	var f *Fault
	return errors.As(err, &f)
}

// trace passes lines to Match.Trace. A line of a bot comes without its LF.
func (g *game) trace(seat int, fromBot bool, at time.Time, lines []byte) {
	if g.match.Trace == nil {
		return
	}
	if fromBot {
		lines = append(bytes.Clone(lines), '\n')
	}
	g.match.Trace(Traffic{g.deal, g.rotation, seat, fromBot, at.Sub(g.began), lines})
}

// closeAll sends "bye" to all bots of some tables and ends them, all at the same time.
func closeAll(grace time.Duration, tables ...*table) {
	bye := protocol.AppendBye(nil)
	for _, t := range tables {
		for _, c := range t.chairs {
			if c.conn != nil {
				c.conn.Send(bye, time.Now()) // the bot is ended even if this fails
			}
		}
	}
	deadline := time.Now().Add(grace)
	for _, t := range tables {
		for seat := range t.chairs {
			t.stop(seat, time.Until(deadline))
		}
	}
}

// untimed is longer than anyone waits.
const untimed = 365 * 24 * time.Hour

// LeastPaid is the least time of a turn for which it is asked whether a bank has to pay all of it.
const LeastPaid = 10 * time.Millisecond

const (
	// byeGrace is how long a bot has to exit after "bye".
	byeGrace = time.Second
	// stopGrace is how long it has if the match is cancelled.
	stopGrace = 100 * time.Millisecond
)
