package match

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// seat is a bot in one seat, for all games of a rotation, in which the bots do not change seats. The bot's process
// runs until the bot's first fault. The next game then starts a new process.
type seat struct {
	Contestant
	*table
	*session // nil while no process runs

	number int           // index of the bot in the match
	place  int           // number of the seat in the game
	clock  referee.Clock // the clock of the bot

	log  cutlog.Buffer // comments and stderr in this game
	info []string      // info lines since the last move
}

// table has the settings and functions that all seats of a game share.
type table struct {
	start      func(b Contestant) (BotConn, error)
	patience   time.Duration // see Match.Patience
	anyRemote  bool          // see Match.anyRemote
	reportBusy func()        // called when other programs may have taken time from a bot
	trace      func(seat int, fromBot bool, at time.Time, lines []byte)
}

// session is the state of one process of a seat.
type session struct {
	conn         BotConn
	scratch      string // the process's directory for temporary files; "" if it needs none
	greetedAt    time.Time
	ready        bool   // the bot has answered the greeting
	version      string // version of the bot, from its answer to the greeting
	pendingFault error  // a fault between turns, which the next turn reports; may be nil
}

// playGame starts the bots that have no process, makes the moves of opening, and plays g to its end. out[n] is true
// if bot n of the match is disqualified; it then forfeits the game at once. watch is called with the game at each
// position; it may be nil. If the error is not nil, it is a failure of the referee or the error of ctx, and the
// caller must end the bots' processes.
func playGame(ctx context.Context, g *referee.Game, opening []string, seats []*seat, out []bool, watch func(*referee.Game)) error {
	if err := startAll(g, seats, out); err != nil {
		return err
	}
	show := watch
	watch = func(g *referee.Game) {
		if show != nil {
			show(g)
		}
		sendToFollowers(g, seats)
	}
	if g.Begin() {
		for _, move := range opening {
			if err := g.PlayOpeningMove(move); err != nil {
				return fmt.Errorf("match: %w", err)
			}
		}
		watch(g)
	}
	for !g.IsOver() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s := seats[g.Turn()]; g.HasForfeited(s.place) {
			g.PlayStandIn()
		} else if err := s.playTurn(g); err != nil {
			if err := s.forfeit(g, err); err != nil {
				return err
			}
			continue
		}
		watch(g)
	}
	g.End()
	watch(g)
	now := time.Now()
	for _, s := range seats {
		if s.session == nil || !g.HasBegun() {
			continue
		}
		s.pendingFault = s.send(g.TakeLines(s.place), now, s.allowance(now, 0, s.clock.Margin))
		if _, ok := errors.AsType[fault.Reason](s.pendingFault); s.pendingFault != nil && !ok {
			return s.pendingFault
		}
		s.appendLog(s.conn.Stderr())
	}
	return nil
}

// sendToFollowers sends new events and a view (what a bot may know of the position) to each bot for which
// Contestant.Follows is set. It skips the bot that is to move, which gets them with its turn.
func sendToFollowers(g *referee.Game, seats []*seat) {
	for _, s := range seats {
		if s.Follows && s.session != nil && s.pendingFault == nil && s.place != g.Turn() && !g.IsOver() && !g.HasForfeited(s.place) {
			now := time.Now()
			s.pendingFault = s.send(g.ViewLines(s.place), now, s.allowance(now, 0, s.clock.Margin))
		}
	}
}

// startAll starts the bots that have no process, and waits until they are ready. out[n] is true if bot n of the match
// is disqualified. Bots that are disqualified or fail to start forfeit g. All processes start at the same time. There
// is one exception: bots that are stopped between their turns start one after the other, so that each has the core
// for itself.
func startAll(g *referee.Game, seats []*seat, out []bool) error {
	for _, s := range seats {
		if out[s.number] {
			if err := s.forfeit(g, fault.Reason{Kind: fault.Disqualified, Limit: referee.MaxFaults}); err != nil {
				return err
			}
		}
	}
	if g.IsDecided() {
		return nil
	}
	startErrors := make([]error, len(seats))
	for i, s := range seats {
		if s.session == nil && !g.HasForfeited(i) {
			startErrors[i] = s.launch()
			if s.Sandbox != nil && s.Sandbox.Freeze && startErrors[i] == nil {
				startErrors[i] = s.greet()
			}
		}
	}
	for i, s := range seats {
		if g.HasForfeited(i) { // if only its partner has failed, the bot is greeted in the next game
			continue
		}
		err := startErrors[i]
		if err == nil && !s.ready {
			err = s.greet()
		}
		if err != nil {
			if err := s.forfeit(g, err); err != nil {
				return err
			}
		} else if g.Record.Seats[i].Version == "" {
			g.Record.Seats[i].Version = s.version
		}
	}
	return nil
}

// startFunc is a function that starts a bot. b.Temp must be a directory for this bot alone. w measures how much time
// other programs take from the bot's process.
type startFunc func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error)

func (s *seat) launch() error {
	scratch, err := s.makeScratch()
	if err != nil {
		return err
	}
	started := time.Now()
	b := s.Contestant
	b.Temp = scratch
	conn, err := s.start(b)
	if err != nil {
		dropScratch(scratch)
		return err
	}
	s.session = &session{conn: conn, scratch: scratch}
	greeting := protocol.AppendGreeting(nil)
	s.trace(s.place, false, started, greeting)
	err = startFault(s.write(greeting, s.allowance(started, s.clock.Startup, 0)))
	s.greetedAt = time.Now() // a referee that had no core greets late, which must not cost the bot time
	return err
}

// greet waits until a new process answers the greeting with "ready".
func (s *seat) greet() error {
	limit := s.allowance(s.greetedAt, s.clock.Startup, 0)
	why := fault.Reason{Kind: fault.NoReady, Limit: s.clock.Startup.Milliseconds()}
	msg, _, _, err := s.awaitAnswer(time.Now(), limit, nil, why)
	if err != nil {
		return startFault(err)
	}
	s.version, s.ready = msg.Version, true
	s.conn.EndTurn()
	return nil
}

func lineFault(k fault.Kind, line []byte) fault.Reason {
	return fault.Reason{Kind: k, Line: fault.Raw(protocol.Clip(line))}
}

// startFault sets BeforeReady in the fault of a bot that has not been ready yet, unless the kind of the fault implies
// that. It returns other errors unchanged.
func startFault(err error) error {
	switch e := err.(type) {
	case fault.Reason:
		e.BeforeReady = e.Kind != fault.MoveBeforeReady
		return e
	case LateError:
		e.BeforeReady = e.Kind != fault.NoReady
		return e
	}
	return err
}

// playTurn sends the bot the lines of its turn in g, waits for the answer, and makes the move of the answer in g.
func (s *seat) playTurn(g *referee.Game) error {
	s.info = nil
	now := time.Now()
	if err := s.readBetweenTurns(now, now); err != nil {
		return err
	}
	left, lines := g.TimeLeft(s.place), g.TurnLines()
	if err := s.conn.BeginTurn(now, left); err != nil {
		return err
	}
	sent := time.Now()
	limit := s.allowance(sent, left, s.clock.Margin)
	if s.Untimed {
		limit.Due = sent.Add(untimed)
	}
	if err := s.send(lines, sent, limit); err != nil {
		return err
	}
	msg, at, credit, err := s.awaitAnswer(sent, limit, lines, referee.LateReason(s.clock))
	if err != nil {
		return err
	}
	if s.clock.Bank != 0 && at.Sub(sent) > MinCreditedTurn && credit == 0 { // the bank must not pay for other programs
		credit = min(s.conn.Loss(sent, at, true).Certain, limit.MaxCredit)
		s.reportBusy()
	}
	s.conn.EndTurn()
	return g.Move(msg.Move, referee.MoveTime{Took: at.Sub(sent), Credit: credit}, s.info)
}

// awaitAnswer waits for the bot's answer and returns it as msg. sent has the lines of the turn that must be answered;
// it is nil for the greeting. now is the current time, and limit the time limit. at is when the answer came. If the
// answer to a turn came after limit.Due but is in time, credit is the time that other programs took from the bot and
// that does not count. If the bot is late in spite of that, the error is a LateError with the reason why.
func (s *seat) awaitAnswer(now time.Time, limit fairclock.Allowance, sent []byte, why fault.Reason) (
	msg protocol.BotLine, at time.Time, credit time.Duration, err error,
) {
	for deadline := limit.Due; ; {
		line, at, err := s.conn.Line(now, deadline)
		none := errors.Is(err, ErrLate)
		if err != nil && !none {
			return msg, at, 0, err
		}
		// A line that is no answer proves nothing: if the referee was late, the answer may follow it.
		// A "ready" may have come long before it is read: bots are greeted one after the other.
		late := !none && s.ready && at.After(limit.Due) && isAnswer(line)
		var credit time.Duration
		if none || late {
			why := why
			if none {
				why = why.WithUnfinishedAnswer(s.conn.Rest(), movesIn(sent))
			}
			verdict, err := s.judge(limit, at, late, why)
			if err != nil {
				return msg, at, 0, err
			}
			if none {
				now, deadline = time.Now(), verdict.Deadline
				continue
			}
			credit = verdict.Credit
		}
		now = at
		msg, err := s.handleLine(at, line)
		if err != nil || msg.Verb == protocol.Move || msg.Verb == protocol.Ready {
			return msg, at, credit, err
		}
	}
}

// movesIn returns the legal moves of a turn. The last of the given lines must be the turn line, which lists them.
func movesIn(lines []byte) protocol.Words {
	lines = bytes.TrimSuffix(lines, lf)
	turn, _ := protocol.ParseReferee(lines[bytes.LastIndexByte(lines, '\n')+1:])
	return turn.Moves
}

// isAnswer reports whether a line is "ready" or a move, and not a comment or an info line.
func isAnswer(line []byte) bool {
	msg, err := protocol.ParseBot(line)
	return err == nil && (msg.Verb == protocol.Move || msg.Verb == protocol.Ready)
}

// readBetweenTurns handles the lines that the bot has written since its last turn or writes before the time until.
// now is the present time. It returns a fault.Reason for a move, since it is not the bot's turn, and for any line
// that the protocol does not allow.
func (s *seat) readBetweenTurns(now, until time.Time) error {
	if s.pendingFault != nil {
		return s.pendingFault
	}
	for {
		line, at, err := s.conn.Line(now, until)
		if errors.Is(err, ErrLate) {
			return nil
		}
		if err != nil {
			return err
		}
		now = at
		msg, err := s.handleLine(now, line)
		if err != nil {
			return err
		}
		if msg.Verb == protocol.Move {
			return lineFault(fault.MoveUnasked, line)
		}
	}
}

// handleLine handles one line of the bot, which was read at the time at. It stores info lines and comments. It
// returns the parsed line, and a fault.Reason if the line is not allowed at this moment.
func (s *seat) handleLine(at time.Time, line []byte) (protocol.BotLine, error) {
	s.trace(s.place, true, at, line)
	msg, err := protocol.ParseBot(line)
	switch {
	case err != nil:
		err = fault.LineReason(line, err)
	case msg.Verb == protocol.Info:
		s.info = append(s.info, string(msg.Text))
	case msg.Verb == protocol.Comment:
		s.appendLog(s.conn.Stderr(), msg.Text, lf)
	case msg.Verb == protocol.Ready && s.ready:
		err = lineFault(fault.ReadyAgain, line)
	case msg.Verb == protocol.Move && !s.ready:
		err = lineFault(fault.MoveBeforeReady, line)
	}
	return msg, err
}

func (s *seat) send(lines []byte, now time.Time, limit fairclock.Allowance) error {
	s.trace(s.place, false, now, lines)
	return s.write(lines, limit)
}

// write writes lines to the bot. If the bot does not read them within the time limit, write returns a fault. The
// limit is extended by time that other programs take.
func (s *seat) write(lines []byte, limit fairclock.Allowance) error {
	for deadline := limit.Due; ; {
		n, err := s.conn.Send(lines, deadline)
		r, ok := errors.AsType[fault.Reason](err)
		if !ok || r.Kind != fault.NotReading {
			return err
		}
		lines = lines[n:]
		verdict, err := s.judge(limit, time.Now(), false, r)
		if err != nil {
			return err
		}
		deadline = verdict.Deadline
	}
}

// forfeit makes the seat lose the game g because of err, and ends the bot's process. If err is not a fault of the
// bot, forfeit does nothing and returns err.
func (s *seat) forfeit(g *referee.Game, err error) error {
	why, ok := errors.AsType[fault.Reason](err)
	if !ok {
		return err
	}
	late, _ := errors.AsType[LateError](err)
	var note string
	if s.patience > 0 && s.session != nil {
		if note, err = s.arrivalNote(late); err != nil {
			if why, ok = errors.AsType[fault.Reason](err); !ok {
				return err
			}
		}
	}
	if err := g.Forfeit(s.place, why, late.Credit); err != nil {
		return fmt.Errorf("match: %s: %w", why, err)
	}
	lines := g.TakeLines(s.place)
	if s.session != nil {
		now := time.Now()
		s.trace(s.place, false, now, lines)
		s.conn.Send(lines, now) // errors do not matter: the bot may have ended, or not read
		s.stop(0)
		if note != "" && !s.log.EndsLine() {
			s.appendLog(lf)
		}
		s.appendLog([]byte(note))
	}
	return nil
}

func (s *seat) appendLog(parts ...[]byte) {
	for _, p := range parts {
		s.log.Write(p)
	}
}

var lf = []byte{'\n'}

// stop ends the bot's process, if there is one. The process may exit by itself within the time grace; then it is
// killed. stop appends the process's stderr to the log and removes its directory for temporary files.
func (s *seat) stop(grace time.Duration) {
	if s.session == nil {
		return
	}
	s.conn.Close(grace)
	dropScratch(s.scratch)
	s.appendLog(s.conn.Stderr())
	s.session = nil
}

// stopAll sends "bye" to the bots and ends all their processes at the same time. The processes may exit by themselves
// within the time grace; then they are killed.
func stopAll(grace time.Duration, seats []*seat) {
	bye := protocol.AppendBye(nil)
	for _, s := range seats {
		if s.session != nil {
			s.conn.Send(bye, time.Now()) // the bot is ended even if this fails
		}
	}
	deadline := time.Now().Add(grace)
	for _, s := range seats {
		s.stop(time.Until(deadline))
	}
}

// untimed is the time limit of turns without a time limit. It is so long that it is never reached.
const untimed = 365 * 24 * time.Hour

// MinCreditedTurn is the shortest turn for which the referee finds out how much of it other programs took. The whole
// time of a shorter turn is subtracted from the bot's bank (its time for all moves of a game).
const MinCreditedTurn = 10 * time.Millisecond

const (
	// byeGrace is how long a bot has to exit after "bye".
	byeGrace = time.Second
	// stopGrace is how long a bot has to exit if the match is canceled.
	stopGrace = 100 * time.Millisecond
)
