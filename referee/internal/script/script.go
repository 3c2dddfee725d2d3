// Package script is a bot for tests that writes what it is told to, in step with
// the referee.
package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strings"
)

// Script is what a bot writes, in step with the referee: a piece for each line
// that asks for an answer. After its last piece it exits when it is asked again.
type Script struct {
	Pieces []Piece
}

// Piece is the answer to one question.
type Piece struct {
	Text []byte
	Drip bool // byte by byte, or in many pieces where it is long
	Exit bool // right after it
}

// Handled is what a process that plays a script writes to stderr after each piece.
const Handled = "handled\n"

// Asks reports whether a line of the referee is to be answered.
func Asks(line []byte) bool {
	return bytes.HasPrefix(line, []byte("turn ")) || bytes.HasPrefix(line, []byte("timba "))
}

// Run plays the script; handled is called after each piece.
func (s Script) Run(in io.Reader, out io.Writer, handled func()) {
	lines := bufio.NewReaderSize(in, 8<<10)
	for i := 0; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil || bytes.HasPrefix(line, []byte("bye")) {
			return
		}
		if !Asks(line) {
			continue
		}
		if i == len(s.Pieces) {
			return
		}
		p := s.Pieces[i]
		i++
		if err := p.write(out); err != nil {
			return
		}
		if p.Exit {
			return
		}
		handled()
	}
}

// write writes the text. What follows the first LF is written at once even by
// one that drips, or it could come before the next question or after it.
func (p Piece) write(out io.Writer) error {
	rest := p.Text
	if p.Drip {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		for drop := range slices.Chunk(rest[:end], 1+end/64) {
			if _, err := out.Write(drop); err != nil {
				return err
			}
			runtime.Gosched()
		}
		rest = rest[end:]
	}
	_, err := out.Write(rest)
	return err
}

// String is for people who look for what went wrong.
func (s Script) String() string {
	var b strings.Builder
	for _, p := range s.Pieces {
		text := p.Text
		if len(text) > 200 {
			text = append(bytes.Clone(text[:200]), "..."...)
		}
		data, _ := json.Marshal(string(text))
		b.Write(data)
		if p.Drip {
			b.WriteString(" drip")
		}
		if p.Exit {
			b.WriteString(" exit")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
