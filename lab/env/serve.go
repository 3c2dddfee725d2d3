package env

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
)

// Serve reads frames (messages) of one client from in and writes the answers to out, until ctx or the input ends.
// The games use the given number of goroutines, or one for each core if workers is 0. Serve fails if it cannot read
// or write, or if it cannot find the start of the next frame.
func Serve(ctx context.Context, in io.Reader, out io.Writer, workers int) error {
	ended := make(chan error, 1)
	go func() { ended <- (&session{ctx: ctx, input: in, output: out, workers: workers}).run() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil // a pending read of stdin cannot be canceled; it ends with the program
	}
}

// ServeClient calls Serve with stdin and stdout, which are pipes to the client that started this process. Unless
// stdin is a terminal, it ignores the interrupt signal: Ctrl+C also reaches the client, and when the client ends,
// stdin and therefore Serve end.
func ServeClient(ctx context.Context, workers int) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		signal.Ignore(os.Interrupt)
	}
	return Serve(ctx, os.Stdin, os.Stdout, workers)
}

// session is the connection of a client.
type session struct {
	ctx     context.Context
	input   io.Reader
	output  io.Writer
	workers int
	batch   *Batch
}

// run answers frames until the input ends. It answers an invalid frame with an error frame. If it cannot find
// the start of the next frame after that, it ends.
func (s *session) run() error {
	var buf []byte
	for {
		k, payload, err := readFrame(s.input, buf)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errOutOfSync):
			return err
		}
		var reply []byte
		if err == nil {
			buf = payload
			reply, err = s.answer(k, payload)
		}
		if err != nil {
			reply = errorFrame(err)
		}
		if _, err := s.output.Write(reply); err != nil {
			return err
		}
		if errors.Is(err, errOutOfSync) {
			return err
		}
	}
}

// answer returns the frame that answers a client's frame of kind k. If it returns an error, the caller must send
// that error in an error frame.
func (s *session) answer(k frameKind, payload []byte) (reply []byte, err error) {
	if s.batch == nil && k != frameMake {
		return nil, fmt.Errorf("env: a frame of kind %q comes before the games: send a make frame (\"M\") first", string(rune(k)))
	}
	switch k {
	case frameMake:
		return s.makeBatch(payload)
	case frameView:
		return s.view(payload)
	case frameReset:
		err = s.reset(payload)
	case frameActions:
		err = s.batch.Step(s.ctx, payload)
	case frameNext:
		err = s.batch.Next(s.ctx, payload)
	case frameTurn:
		err = s.batch.ObserveTurn(s.ctx, payload)
	default:
		err = fmt.Errorf("env: a frame of kind %q is unknown: try M, R, A, N, O or V", string(rune(k)))
	}
	return s.batch.message, err
}

// makeBatch creates the games that payload, a JSON document, describes. They replace the games that the client has.
// It returns a message with the layout of the new games.
func (s *session) makeBatch(payload []byte) ([]byte, error) {
	c, err := ParseConfig(payload)
	if err != nil {
		return nil, err
	}
	b, err := NewBatch(c, s.workers)
	if err != nil {
		return nil, err
	}
	s.batch = b
	text, err := json.Marshal(b.layout)
	return textFrame(frameLayout, string(text)), err
}

func (s *session) reset(payload []byte) error {
	var seed rules.Seed
	if want := len(seed) + 4; len(payload) != want {
		return fmt.Errorf("env: a reset frame has %d bytes: send %d, a seed of %d and the first deal of 4", len(payload), want, len(seed))
	}
	copy(seed[:], payload)
	return s.batch.Reset(s.ctx, seed, binary.LittleEndian.Uint32(payload[len(seed):]))
}

// view returns a frame with a drawing, as text, of one game. The payload is the number of the game.
func (s *session) view(payload []byte) ([]byte, error) {
	if len(payload) != 4 {
		return nil, fmt.Errorf("env: a view frame has %d bytes: send 4, the number of a game", len(payload))
	}
	text, err := s.batch.View(binary.LittleEndian.Uint32(payload))
	return textFrame(frameText, text), err
}

// View returns a drawing, as text, of a game as the seat to move sees it, with the legal moves. A game that
// is over is drawn as seat 0 sees it.
func (b *Batch) View(game uint32) (string, error) {
	if !b.isReset {
		return "", errNotReset
	}
	if int64(game) >= int64(len(b.slots)) {
		return "", fmt.Errorf("env: game %d does not exist: try 0 to %d", game, len(b.slots)-1)
	}
	v := b.config.Variant
	o := rules.Observe(b.games.state(int(game)), max(0, int(b.slots[game].seat)))
	text := draw.Style{}.Position(draw.Position{
		Game: v.Game.Name, Display: v.Game.Display, Options: protocol.Pairs(v.Settings.String()),
		View: o.View, Seat: o.Seat, Ply: o.Ply, Turn: o.Turn,
	})
	if o.Moves.Len() > 0 {
		text += fmt.Sprintf("moves: %s\n", o.Moves)
	}
	return text, nil
}
