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
)

// Game is what the referee says when a game begins. A new game has a new
// Game, so that a bot can tell games apart by the pointer.
type Game struct {
	Name     string
	Number   int // games that this process has begun, from 1
	Settings Pairs
	Seat     int    // this bot's, from 0
	Players  int    // in the game
	Seed     uint64 // this bot's own for this game, up to MaxSeed
}

// Turn is the request for a move. Everything in it aliases buffers that are
// used again after the answer.
type Turn struct {
	Game  *Game
	Ply   int
	Time  time.Duration // what this bot has for its answer, or for the whole game with a bank
	View  Pairs         // all that this seat may know
	Moves Words         // every legal move

	events []byte // lines since the last turn, without their first word, each with its LF
}

// Events yields what happened since this bot's last turn: a verb and its arguments.
func (t *Turn) Events() iter.Seq2[[]byte, Words] {
	return func(yield func(verb []byte, args Words) bool) {
		start := 0
		for i, c := range t.events {
			if c == '\n' {
				verb, args := cut(t.events[start:i])
				if !yield(verb, args) {
					return
				}
				start = i + 1
			}
		}
	}
}

// Answer is a move of Moves and, if not empty, what the bot thought of it, as
// "key=value key=value".
type Answer struct{ Move, Info []byte }

// client is the state of Serve.
type client struct {
	out   io.Writer
	ready []byte
	think func(*Turn) Answer
	turn  Turn
	view  []byte // what turn.View aliases, with room to grow
	buf   []byte // the answer being written
	games int
}

// maxRefLine is the most bytes that Serve takes for a line of the referee.
const maxRefLine = 64 << 10

// Serve plays on in and out until bye or the end of the input, asking think for
// every move. Name and version are words for the answer to the greeting; either
// may be empty. Verbs that it does not know are ignored. Each answer is one write.
func Serve(in io.Reader, out io.Writer, name, version string, think func(*Turn) Answer) error {
	c := client{out: out, ready: AppendReady(nil, name, version), think: think}
	if _, err := ParseBot(c.ready[:len(c.ready)-1]); err != nil {
		return fmt.Errorf("name %q and version %q must be words of printable ASCII", name, version)
	}
	c.turn.Game = &Game{}
	lines := bufio.NewReaderSize(in, maxRefLine)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return nil // the referee is gone: what is left is no whole line
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%s is longer than %d bytes", Quote(line), maxRefLine)
		}
		if err != nil {
			return err
		}
		if done, err := c.take(line[:len(line)-1]); done || err != nil {
			return err
		}
	}
}

// take does what a line asks for, and tells whether it was the last one.
func (c *client) take(line []byte) (done bool, err error) {
	l, err := ParseReferee(line)
	if err != nil {
		return false, err
	}
	switch l.Verb {
	case RefTimba:
		if l.Version != Version {
			return false, fmt.Errorf("protocol version %d is not spoken here: this bot has version %d", l.Version, Version)
		}
		_, err = c.out.Write(c.ready)
	case RefGame:
		c.begin(l)
	case RefEvent:
		c.turn.events = append(append(c.turn.events, dropCR(line)[len(EventPrefix):]...), '\n')
	case RefView:
		c.view = append(c.view[:0], l.Pairs...)
	case RefTurn:
		err = c.answer(l)
	case RefBye:
		return true, nil
	}
	return false, err
}

func (c *client) begin(l RefLine) {
	c.games++
	seed, _ := l.Pairs.Lookup("seed")
	n, _ := strconv.ParseUint(string(seed), 10, 64)
	c.turn.Game = &Game{
		Name:     string(l.Name),
		Number:   c.games,
		Settings: append(Pairs(nil), l.Pairs...),
		Seat:     l.Pairs.Int("seat"),
		Players:  l.Pairs.Int("players"),
		Seed:     n,
	}
	c.turn.events, c.view = c.turn.events[:0], c.view[:0]
}

func (c *client) answer(l RefLine) error {
	t := &c.turn
	t.Ply, t.Moves, t.View = l.Ply, l.Moves, c.view
	t.Time = time.Duration(min(l.MS, int(math.MaxInt64/time.Millisecond))) * time.Millisecond
	a := c.think(t)
	if len(a.Move) == 0 {
		return fmt.Errorf("no move was found at ply %d", t.Ply)
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
