package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
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
	until   time.Time // when to break it off; never if zero
}

// style is how a game is told, where that is not as the referee tells it today.
type style struct {
	dress  func(dst, line []byte) []byte // appends what is sent for a line, with LFs
	step   bool                          // a line at a time, with a pause in which the bot is to be silent
	pieces bool                          // lines come in pieces
	faults bool                          // another seat forfeits in the middle
}

func (g *game) String() string { return g.variant.Game().Name() + " " + g.variant.Settings().String() }

// botSeed is what the bot is told as its seed.
func (g *game) botSeed() uint64 {
	s := g.seed.Derive("check/bot")
	return binary.BigEndian.Uint64(s[:]) >> 11
}

// others is the randomness of the other seats.
func (g *game) others() *rules.Rand {
	s := g.seed.Derive("check/others")
	return rules.NewRand(binary.BigEndian.Uint64(s[:]))
}

// played is what the bot did in a game.
type played struct {
	moves []string
	took  []time.Duration
}

// longest is how many plies a game between two sides may have before it is broken
// off: those without a limit of their own could go on for very long.
const longest = 300

// errTime is why a game was not played to its end that has more than two sides:
// nothing that the referee says would end it.
var errTime = errors.New("the time of the check is over")

// table is a game while it is played.
type table struct {
	*session
	*game
	state  rules.State
	out    []byte // lines to be sent
	events rules.Log
	legal  []rules.Move
	before []string // the moves of the list before
	bank   time.Duration
	played played
	paused map[string]int // by kind of line, how often its silence was watched
}

// play plays a game to its end. The error is a *Failure when the bot is to blame.
func (s *session) play(g *game) (played, error) {
	s.listen()
	s.games++
	s.wrote, s.moves = 0, 0
	s.where = fmt.Sprintf("%s, seat %d, game %d of its process", g, g.seat, s.games)
	stream := rules.NewStream(g.seed)
	t := &table{session: s, game: g, state: g.variant.Deal(&stream), bank: g.clock.Bank, paused: map[string]int{}}
	t.out = referee.AppendGame(nil, g.variant, g.clock, g.seat, g.botSeed())
	t.state.Start(&t.events)
	err := t.run(g.others())
	s.listen()
	return t.played, err
}

func (t *table) run(others *rules.Rand) error {
	for {
		t.out = t.events.Events(t.out, t.seat, protocol.EventPrefix)
		t.events.Reset()
		turn := t.state.Turn()
		if turn == rules.Over {
			return t.end(t.state.Result())
		}
		two := rules.Sides(t.variant) == 2
		late := !t.until.IsZero() && time.Now().After(t.until)
		switch {
		case two && (late || t.style.faults && t.moves == 2 || t.state.Ply() >= longest):
			return t.breakOff()
		case late:
			return errTime
		}
		t.legal = t.state.Legal(t.legal[:0])
		move := t.legal[others.Below(len(t.legal))]
		if turn == t.seat {
			if t.style.faults && t.moves == 1 && !two {
				t.out = referee.AppendOthersFault(t.out, (t.seat+1)%t.variant.Players(), protocol.Exit)
			}
			var err error
			if move, err = t.ask(); err != nil {
				return err
			}
		}
		t.state.Apply(move, &t.events)
	}
}

// breakOff ends a game as when the other side has a fault.
func (t *table) breakOff() error {
	result := rules.Result{Points: t.state.Result().Points}
	culprit := -1
	for seat := range t.variant.Players() {
		rank := 1
		if t.variant.Side(seat) != t.variant.Side(t.seat) {
			if rank = 2; culprit < 0 {
				culprit = seat
			}
		}
		result.Ranks = append(result.Ranks, rank)
	}
	t.out = referee.AppendOthersFault(t.out, culprit, protocol.Timeout)
	return t.end(result)
}

func (t *table) end(r rules.Result) error {
	t.out = protocol.AppendEnd(t.out, r.Ranks, r.Points)
	err := t.tell(time.Now().Add(t.clock.Margin + time.Second))
	t.last = "the end of the game"
	return err
}

// ask sends the bot its turn and reads its move.
func (t *table) ask() (rules.Move, error) {
	if err := t.early(time.Now()); err != nil {
		return 0, err
	}
	left := t.clock.Move
	if t.clock.Bank != 0 {
		left = t.bank
	}
	moves := t.turnLines(left)
	sent := time.Now()
	deadline := sent.Add(left + t.clock.Margin)
	if t.style.step || t.style.pieces {
		deadline = deadline.Add(time.Minute) // what is sent here takes time by itself
	}
	if err := t.tell(deadline); err != nil {
		return 0, err
	}
	if t.style.step || t.style.pieces {
		sent = time.Now()
		deadline = sent.Add(left + t.clock.Margin)
	}
	t.last = fmt.Sprintf("the turn of ply %d", t.state.Ply())
	for {
		msg, line, at, err := t.read(deadline, fmt.Sprintf("the move of ply %d", t.state.Ply()))
		if errors.Is(err, referee.ErrLate) || err == nil && at.After(deadline) {
			return 0, t.silence(fmt.Sprintf("the move of ply %d", t.state.Ply()), left)
		}
		if err != nil {
			return 0, err
		}
		switch msg.Verb {
		case protocol.Ready:
			return 0, t.readyAgain(line)
		case protocol.Move:
			return t.answered(string(msg.Move), moves, at.Sub(sent))
		}
	}
}

// turnLines queues the view and the turn and gives the moves as they are listed.
func (t *table) turnLines(left time.Duration) (moves []string) {
	t.out = t.state.View(append(t.out, protocol.ViewPrefix...), t.seat)
	t.out = protocol.AppendTurn(append(t.out, '\n'), t.state.Ply(), int(left.Milliseconds()))
	for _, m := range t.legal {
		text := t.state.MoveText(nil, m)
		t.out = append(append(t.out, ' '), text...)
		moves = append(moves, string(text))
	}
	t.out = append(t.out, '\n')
	return moves
}

// answered takes the bot's move.
func (t *table) answered(move string, moves []string, took time.Duration) (rules.Move, error) {
	t.proc.Answered()
	i := slices.Index(moves, move)
	if i < 0 {
		return 0, t.illegal(move, moves)
	}
	t.before = moves
	if t.clock.Bank != 0 {
		t.bank = max(0, t.bank-took) + t.clock.Inc
	}
	t.last = fmt.Sprintf("its move of ply %d", t.state.Ply())
	t.moves++
	t.played.moves = append(t.played.moves, move)
	t.played.took = append(t.played.took, took)
	if t.style.step && t.watches("move") {
		return t.legal[i], t.early(time.Now().Add(t.kit.Pause))
	}
	return t.legal[i], nil
}

// early reads what the bot writes while nothing is asked of it: comments and
// infos only.
func (s *session) early(until time.Time) error {
	for {
		msg, line, _, err := s.read(until, "")
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

// tell sends the lines that wait, in the game's style.
func (t *table) tell(deadline time.Time) error {
	out := t.out
	if t.style.dress != nil {
		out = nil
		for line := range bytes.Lines(t.out) {
			out = t.style.dress(out, line[:len(line)-1])
		}
	}
	t.out = t.out[:0]
	switch {
	case t.style.step:
		return t.tellSteps(out, deadline)
	case t.style.pieces:
		return t.tellPieces(out, deadline)
	}
	return t.send(out, deadline)
}

// tellSteps sends a line at a time and watches that the bot is silent after those
// that ask for nothing.
func (t *table) tellSteps(out []byte, deadline time.Time) error {
	for line := range bytes.Lines(out) {
		if err := t.send(line, deadline); err != nil {
			return err
		}
		words := bytes.Fields(line)
		kind := string(words[0])
		t.last = fmt.Sprintf("the line %s", protocol.Quote(line[:len(line)-1]))
		if kind == "event" {
			kind = string(words[1])
		}
		if kind == "turn" || !t.watches(kind) {
			continue
		}
		if kind == "end" {
			return t.settle()
		}
		if err := t.early(time.Now().Add(t.kit.Pause)); err != nil {
			return err
		}
	}
	return nil
}

// watches tells whether to watch for silence after a kind of line: the first two
// times.
func (t *table) watches(kind string) bool {
	t.paused[kind]++
	return t.paused[kind] <= 2
}

// tellPieces sends the lines cut in the middle, for some moves: pipes may deliver
// them so.
func (t *table) tellPieces(out []byte, deadline time.Time) error {
	if t.moves >= 5 {
		return t.send(out, deadline)
	}
	for line := range bytes.Lines(out) {
		t.keep(false, line[:len(line)-1])
	}
	for len(out) > 0 {
		n := min(len(out), 1+len(out)/3)
		if err := t.proc.Send(out[:n], deadline); err != nil {
			return t.blame(err, "")
		}
		if out = out[n:]; len(out) > 0 {
			time.Sleep(t.kit.Pause / 10) // so that the bot reads the piece by itself
		}
	}
	return nil
}
