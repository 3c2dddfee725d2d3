package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// game is a game for the bot to play in one seat; the other seats make random
// moves that depend on its seed alone.
type game struct {
	variant rules.Variant
	seat    int
	seed    rules.Seed // of the deal, the others' moves and the bot's own seed
	clock   referee.Clock
	style   style
	until   time.Duration // after how much of the check's own time to stop it early; 0: never
}

// style is how the lines of a game differ from what the referee sends today.
type style struct {
	vary   func(dst, line []byte) []byte // appends the lines to send for a line, with LFs
	step   bool                          // send a line at a time, with pauses in which the bot must be silent
	pieces bool                          // send lines in pieces
	faults bool                          // another seat forfeits in the middle
}

func (g *game) String() string { return g.variant.Game().Name() + " " + g.variant.Settings().String() }

// botSeed returns the seed that the bot is sent.
func (g *game) botSeed() uint64 {
	s := g.seed.Derive("check/bot")
	return binary.BigEndian.Uint64(s[:]) >> 11
}

// others returns the randomness of the other seats.
func (g *game) others() *rules.Rand {
	s := g.seed.Derive("check/others")
	return rules.NewRand(binary.BigEndian.Uint64(s[:]))
}

// played is what the bot did in a game.
type played struct {
	moves []string
	took  []time.Duration
}

// longest is after how many plies a game between two sides is stopped: a game
// without a limit of its own could be very long.
const longest = 300

// errTime is why a game with more than two sides was stopped: no line of the
// referee could end it.
var errTime = errors.New("the time of the check is used up")

// table is a game in progress.
type table struct {
	*session
	*game
	state  *referee.Game
	played played
	paused map[string]int // by kind of line, how often silence after it was checked
}

// play plays a game to its end. The error is a *Failure if it is the bot's fault.
func (s *session) play(g *game) (played, error) {
	s.listen()
	s.now.Games++
	s.wrote, s.now.Turns, s.now.Before = 0, 0, nil
	s.where = fmt.Sprintf("%s, seat %d, game %d of its process", g, g.seat, s.now.Games)
	head := referee.Replay{Seed: referee.Hex(g.seed), Clock: g.clock.InReplay(), Seats: make([]referee.ReplaySeat, g.variant.Players())}
	head.Seats[g.seat].Seed = g.botSeed()
	t := &table{session: s, game: g, state: referee.NewGame(g.variant, head, rules.Only(g.seat)), paused: map[string]int{}}
	err := t.run(g.others())
	s.listen()
	return t.played, err
}

func (t *table) run(others *rules.Rand) error {
	g := t.state
	g.Begin()
	two := rules.Sides(t.variant) == 2
	var legal []rules.Move
	for !g.Over() {
		turn := g.Turn()
		late := t.until != 0 && t.session.run.own() > t.until
		if late && !two {
			return errTime
		}
		legal = g.State.Legal(legal[:0])
		move := legal[others.Below(len(legal))]
		stop := late || t.style.faults && t.now.Turns >= 2 || g.State.Ply() >= longest
		var err error
		switch {
		case g.Forfeited(turn):
			g.StandIn()
		case turn == t.seat:
			err = t.ask()
		case two && stop && t.variant.Side(turn) != t.variant.Side(t.seat):
			err = g.Fault(turn, referee.Late(t.clock), 0)
		case !two && t.style.faults && t.now.Turns >= 1 && len(g.Record.Faults) == 0:
			err = g.Fault(turn, fault.Reason{Kind: fault.Exited}, 0)
		default:
			err = g.Move(g.State.MoveText(nil, move), referee.Spent{}, nil)
		}
		if err != nil {
			return err
		}
	}
	g.End()
	err := t.tell(g.Take(t.seat), t.proc.Limit(time.Now(), 0, t.clock.Margin+time.Second))
	t.did("the end of the game", fault.HeardEnd)
	return err
}

// ask sends the bot its turn and makes its move.
func (t *table) ask() error {
	if err := t.early(time.Now()); err != nil {
		return err
	}
	left := t.state.Left(t.seat)
	if err := t.proc.Begin(time.Now(), left); err != nil {
		return err
	}
	ply, lines := t.state.State.Ply(), t.state.Ask()
	t.now.Legal, t.now.Ply, t.now.Movetime = listed(lines), ply, t.clock.Move.Milliseconds()
	sent := time.Now()
	limit := t.proc.Limit(sent, left, t.clock.Margin)
	if t.style.step || t.style.pieces {
		limit = t.proc.Limit(sent, left, t.clock.Margin+time.Minute) // sending in this way takes time
	}
	if err := t.tell(lines, limit); err != nil {
		return err
	}
	if t.style.step || t.style.pieces {
		sent = time.Now()
		limit = t.proc.Limit(sent, left, t.clock.Margin)
		if err := t.proc.Begin(sent, left); err != nil {
			return err
		}
	}
	t.did(fmt.Sprintf("the turn of ply %d", ply), 0)
	want := fmt.Sprintf("move of ply %d", ply)
	for {
		msg, line, at, credit, err := t.answer(limit, "the "+want)
		if errors.Is(err, referee.ErrLate) {
			return t.silence(line, at.Sub(sent)-credit-left-t.clock.Margin, referee.Late(t.clock), fmt.Sprintf("no %s within %d ms and the margin", want, left.Milliseconds()))
		}
		if err != nil {
			return err
		}
		switch msg.Verb {
		case protocol.Ready:
			return t.readyAgain(line)
		case protocol.Move:
			return t.answered(msg.Move, t.own(sent, at, credit))
		}
	}
}

// listed returns the moves of a turn, which is the last of some lines.
func listed(lines []byte) (moves []string) {
	lines = bytes.TrimSuffix(lines, []byte("\n"))
	turn, _ := protocol.ParseReferee(lines[bytes.LastIndexByte(lines, '\n')+1:])
	for move := range turn.Moves.All() {
		moves = append(moves, string(move))
	}
	return moves
}

// answered makes the bot's move, for which it took so much time of its own.
func (t *table) answered(text []byte, took time.Duration) error {
	t.proc.Answered()
	ply, move := t.state.State.Ply(), string(text)
	if err := t.state.Move(text, referee.Spent{Took: took}, nil); err != nil {
		return t.illegal(err)
	}
	t.now.Before, t.now.Last = t.now.Legal, move
	t.did(fmt.Sprintf("its move of ply %d", ply), fault.Moved)
	t.now.Turns++
	t.played.moves = append(t.played.moves, move)
	t.played.took = append(t.played.took, took)
	if t.style.step && t.watches("move") {
		return t.early(time.Now().Add(t.session.run.Pause))
	}
	return nil
}

// early reads what the bot writes while it has no turn: only comments and infos are
// allowed.
func (s *session) early(until time.Time) error {
	for {
		line, _, err := s.proc.Line(until)
		msg, err := s.parse(line, err, "")
		if errors.Is(err, referee.ErrLate) {
			return nil
		}
		if err != nil {
			return err
		}
		switch msg.Verb {
		case protocol.Move:
			return s.unasked(line)
		case protocol.Ready:
			return s.readyAgain(line)
		}
	}
}

// tell sends lines in the game's style.
func (t *table) tell(lines []byte, l referee.Limit) error {
	out := lines
	if t.style.vary != nil {
		out = nil
		for line := range bytes.Lines(lines) {
			out = t.style.vary(out, line[:len(line)-1])
		}
	}
	switch {
	case t.style.step:
		return t.tellSteps(out, l)
	case t.style.pieces:
		return t.tellPieces(out, l)
	}
	return t.send(out, l)
}

// tellSteps sends a line at a time and checks that the bot is silent after lines
// that need no answer.
func (t *table) tellSteps(out []byte, l referee.Limit) error {
	for line := range bytes.Lines(out) {
		if err := t.send(line, l); err != nil {
			return err
		}
		words := bytes.Fields(line)
		kind := string(words[0])
		t.did(fmt.Sprintf("the line %s", protocol.Quote(line[:len(line)-1])), 0)
		if kind == "event" {
			kind = string(words[1])
		}
		if kind == "turn" || !t.watches(kind) {
			continue
		}
		if kind == "end" {
			return t.awaitQuiet()
		}
		if err := t.early(time.Now().Add(t.session.run.Pause)); err != nil {
			return err
		}
	}
	return nil
}

// watches reports whether to check for silence after a kind of line. It does so the
// first two times.
func (t *table) watches(kind string) bool {
	t.paused[kind]++
	return t.paused[kind] <= 2
}

// tellPieces sends lines in pieces during the first moves, as a pipe may deliver
// them.
func (t *table) tellPieces(out []byte, l referee.Limit) error {
	if t.now.Turns >= 5 {
		return t.send(out, l)
	}
	for line := range bytes.Lines(out) {
		t.keep(false, line[:len(line)-1])
	}
	for len(out) > 0 {
		n := min(len(out), 1+len(out)/3)
		if err := t.proc.Send(out[:n], l); err != nil {
			return t.blame(err, "")
		}
		if out = out[n:]; len(out) > 0 {
			time.Sleep(t.session.run.Pause / 10) // so that the bot reads each piece separately
		}
	}
	return nil
}
