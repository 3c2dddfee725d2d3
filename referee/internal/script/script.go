// Package script provides a bot for tests that writes scripted bytes, in step with the referee.
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

// Script is what a scripted bot writes: one piece for each line that must be answered. If a line must be answered
// after the last piece was written, the bot exits.
type Script struct {
	Pieces []Piece
}

// Piece is what a scripted bot writes in answer to one line.
type Piece struct {
	Text []byte
	Drip bool // write it byte by byte, or in about 64 parts if it is long
	Exit bool // exit after writing it
}

// Handled is the line that the process of a scripted bot writes to stderr after each answer. Tests wait for it.
const Handled = "handled\n"

// Asks reports whether a line of the referee must be answered.
func Asks(line []byte) bool {
	return bytes.HasPrefix(line, []byte("turn ")) || bytes.HasPrefix(line, []byte("timba "))
}

// Run plays the bot. After each input line that must be answered, it writes the next piece of the script to out and
// then calls handled. It returns when the input ends, at the line "bye", after a piece with Exit, when a write fails,
// and when a line must be answered after the last piece.
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

// write writes the text of the piece. If p.Drip is set, it writes the text before the first LF in parts. The rest is
// written at once; otherwise parts of it could arrive before or after the next line of the referee.
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
