package referee

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"
)

// script is what a bot writes, in step with the referee: a piece for each line
// that asks for an answer. After its last piece it exits when it is asked again.
type script struct {
	Pieces []piece
}

type piece struct {
	Text []byte
	Drip bool // byte by byte
	Exit bool // right after it
}

// asks tells whether a line of the referee is to be answered.
func asks(line []byte) bool {
	return bytes.HasPrefix(line, []byte("turn ")) || bytes.HasPrefix(line, []byte("timba "))
}

// run plays the script; handled is called after each piece.
func (s script) run(in io.Reader, out io.Writer, handled func()) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for i := 0; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil || bytes.HasPrefix(line, []byte("bye")) {
			return
		}
		if !asks(line) {
			continue
		}
		if i == len(s.Pieces) {
			return
		}
		p := s.Pieces[i]
		i++
		if p.Drip {
			for j := range p.Text {
				if _, err := out.Write(p.Text[j : j+1]); err != nil {
					return
				}
				runtime.Gosched()
			}
		} else if _, err := out.Write(p.Text); err != nil {
			return
		}
		if p.Exit {
			return
		}
		handled()
	}
}

// runScript plays a script from a file as a process.
func runScript(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s script
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	s.run(os.Stdin, os.Stdout, func() {})
	return nil
}

// String is for people who look for what went wrong.
func (s script) String() string {
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
