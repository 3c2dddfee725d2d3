package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/timba-arena/timba/protocol/words"
)

// GameLine is the content of a "game" line. Every game that a process plays has a new *GameLine, so that a
// bot can tell games apart by the pointer.
type GameLine struct {
	Name     string
	Number   int    // number of this game among those of the process, from 1
	Settings Pairs  // every key of the line, with its value
	Seat     int    // this bot's seat, from 0
	Players  int    // number of seats
	Seed     uint64 // this bot's seed for this game, up to MaxSeed
}

// Turn is the referee's request for a move. Its slices are only valid until the bot has answered.
type Turn struct {
	Game       *GameLine
	Ply        int           // number of moves made in the game
	Time       time.Duration // time for this answer; if all answers of a game share one time budget, what is left of it
	ReceivedAt time.Time     // when the line was read; the referee started the clock then, or slightly earlier
	View       Pairs         // everything that this seat may know about the position
	Moves      Words         // every legal move

	events []byte // event lines since the last turn, without the word "event", each with its LF
}

// Events yields what happened in the game since this bot's last turn. Each event is a verb and its arguments.
func (t *Turn) Events() iter.Seq2[[]byte, Words] {
	return func(yield func(verb []byte, args Words) bool) {
		start := 0
		for i, c := range t.events {
			if c == '\n' {
				verb, args := words.Cut(t.events[start:i])
				if !yield(verb, args) {
					return
				}
				start = i + 1
			}
		}
	}
}

// Answer is the reply of a bot to a Turn.
type Answer struct {
	Move, Info []byte // one of Turn.Moves, and optionally "key=value key=value" about the move
	Err        error  // if not nil, the bot cannot play this game, and Serve returns Err
}

// client is the state of one call of Serve.
type client struct {
	out   io.Writer
	ready []byte
	think func(*Turn) Answer
	turn  Turn
	view  []byte // memory for turn.View
	buf   []byte // memory for the formatted answer
	games int
}

// maxRefLine is the maximum length of a referee's line in bytes.
const maxRefLine = 64 << 10

// Serve runs a bot: it reads the referee's lines from in, calls think for every turn, and writes the answers to out,
// until "bye" or the end of the input. name and version identify the bot in its answer to the greeting; each may be
// empty and must not contain spaces. Lines with unknown verbs are ignored. Each answer is a single write. Serve
// returns an error for an invalid line, another version of the protocol, or Answer.Err.
func Serve(in io.Reader, out io.Writer, name, version string, think func(*Turn) Answer) error {
	c := client{out: out, ready: AppendReady(nil, name, version), think: think}
	if _, err := ParseBot(c.ready[:len(c.ready)-1]); err != nil {
		return fmt.Errorf("name %q and version %q must be words of printable ASCII", name, version)
	}
	c.turn.Game = &GameLine{}
	lines := bufio.NewReaderSize(in, maxRefLine)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return nil // the referee has ended in the middle of a line
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%s is longer than %d bytes", Quote(line), maxRefLine)
		}
		if err != nil {
			return err
		}
		if done, err := c.handle(line[:len(line)-1]); done || err != nil {
			return err
		}
	}
}

// handle processes one line of the referee. done is true if the line is "bye".
func (c *client) handle(line []byte) (done bool, err error) {
	l, err := ParseReferee(line)
	if err != nil {
		return false, err
	}
	switch l.Verb {
	case RefTimba:
		if l.Version != Version {
			return false, fmt.Errorf("protocol version %d is not supported: this bot has version %d", l.Version, Version)
		}
		_, err = c.out.Write(c.ready)
	case RefGame:
		c.startGame(l)
	case RefEvent:
		c.turn.events = append(append(c.turn.events, dropCR(line)[len(EventPrefix):]...), '\n')
	case RefView:
		c.view = append(c.view[:0], l.Pairs...)
	case RefTurn:
		err = c.answerTurn(l)
	case RefBye:
		return true, nil
	}
	return false, err
}

func (c *client) startGame(l RefLine) {
	c.games++
	seed, _ := l.Pairs.Lookup("seed")
	n, _ := strconv.ParseUint(string(seed), 10, 64)
	c.turn.Game = &GameLine{
		Name:     string(l.Name),
		Number:   c.games,
		Settings: append(Pairs(nil), l.Pairs...),
		Seat:     l.Pairs.Int("seat"),
		Players:  l.Pairs.Int("players"),
		Seed:     n,
	}
	c.turn.events, c.view = c.turn.events[:0], c.view[:0]
}

func (c *client) answerTurn(l RefLine) error {
	t := &c.turn
	t.ReceivedAt = time.Now()
	t.Ply, t.Moves, t.View = l.Ply, l.Moves, c.view
	t.Time = time.Duration(min(l.MS, int(math.MaxInt64/time.Millisecond))) * time.Millisecond
	a := c.think(t)
	if a.Err != nil {
		return a.Err
	}
	if len(a.Move) == 0 {
		return fmt.Errorf("the bot returned no move at ply %d", t.Ply)
	}
	c.buf = c.buf[:0]
	if len(a.Info) > 0 {
		c.buf = AppendInfo(c.buf, a.Info)
	}
	c.buf = AppendMove(c.buf, a.Move)
	t.events = t.events[:0]
	_, err := c.out.Write(c.buf)
	return err
}
