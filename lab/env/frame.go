package env

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// headerBytes is the size of a frame's header: the length of the payload as a little-endian uint32, the kind
// as one byte, and three zero bytes.
const headerBytes = 8

type frameKind byte

// The kinds of frames (messages) that a client sends.
const (
	frameMake    frameKind = 'M' // the JSON document that ParseConfig reads
	frameReset   frameKind = 'R' // a seed of 32 bytes and the first deal as a uint32
	frameActions frameKind = 'A' // an action for each game as a uint16
	frameNext    frameKind = 'N' // a byte for each game: if it is not 0, the game starts its next deal
	frameView    frameKind = 'V' // the number of a game as a uint32
	frameTurn    frameKind = 'O' // a seat as a byte, and the lines "view" and "turn" that a bot in this seat was sent
)

// The kinds of frames (messages) that the server sends. It answers each frame of the client with one frame.
const (
	frameLayout frameKind = 'L' // the Layout as JSON
	frameState  frameKind = 'S' // the arrays of the Layout
	frameText   frameKind = 'T' // a drawing of a game
	frameError  frameKind = 'E' // an error message
)

// maxPayload is the maximal size, in bytes, of the payload of a client's frame. The largest frame has the actions
// of all games, two bytes for each.
const maxPayload = 2 * MaxGames

// errOutOfSync is wrapped by an error after which the server does not know where the next frame starts.
var errOutOfSync = errors.New("the connection ends here")

// readFrame reads a frame and returns its kind and payload, which is in buf or, if buf is too small, in a new buffer.
// At the end of the input it returns io.EOF. After an error that wraps errOutOfSync no more frames can be read.
func readFrame(r io.Reader, buf []byte) (frameKind, []byte, error) {
	var header [headerBytes]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("env: a frame ends after %d bytes, in its header of %d: %w", n, headerBytes, errOutOfSync)
		}
		return 0, buf, err
	}
	size, k := binary.LittleEndian.Uint32(header[:]), frameKind(header[4])
	if header[5]|header[6]|header[7] != 0 {
		return 0, buf, fmt.Errorf("env: bytes 5 to 7 of a frame's header are %q: they must be zero: %w", header[5:], errOutOfSync)
	}
	if size > maxPayload {
		return 0, buf, fmt.Errorf("env: a frame of %d bytes is too long: %d at most: %w", size, maxPayload, errOutOfSync)
	}
	if int(size) > cap(buf) {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if n, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("env: a frame ends after %d of %d bytes: %w", n, size, errOutOfSync)
		}
		return 0, buf, err
	}
	return k, buf, nil
}

// newFrame returns a frame (message) of kind k whose payload has the given size in bytes. The payload is zero
// until the caller fills it.
func newFrame(k frameKind, size int) []byte {
	frame := make([]byte, headerBytes+size)
	binary.LittleEndian.PutUint32(frame, uint32(size))
	frame[4] = byte(k)
	return frame
}

func textFrame(k frameKind, text string) []byte {
	frame := newFrame(k, len(text))
	copy(frame[headerBytes:], text)
	return frame
}

// errorFrame returns a frame with the message of err. If the message is not valid UTF-8, it is quoted.
func errorFrame(err error) []byte {
	text := err.Error()
	if !utf8.ValidString(text) {
		text = fmt.Sprintf("%+q", text)
	}
	return textFrame(frameError, text)
}
