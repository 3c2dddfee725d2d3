package person

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Prompter asks a person for a line.
type Prompter interface {
	// Ask shows a prompt and reads a line, without spaces at its ends. complete
	// returns the words that begin with start. The error is io.EOF at the end of input.
	Ask(prompt string, complete func(start string) []string) (string, error)
	// Close restores the terminal, even during Ask.
	Close()
}

// NewPrompter returns a Prompter with line editing on a terminal, and a plain one
// elsewhere.
func NewPrompter(in io.Reader, out io.Writer) (Prompter, error) {
	file, ok := in.(*os.File)
	screen, outOK := out.(*os.File)
	if ok && outOK && term.IsTerminal(int(file.Fd())) && term.IsTerminal(int(screen.Fd())) {
		before, err := term.GetState(int(file.Fd()))
		if err != nil {
			return nil, fmt.Errorf("play: the terminal: %w", err)
		}
		lines := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{file, screen}, "")
		return &editor{file, before, lines}, nil
	}
	return &reader{lines: bufio.NewReader(in), out: out}, nil
}

// reader echoes what it reads, so that the output looks like that of a terminal.
type reader struct {
	lines *bufio.Reader
	out   io.Writer
}

func (r *reader) Close() {}

func (r *reader) Ask(prompt string, _ func(string) []string) (string, error) {
	fmt.Fprint(r.out, prompt)
	line, err := r.lines.ReadString('\n')
	if err != nil && line == "" {
		fmt.Fprintln(r.out)
		return "", io.EOF
	}
	line = strings.TrimSpace(line)
	fmt.Fprintln(r.out, line)
	return line, nil
}

// editor makes the terminal raw only while it reads, so that others can write normally.
type editor struct {
	file     *os.File
	before   *term.State
	terminal *term.Terminal
}

func (e *editor) Close() { term.Restore(int(e.file.Fd()), e.before) }

func (e *editor) Ask(prompt string, complete func(string) []string) (string, error) {
	old, err := term.MakeRaw(int(e.file.Fd()))
	if err != nil {
		return "", fmt.Errorf("play: the terminal: %w", err)
	}
	defer term.Restore(int(e.file.Fd()), old)
	e.terminal.SetPrompt(prompt)
	e.terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		longer := common(complete(line))
		return longer, len(longer), len(longer) > len(line)
	}
	line, err := e.terminal.ReadLine()
	if err != nil {
		fmt.Fprint(e.terminal, "\n")
		return "", io.EOF // Ctrl-C and Ctrl-D as well
	}
	return strings.TrimSpace(line), nil
}

// common returns the longest common prefix of the words.
func common(words []string) string {
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
