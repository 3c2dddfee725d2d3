package playback

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/timba-arena/timba/terminal/screen"
)

// Steps shows one position at a time, beginning with s.Game.Frames[i]. Keys read from in select the next one. It
// returns an error if the input or the Screen's Writer is not a terminal.
func (s *Screen) Steps(in io.Reader, i int) error {
	file, out := screen.Terminal(in), screen.Terminal(s.Writer)
	if file == nil || out == nil {
		return errors.New("--step needs a terminal: leave it out")
	}
	old, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("--step: setting up the terminal: %w", err)
	}
	defer term.Restore(int(file.Fd()), old)
	for {
		s.page(out, i)
		var typed [64]byte
		n, err := file.Read(typed[:])
		if err != nil {
			return nil
		}
		var more bool
		if i, more = turnPages(string(typed[:n]), i, len(s.Game.Frames)); !more {
			return nil
		}
	}
}

// turnPages applies the typed keys one after the other, beginning at page i of pages, and returns the last page.
// more is false if one of the keys quits.
func turnPages(typed string, i, pages int) (next int, more bool) {
	more = true
	for typed != "" && more {
		key := typed[:1]
		if strings.HasPrefix(typed, "\x1b[") && len(typed) > 2 {
			key = typed[:3]
		}
		typed = typed[len(key):]
		i, more = turnPage(key, i, pages)
	}
	return i, more
}

// turnPage returns the page to which a key leads from page i of pages. more is false if the key quits.
func turnPage(key string, i, pages int) (next int, more bool) {
	switch key {
	case "n", " ", "\r", "j", "\x1b[C", "\x1b[B":
		i++
	case "p", "\b", "\x7f", "k", "\x1b[D", "\x1b[A":
		i--
	case "g", "\x1b[H":
		i = 0
	case "G", "\x1b[F":
		i = pages - 1
	case "q", "\x03", "\x04", "\x1b":
		return i, false
	}
	return min(max(i, 0), pages-1), true
}

// page clears the terminal out, which must be in raw mode, and shows the position s.Game.Frames[i].
func (s *Screen) page(out io.Writer, i int) {
	var shown strings.Builder
	inner := *s
	inner.Writer = &shown
	inner.ShowFrame(i)
	fmt.Fprintf(&shown, "\n%s\n", s.Dim(s.Wrap("", fmt.Sprintf("%d of %d: n next, p back, g first, G last, q quit", i, len(s.Game.Frames)-1))))
	fmt.Fprint(out, "\x1b[H\x1b[2J"+strings.ReplaceAll(shown.String(), "\n", "\r\n"))
}
