// Package referee runs one game by the rules and the protocol: it decides which moves and faults are accepted, writes
// the lines for each bot, and records a Replay.
//
// It starts no processes and reads no clock. Package match starts the bots, and passes on their moves with the time
// that each took.
//
// Begin with Game, and with Replay, its record. Replay.Verify, Walk and Traffic (rerun.go) drive a Game with the
// moves of a replay.
package referee

import (
	"fmt"
	"strconv"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// Game is a game in progress. It starts no bots and reads no clock. The caller passes in moves, their times and
// faults, and sends to the bots the lines that the Game returns.
//
// The calls come in this order: NewGame; Forfeit for each bot that fails before the game; Begin. Then, until IsOver,
// for the seat that Turn returns: PlayStandIn if HasForfeited(seat), otherwise TurnLines followed by Move or Forfeit.
// Finally End. TakeLines returns the lines for a seat that do not belong to a turn, such as those of End.
//
// Record contains one move for each ply of State. A seat that forfeited gets no more lines.
type Game struct {
	Variant *rules.Variant
	// Record is the replay so far. Its elements do not change, and Moves and Faults only grow. Therefore a copy of
	// Record stays valid. End sets AdjudicationResult, Ranks and Points.
	Record Replay
	State  rules.State // callers must not change it

	forfeits      forfeits
	adjudicator   *adjudicator        // nil if there are no rules of adjudication
	earlyEnd      *AdjudicationResult // nil unless the scores have ended the game
	standInStream *rules.Stream       // randomness of stand-in moves; nil until it is needed
	timers        []timer             // by seat
	begun         bool
	listening     rules.Seats
	lines         [][]byte   // by seat, lines that are not sent yet
	events        *rules.Log // of the last move, or of the start; nil if no seat listens
	legal         []rules.Move
	moveText      []byte // buffer for the text of a move
}

// usualMoves is the initial capacity of the list of moves of a game. usualLines is the initial capacity, in bytes, of
// the lines that a seat gets at the start.
const (
	usualMoves = 64
	usualLines = 1 << 10
)

// NewGame returns a game of v that has not begun. head is a replay (the record of a game) in which everything is set
// that is known before the game, such as seeds, seats and clocks. The game writes protocol lines only for the seats
// in listening.
func NewGame(v *rules.Variant, head Replay, listening rules.Seats) *Game {
	stream := rules.NewStream(rules.Seed(head.Seed))
	g := &Game{Variant: v, Record: head, State: v.Deal(&stream), forfeits: forfeits{variant: v}, listening: listening}
	g.Record.Moves, g.Record.Faults = make([]ReplayMove, 0, usualMoves), []Fault{}
	g.Record.AdjudicationResult, g.Record.Ranks, g.Record.Points = nil, nil, nil
	if a := head.Adjudication; a != nil && a.Check() == nil {
		g.adjudicator = newAdjudicator(*a, v)
	}
	for seat := range v.Players {
		clock := head.ClockOf(seat).Clock()
		g.timers = append(g.timers, timer{clock, clock.Bank})
	}
	if listening != 0 {
		g.lines, g.events = make([][]byte, v.Players), new(rules.Log)
		g.legal = make([]rules.Move, 0, rules.MaxMoves)
	}
	return g
}

// Begin starts the game: it adds the line "game" and the first events to the lines of each seat. If the game is
// already decided by forfeits, Begin returns false and does not start it.
func (g *Game) Begin() bool {
	if g.events != nil {
		g.events.Reset()
		g.State.LogStart(g.events)
	}
	if g.IsDecided() {
		return false
	}
	g.begun = true
	for seat := range g.lines {
		if g.listens(seat) { // lines of faults before the game follow the "game" line
			begin := appendGame(make([]byte, 0, usualLines), g.Variant, g.timers[seat].clock, seat, g.Record.Seats[seat].Seed)
			g.lines[seat] = append(begin, g.lines[seat]...)
		}
	}
	g.appendEvents()
	return true
}

// IsOver reports whether no more moves follow, because the rules, forfeits or the bots' scores have ended the game.
func (g *Game) IsOver() bool {
	return g.State.Turn() == rules.Over || g.IsDecided() || g.earlyEnd != nil
}

// IsDecided reports whether so many sides have forfeited that the game is decided.
func (g *Game) IsDecided() bool { return g.forfeits.endGame() }

// HasBegun reports whether Begin has begun the game.
func (g *Game) HasBegun() bool { return g.begun }

// HasEnded reports whether End was called.
func (g *Game) HasEnded() bool { return g.Record.Ranks != nil }

// Turn returns the seat that is to move, or rules.Over if the rules have ended the game.
func (g *Game) Turn() int { return g.State.Turn() }

// HasForfeited reports whether the seat or its partner has forfeited the game.
func (g *Game) HasForfeited(seat int) bool { return g.forfeits.has(seat) }

// TimeLeft returns the time that a seat has for its next move. The clock's margin is not included.
func (g *Game) TimeLeft(seat int) time.Duration { return g.timers[seat].timeLeft() }

func (g *Game) listens(seat int) bool { return g.listening&rules.OneSeat(seat) != 0 }

// TurnLines returns the protocol lines to send to the seat that is to move: events that the seat has not received
// yet, what it may know of the position (its view), and the line "turn". It returns nil if the Game writes no lines
// for that seat. The lines are valid until the next call of a method other than TimeLeft.
func (g *Game) TurnLines() []byte {
	seat := g.State.Turn()
	if !g.listens(seat) {
		return nil
	}
	g.addView(seat)
	dst := protocol.AppendTurn(g.lines[seat], g.State.Ply(), int(g.TimeLeft(seat).Milliseconds()))
	g.legal = g.State.Legal(g.legal[:0])
	for _, m := range g.legal {
		dst = g.State.MoveText(append(dst, ' '), m)
	}
	g.lines[seat] = append(dst, '\n')
	return g.TakeLines(seat)
}

// ViewLines returns the protocol lines to send to a seat that is not to move: events that the seat has not received
// yet, what it may know of the position (its view), and the line "wait" with the number of the seat to move. It
// returns nil if the Game writes no lines for the seat. The lines are valid until the next call of a method other
// than TimeLeft.
func (g *Game) ViewLines(seat int) []byte {
	if !g.listens(seat) {
		return nil
	}
	g.addView(seat)
	g.lines[seat] = protocol.AppendWait(g.lines[seat], g.State.Turn())
	return g.TakeLines(seat)
}

func (g *Game) addView(seat int) {
	dst := append(g.lines[seat], protocol.ViewPrefix...)
	g.lines[seat] = append(g.State.View(dst, seat), '\n')
}

// TakeLines returns the protocol lines for a seat that were not returned before, by TurnLines, ViewLines or
// TakeLines. They are valid until the next call of a method other than TimeLeft.
func (g *Game) TakeLines(seat int) []byte {
	lines := g.lines[seat]
	g.lines[seat] = lines[:0]
	return lines
}

// MoveTime is the time that a move took. Took is the elapsed time. Credit is the part of it that does not count on
// the bot's clock, because other programs used the processor core.
type MoveTime struct{ Took, Credit time.Duration }

// Move makes the move with the given text, which the bot to move has answered. t is the time that the move took. info
// has the bot's info lines about the move, which are recorded. If the move is illegal, Move changes nothing and
// returns a fault.Reason.
func (g *Game) Move(text []byte, t MoveTime, info []string) error {
	rec := ReplayMove{Seat: g.State.Turn(), Move: string(text), MS: milliseconds(t.Took), Credit: creditMilliseconds(t.Credit), Info: info}
	m, err := g.parse(rec.Move)
	if err != nil {
		return fault.Reason{Kind: fault.IllegalMove, Move: fault.Raw(text), Detail: err.Error()}
	}
	g.Record.Moves = append(g.Record.Moves, rec)
	g.make(m)
	return nil
}

// errUnlisted is the error for a move that is legal but not spelled as in the list of moves that was sent to the bot.
var errUnlisted = phrase.Errorf("is not in the list of the turn")

// parse returns the legal move with the given text. If there is none, the error says why.
func (g *Game) parse(text string) (rules.Move, error) {
	m, err := g.State.ParseMove(text)
	if err == nil {
		err = g.State.Check(m)
	}
	if err != nil {
		return 0, err
	}
	if g.moveText = g.State.MoveText(g.moveText[:0], m); string(g.moveText) != text {
		return 0, errUnlisted
	}
	return m, nil
}

// PlayStandIn makes a random legal move for the seat that is to move, which must have forfeited. The random numbers
// depend only on the seed of the deal.
func (g *Game) PlayStandIn() {
	m := g.standInMove()
	g.Record.Moves = append(g.Record.Moves, ReplayMove{Seat: g.State.Turn(), Move: string(g.State.MoveText(nil, m)), StandIn: true})
	g.make(m)
}

// PlayOpeningMove makes a given move for the seat that is to move. Given moves (an opening) must come before the
// first move of a bot. If the move is not legal, PlayOpeningMove returns an error and changes nothing.
func (g *Game) PlayOpeningMove(text string) error {
	rec := ReplayMove{Seat: g.State.Turn(), Move: text, Given: true}
	m, err := g.parse(text)
	if err != nil {
		return fmt.Errorf("opening: %q: %v", text, err)
	}
	g.Record.Moves = append(g.Record.Moves, rec)
	g.make(m)
	return nil
}

// standInMove returns the next random move for a seat that has forfeited. It shuffles the legal moves by random
// numbers that depend on the seed of the deal, and returns the first move.
func (g *Game) standInMove() rules.Move {
	if g.standInStream == nil {
		g.standInStream = new(rules.NewStream(rules.Seed(g.Record.Seed).Derive("standin")))
	}
	g.legal = g.State.Legal(g.legal[:0])
	rules.Shuffle(g.standInStream, g.legal)
	return g.legal[0]
}

// make applies the legal move m to the position and to the clock of the seat that makes it. The caller must already
// have appended the move to Record.Moves.
func (g *Game) make(m rules.Move) {
	rec := &g.Record.Moves[len(g.Record.Moves)-1]
	if rec.ByBot() {
		g.timers[rec.Seat].spend(rec.OwnTime())
	}
	if g.events != nil {
		g.events.Reset()
	}
	g.State.Apply(m, g.events)
	g.appendEvents()
	if g.adjudicator != nil && rec.ByBot() {
		g.earlyEnd = g.adjudicator.recordMove(rec, &g.forfeits, g.State)
	}
}

// isLate reports whether a recorded move took longer than its seat's time and the margin. It must be called before
// the move is made. It tolerates an additional microsecond, since both times were rounded.
func (g *Game) isLate(rec *ReplayMove) bool {
	t := &g.timers[rec.Seat]
	return !g.Record.Seats[rec.Seat].Untimed && rec.OwnTime() > t.timeLeft()+t.clock.Margin+time.Microsecond
}

// appendEvents appends the events of the last move to the lines of each seat that may see them.
func (g *Game) appendEvents() {
	for seat := range g.lines {
		if g.listens(seat) {
			g.lines[seat] = g.events.AppendEvents(g.lines[seat], seat, protocol.EventPrefix)
		}
	}
}

// Forfeit records that the seat loses the game because of a failure of its bot, and adds a line about that for all
// seats. why is the reason. credit is the time of the turn that did not count because other programs took it; it is 0
// unless the bot was late. Before Begin any seat can forfeit, later only the seat that is to move. On an error the
// game is unchanged.
func (g *Game) Forfeit(seat int, why fault.Reason, credit time.Duration) error {
	if seat < 0 || seat >= g.Variant.Players {
		return fmt.Errorf("seat %d does not exist", seat)
	}
	for _, f := range g.Record.Faults {
		if f.Seat == seat {
			return fmt.Errorf("seat %d has forfeited before", seat)
		}
	}
	f := fault.New(seat, g.State.Ply(), why)
	f.Credit = creditMilliseconds(credit)
	switch {
	case f.IsBeforeGame() && !g.begun: // every bot starts, even if others have failed
	case g.earlyEnd != nil:
		return fmt.Errorf("the game was adjudicated before it")
	case g.IsDecided():
		return fmt.Errorf("the game was decided by forfeit before it")
	case f.IsBeforeGame():
		return fmt.Errorf("a bot does not start at ply %d, but before the first move", f.Ply)
	case seat != g.State.Turn():
		return fmt.Errorf("it is not the turn of seat %d", seat)
	}
	g.Record.Faults = append(g.Record.Faults, f)
	g.forfeits.add(seat)
	for s := range g.lines {
		if !g.listens(s) {
			continue
		}
		text := f.Text
		if s != seat { // other seats may not see this seat's cards
			text = fault.Brief(f.Code)
		}
		g.lines[s] = protocol.AppendFault(g.lines[s], seat, f.Code, text)
	}
	g.listening &^= rules.OneSeat(seat)
	return nil
}

// End computes the ranks and points of the game and stores them in Record. If the game has begun, it also adds the
// line "end" with the result to the lines of each seat.
func (g *Game) End() {
	g.Record.AdjudicationResult = g.earlyEnd
	points := g.State.Points()
	g.Record.Ranks = g.earlyEnd.rank(&g.forfeits, points)
	g.Record.Points = g.earlyEnd.points(&g.forfeits, points)
	for seat := range g.lines {
		switch {
		case !g.begun: // the seat was sent no line of this game
			g.lines[seat] = nil
		case g.listens(seat):
			g.lines[seat] = protocol.AppendEnd(g.lines[seat], g.Record.Ranks, g.Record.Points)
		}
	}
}

// appendGame appends the protocol line "game" to dst. The line tells the bot in a seat which game it plays, with
// which options and which clock. seed is a seed for the bot's own random decisions.
func appendGame(dst []byte, v *rules.Variant, c Clock, seat int, seed uint64) []byte {
	var pairs []protocol.KeyValue
	settings := v.Settings
	for _, s := range settings {
		pairs = append(pairs, protocol.KeyValue(s))
	}
	if settings.Get("players") == "" {
		pairs = append(pairs, protocol.KeyValue{Name: "players", Value: strconv.Itoa(v.Players)})
	}
	pairs = append(pairs,
		protocol.KeyValue{Name: "seat", Value: strconv.Itoa(seat)},
		protocol.KeyValue{Name: "seed", Value: strconv.FormatUint(seed, 10)})
	return protocol.AppendGame(dst, v.Game.Name, append(pairs, c.Pairs()...)...)
}
