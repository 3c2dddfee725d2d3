package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// prompter asks a person for a line.
type prompter interface {
	// ask shows a prompt and reads a line, without spaces at its ends. complete
	// gives the words that begin like one. io.EOF: there are no more lines.
	ask(prompt string, complete func(start string) []string) (string, error)
	// close leaves the terminal as it was, be it that somebody is still asked.
	close()
}

// newPrompter edits lines on a terminal, and reads them plainly from elsewhere.
func newPrompter(in io.Reader, out io.Writer) (prompter, error) {
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

// reader shows what it has read, so that what comes out reads as a terminal does.
type reader struct {
	lines *bufio.Reader
	out   io.Writer
}

func (r *reader) close() {}

func (r *reader) ask(prompt string, _ func(string) []string) (string, error) {
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

// editor is raw only while it reads, so that everything else can write as usual.
type editor struct {
	file     *os.File
	before   *term.State
	terminal *term.Terminal
}

func (e *editor) close() { term.Restore(int(e.file.Fd()), e.before) }

func (e *editor) ask(prompt string, complete func(string) []string) (string, error) {
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

// common is the beginning that all words share.
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
