package person

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/timba-arena/timba/terminal/screen"
)

// Question is what a Prompter asks a person.
type Question struct {
	Text  string
	Until time.Time // end of the person's time; zero means no clock
	// Complete returns the words that begin with start, for completion by the Tab key.
	Complete func(start string) []string
}

// prompt returns the text of the question. If there is a deadline, the time left, rounded up to seconds, comes
// first.
func (q Question) prompt(now time.Time) string {
	if q.Until.IsZero() {
		return q.Text
	}
	left := int(max(0, q.Until.Sub(now)+time.Second-1) / time.Second)
	return fmt.Sprintf("[%d:%02d] %s", left/60, left%60, q.Text)
}

// Prompter asks a person to type lines.
type Prompter interface {
	// Ask reads a line, and removes spaces at its ends. The error is io.EOF at the end of the input and for Ctrl-C and
	// Ctrl-D, or the cause for which the context has ended. The terminal is in its normal mode when Ask returns.
	Ask(context.Context, Question) (string, error)
	// Close restores the mode that the terminal had at first. It may be called during Ask.
	Close()
}

// NewPrompter returns a Prompter with line editing if in and out are terminals, otherwise one that only reads lines.
func NewPrompter(in io.Reader, out io.Writer) (Prompter, error) {
	input := &pump{source: in, chunks: make(chan chunk, 1)}
	file, screen := screen.Terminal(in), screen.Terminal(out)
	if file != nil && screen != nil {
		before, err := term.GetState(int(file.Fd()))
		if err != nil {
			return nil, fmt.Errorf("play: the terminal: %w", err)
		}
		lines := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{input, screen}, "")
		return &editor{input, file, screen, before, lines}, nil
	}
	return &reader{input: input, lines: bufio.NewReader(input), out: out}, nil
}

// pump is a reader whose Read returns when ctx ends, even without data. Data that arrives after that is returned by
// the next Read.
type pump struct {
	source  io.Reader
	ctx     context.Context
	chunks  chan chunk
	pending bool // a goroutine is reading from source
	chunk
}

type chunk struct {
	data []byte
	err  error
}

func (p *pump) Read(b []byte) (int, error) {
	if len(p.data) == 0 && p.err == nil {
		if !p.pending {
			p.pending = true
			go func() {
				buffer := make([]byte, 4096)
				n, err := p.source.Read(buffer)
				p.chunks <- chunk{buffer[:n], err}
			}()
		}
		select {
		case p.chunk = <-p.chunks:
			p.pending = false
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(b, p.data)
	p.data = p.data[n:]
	if n > 0 {
		return n, nil
	}
	return 0, p.err
}

// reader is a Prompter that only reads lines. It writes each line to out, so that the output looks like that of a
// terminal.
type reader struct {
	input *pump
	lines *bufio.Reader
	out   io.Writer
}

func (r *reader) Close() {}

func (r *reader) Ask(ctx context.Context, q Question) (string, error) {
	fmt.Fprint(r.out, q.prompt(time.Now()))
	r.input.ctx = ctx
	line, err := r.lines.ReadString('\n')
	if err != nil && (line == "" || ctx.Err() != nil) {
		fmt.Fprintln(r.out)
		return "", err
	}
	line = strings.TrimSpace(line)
	fmt.Fprintln(r.out, line)
	return line, nil
}

// editor is a Prompter with which a person can edit the line. The terminal is in raw mode only during Ask, so
// that at other times text can be written to it normally.
type editor struct {
	input    *pump
	file     *os.File
	screen   *os.File
	before   *term.State
	terminal *term.Terminal
}

func (e *editor) Close() { term.Restore(int(e.file.Fd()), e.before) }

func (e *editor) Ask(ctx context.Context, q Question) (string, error) {
	old, err := term.MakeRaw(int(e.file.Fd()))
	if err != nil {
		return "", fmt.Errorf("play: the terminal: %w", err)
	}
	defer term.Restore(int(e.file.Fd()), old)
	e.resize()
	e.input.ctx = ctx
	e.terminal.SetPrompt(q.prompt(time.Now()))
	e.terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		longer := commonPrefix(q.Complete(line))
		return longer, len(longer), len(longer) > len(line)
	}
	stop := e.countDown(q)
	line, err := e.terminal.ReadLine()
	stop()
	if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
		io.WriteString(e.screen, "\r\n") // the typed text stays visible
		return "", err
	}
	return strings.TrimSpace(line), nil
}

func (e *editor) resize() {
	if width, height, err := term.GetSize(int(e.screen.Fd())); err == nil && width > 0 {
		e.terminal.SetSize(width, height)
	}
}

// clockTick is the time between two updates of the time that the prompt shows.
const clockTick = 200 * time.Millisecond

// countDown starts to update the time left in the prompt, until the caller calls stop. The text that the person has
// typed stays.
func (e *editor) countDown(q Question) (stop func()) {
	if q.Until.IsZero() {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(clockTick)
		defer ticker.Stop()
		shown := q.prompt(time.Now())
		for {
			select {
			case <-done:
				return
			case now := <-ticker.C:
				if text := q.prompt(now); text != shown {
					shown = text
					e.resize()
					e.terminal.SetPrompt(text)
					e.terminal.Write(nil) // draws the line again
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	start := words[0]
	for _, word := range words[1:] {
		for !strings.HasPrefix(word, start) {
			start = start[:len(start)-1]
		}
	}
	return start
}
