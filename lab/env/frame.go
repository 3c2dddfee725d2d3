package env

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// headerBytes is the size of the header that precedes the payload of each frame: the payload's length as a
// little-endian uint32, the kind as a byte, three zero bytes.
const headerBytes = 8

// kind is what a frame is.
type kind byte

// The frames of the client.
const (
	frameMake    kind = 'M' // the JSON that ParseConfig reads
	frameReset   kind = 'R' // 32 bytes of seed, the first deal as a uint32
	frameActions kind = 'A' // a uint16 for each game
	frameNext    kind = 'N' // a byte for each game
	frameView    kind = 'V' // a game as a uint32
)

// The frames of the server, one for each of the client's.
const (
	frameLayout kind = 'L' // the Layout as JSON
	frameState  kind = 'S' // the arrays of the Layout
	frameText   kind = 'T' // text
	frameError  kind = 'E' // what is wrong; nothing else has changed
)

// maxPayload is the longest payload of a client: the actions of all games.
const maxPayload = 2 * MaxGames

// errLost is an error after which the frames that follow cannot be told apart.
var errLost = errors.New("the connection ends here")

// readFrame reads a frame into buf, which it may grow. At the end of the input it returns io.EOF.
func readFrame(r io.Reader, buf []byte) (kind, []byte, error) {
	var header [headerBytes]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		if n > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("env: a frame ends after %d bytes, in its header of %d: %w", n, headerBytes, errLost)
		}
		return 0, buf, err
	}
	size, k := binary.LittleEndian.Uint32(header[:]), kind(header[4])
	if header[5]|header[6]|header[7] != 0 {
		return 0, buf, fmt.Errorf("env: bytes 5 to 7 of a frame's header are %q: they must be zero: %w", header[5:], errLost)
	}
	if size > maxPayload {
		return 0, buf, fmt.Errorf("env: a frame of %d bytes is too long: %d at most: %w", size, maxPayload, errLost)
	}
	if int(size) > cap(buf) {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if n, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("env: a frame ends after %d of %d bytes: %w", n, size, errLost)
		}
		return 0, buf, err
	}
	return k, buf, nil
}

// newFrame returns a frame whose payload is to be filled in.
func newFrame(k kind, size int) []byte {
	frame := make([]byte, headerBytes+size)
	binary.LittleEndian.PutUint32(frame, uint32(size))
	frame[4] = byte(k)
	return frame
}

// textFrame returns a frame of text.
func textFrame(k kind, text string) []byte {
	frame := newFrame(k, len(text))
	copy(frame[headerBytes:], text)
	return frame
}

// errorFrame returns a frame that tells an error, in UTF-8.
func errorFrame(err error) []byte {
	text := err.Error()
	if !utf8.ValidString(text) {
		text = fmt.Sprintf("%+q", text)
	}
	return textFrame(frameError, text)
}
