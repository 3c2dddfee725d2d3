// Package referee is a game between bots, without the bots: Game takes moves and faults, and gives the
// lines for the bots and the record, the Replay. It starts no process and reads no clock: package match
// plays, and gives each move its time.
//
// Begin with Game. Replays are played again by it, to be verified, walked through, or told as lines
// (rerun.go).
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

// Game is a game in progress, without bots and without a clock on the wall: moves and faults come in,
// the lines for the bots and the record come out. A match drives it by what bots answer, a replay by
// what it has.
//
// The order of the calls is NewGame, Fault for bots that fail before the game, and Begin; until Over,
// for the seat of Turn, StandIn if it is Forfeited, else Ask and then Move or Fault; then End. Take gives
// the lines that no turn has taken.
//
// Record has a move for each ply of State. A seat with a fault gets no more lines.
type Game struct {
	Variant *rules.Variant
	// Record is what is recorded so far. Its elements are not changed, and Moves and Faults only grow,
	// so that a copy stays valid. Adjudicated, Ranks and Points come with End.
	Record Replay
	State  rules.State // not to be changed by others

	forfeits    forfeits
	adjudicator *adjudicator  // nil without rules of adjudication
	ended       *Adjudicated  // by the scores
	standIn     *rules.Stream // of its moves; nil until it is needed
	timers      []timer       // by seat
	begun       bool
	listening   rules.Seats
	lines       [][]byte   // by seat, to be sent
	events      *rules.Log // of the last move, or of the start; nil if nobody wants them
	legal       []rules.Move
	text        []byte // of a move
}

// The moves of a game, and the bytes of the lines of a turn, for which there is room from the beginning.
const (
	usualMoves = 64
	usualLines = 1 << 10
)

// NewGame returns a game that has not begun. head has what is known before a game: seeds, seats and
// clocks. Lines are written for the seats that listen.
func NewGame(v *rules.Variant, head Replay, listening rules.Seats) *Game {
	stream := rules.NewStream(rules.Seed(head.Seed))
	g := &Game{Variant: v, Record: head, State: v.Deal(&stream), forfeits: forfeits{variant: v}, listening: listening}
	g.Record.Moves, g.Record.Faults = make([]ReplayMove, 0, usualMoves), []Fault{}
	g.Record.Adjudicated, g.Record.Ranks, g.Record.Points = nil, nil, nil
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

// Begin begins the game with the "game" lines and the first events, and reports whether it has: forfeits
// may have decided the game before.
func (g *Game) Begin() bool {
	if g.events != nil {
		g.events.Reset()
		g.State.Start(g.events)
	}
	if g.Decided() {
		return false
	}
	g.begun = true
	for seat := range g.lines {
		if g.listens(seat) { // the lines of faults before the game come after it
			begin := appendGame(make([]byte, 0, usualLines), g.Variant, g.timers[seat].clock, seat, g.Record.Seats[seat].Seed)
			g.lines[seat] = append(begin, g.lines[seat]...)
		}
	}
	g.tellEvents()
	return true
}

// Over reports whether no more moves are made: by the rules, by forfeits or by the scores.
func (g *Game) Over() bool {
	return g.State.Turn() == rules.Over || g.Decided() || g.ended != nil
}

// Decided reports whether forfeits have decided the game.
func (g *Game) Decided() bool { return g.forfeits.decided() }

// Begun reports whether Begin began the game.
func (g *Game) Begun() bool { return g.begun }

// Ended reports whether End was called.
func (g *Game) Ended() bool { return g.Record.Ranks != nil }

// Turn returns the seat to move, or rules.Over.
func (g *Game) Turn() int { return g.State.Turn() }

// Forfeited reports whether the side of a seat has forfeited the game.
func (g *Game) Forfeited(seat int) bool { return g.forfeits.has(seat) }

// Left returns the time that a seat has for its next move.
func (g *Game) Left(seat int) time.Duration { return g.timers[seat].left() }

func (g *Game) listens(seat int) bool { return g.listening&rules.Only(seat) != 0 }

// Ask returns the lines for the seat to move, its view and its turn at the end, valid until the next call
// of a method other than Left.
func (g *Game) Ask() []byte {
	seat := g.State.Turn()
	if !g.listens(seat) {
		return nil
	}
	g.addView(seat)
	dst := protocol.AppendTurn(g.lines[seat], g.State.Ply(), int(g.Left(seat).Milliseconds()))
	g.legal = g.State.Legal(g.legal[:0])
	for _, m := range g.legal {
		dst = g.State.MoveText(append(dst, ' '), m)
	}
	g.lines[seat] = append(dst, '\n')
	return g.Take(seat)
}

// Show returns the lines for a seat that is not to move, with its view at the end, valid as those of Ask.
func (g *Game) Show(seat int) []byte {
	if !g.listens(seat) {
		return nil
	}
	g.addView(seat)
	return g.Take(seat)
}

func (g *Game) addView(seat int) {
	dst := append(g.lines[seat], protocol.ViewPrefix...)
	g.lines[seat] = append(g.State.View(dst, seat), '\n')
}

// Take returns the lines for a seat that it was not given yet, valid until the next call of a method other
// than Left.
func (g *Game) Take(seat int) []byte {
	lines := g.lines[seat]
	g.lines[seat] = lines[:0]
	return lines
}

// Spent is the time of a move: what it took by the clock on the wall, and how much of that was not the
// bot's own.
type Spent struct{ Took, Credit time.Duration }

// Move makes the move of the seat to move that a text means. info is what the bot told of it. The error
// is the fault.Reason of a move that is not legal.
func (g *Game) Move(text []byte, t Spent, info []string) error {
	rec := ReplayMove{Seat: g.State.Turn(), Move: string(text), MS: milliseconds(t.Took), Credit: credits(t.Credit), Info: info}
	m, err := g.parse(rec.Move)
	if err != nil {
		return fault.Reason{Kind: fault.IllegalMove, Move: fault.Raw(text), Detail: err.Error()}
	}
	g.Record.Moves = append(g.Record.Moves, rec)
	g.make(m)
	return nil
}

// errUnlisted is the error of a legal move that is not written as the list of the turn has it.
var errUnlisted = phrase.Errorf("is not in the list of the turn")

// parse returns the legal move that a text means. The error says why there is none.
func (g *Game) parse(text string) (rules.Move, error) {
	m, err := g.State.ParseMove(text)
	if err == nil {
		err = g.State.Check(m)
	}
	if err != nil {
		return 0, err
	}
	if g.text = g.State.MoveText(g.text[:0], m); string(g.text) != text {
		return 0, errUnlisted
	}
	return m, nil
}

// StandIn makes the move of the stand-in for a seat that has forfeited.
func (g *Game) StandIn() {
	m := g.standInMove()
	g.Record.Moves = append(g.Record.Moves, ReplayMove{Seat: g.State.Turn(), Move: string(g.State.MoveText(nil, m)), StandIn: true})
	g.make(m)
}

// Give makes a move of the opening, before any bot has moved.
func (g *Game) Give(text string) error {
	rec := ReplayMove{Seat: g.State.Turn(), Move: text, Given: true}
	m, err := g.parse(text)
	if err != nil {
		return fmt.Errorf("opening: %q: %v", text, err)
	}
	g.Record.Moves = append(g.Record.Moves, rec)
	g.make(m)
	return nil
}

// standInMove draws the move that the stand-in makes now: it shuffles the listed moves, and plays the first.
func (g *Game) standInMove() rules.Move {
	if g.standIn == nil {
		g.standIn = new(rules.NewStream(rules.Seed(g.Record.Seed).Derive("standin")))
	}
	g.legal = g.State.Legal(g.legal[:0])
	rules.Shuffle(g.standIn, g.legal)
	return g.legal[0]
}

// make makes a legal move, which is the last of the record.
func (g *Game) make(m rules.Move) {
	rec := &g.Record.Moves[len(g.Record.Moves)-1]
	if rec.ByBot() {
		g.timers[rec.Seat].spend(rec.Own())
	}
	if g.events != nil {
		g.events.Reset()
	}
	g.State.Apply(m, g.events)
	g.tellEvents()
	if g.adjudicator != nil && rec.ByBot() {
		g.ended = g.adjudicator.after(rec, &g.forfeits, g.State)
	}
}

// late reports whether a move takes longer than its seat has. Times are rounded to a microsecond, twice,
// and one more proves nothing.
func (g *Game) late(rec *ReplayMove) bool {
	t := &g.timers[rec.Seat]
	return !g.Record.Seats[rec.Seat].Untimed && rec.Own() > t.left()+t.clock.Margin+time.Microsecond
}

// tellEvents writes the events for all seats that see them.
func (g *Game) tellEvents() {
	for seat := range g.lines {
		if g.listens(seat) {
			g.lines[seat] = g.events.Events(g.lines[seat], seat, protocol.EventPrefix)
		}
	}
}

// Fault records why a seat forfeits, with the credit that did not help it, and tells all seats. Before
// Begin it may be any seat, then the one to move. The error is why there can be no such fault now; the
// game is as it was.
func (g *Game) Fault(seat int, why fault.Reason, credit time.Duration) error {
	if seat < 0 || seat >= g.Variant.Players {
		return fmt.Errorf("seat %d does not exist", seat)
	}
	for _, f := range g.Record.Faults {
		if f.Seat == seat {
			return fmt.Errorf("seat %d has forfeited before", seat)
		}
	}
	f := fault.New(seat, g.State.Ply(), why)
	f.Credit = credits(credit)
	switch {
	case f.BeforeGame() && !g.begun: // all bots start, whatever the others do
	case g.ended != nil:
		return fmt.Errorf("the game was adjudicated before it")
	case g.Decided():
		return fmt.Errorf("the game was decided by forfeit before it")
	case f.BeforeGame():
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
		if s != seat { // which may not see the culprit's cards
			text = fault.Brief(f.Code)
		}
		g.lines[s] = protocol.AppendFault(g.lines[s], seat, f.Code, text)
	}
	g.listening &^= rules.Only(seat)
	return nil
}

// End records the result, and tells it to all seats if the game has begun.
func (g *Game) End() {
	g.Record.Adjudicated = g.ended
	points := g.State.Points()
	g.Record.Ranks = g.ended.rank(&g.forfeits, points)
	g.Record.Points = g.ended.points(&g.forfeits, points)
	for seat := range g.lines {
		switch {
		case !g.begun: // it has heard of no game
			g.lines[seat] = nil
		case g.listens(seat):
			g.lines[seat] = protocol.AppendEnd(g.lines[seat], g.Record.Ranks, g.Record.Points)
		}
	}
}

// appendGame appends the line that begins a game for a seat; seed is for the bot's own
// randomness.
func appendGame(dst []byte, v *rules.Variant, c Clock, seat int, seed uint64) []byte {
	var pairs []protocol.Pair
	settings := v.Settings
	for _, s := range settings {
		pairs = append(pairs, protocol.Pair(s))
	}
	if settings.Get("players") == "" {
		pairs = append(pairs, protocol.Pair{Name: "players", Value: strconv.Itoa(v.Players)})
	}
	pairs = append(pairs,
		protocol.Pair{Name: "seat", Value: strconv.Itoa(seat)},
		protocol.Pair{Name: "seed", Value: strconv.FormatUint(seed, 10)})
	return protocol.AppendGame(dst, v.Game.Name, append(pairs, c.Pairs()...)...)
}
