package referee

import (
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/timba-arena/timba/sandbox"
)

// Bot is a program to play with: what is needed to start it and to say later
// what it was.
type Bot struct {
	Name    string   // as tables show it; no two bots of a match share one
	Version string   // as its manifest says; else what it says itself
	Command []string // the program and its arguments
	Dir     string   // where it runs; "" for here
	Hash    string   // SHA-256 of what runs, in hexadecimal

	// Hold is how a sandbox holds it; nil: it has all the rights of the referee.
	Hold *Hold

	// Serve, if not nil, plays in place of a process: a person, or a bot that is
	// part of the program. It reads the referee's lines and writes its own, as a
	// process does on stdin and stdout, until the lines end.
	Serve func(lines io.Reader, answers io.Writer) error
	// Untimed turns last as long as they take. The times told are those of the
	// match's clock all the same.
	Untimed bool
}

// tagName is the variable that marks all processes of a bot.
const tagName = "TIMBA_BOT"

// command prepares the process. It finds a folder of its own for files that it
// need not keep in TMPDIR.
func (b Bot) command(scratch, tag string) *exec.Cmd {
	cmd := exec.Command(b.Command[0], b.Command[1:]...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), tagName+"="+tag, sandbox.Mark(), "TMPDIR="+scratch)
	return cmd
}

// makeScratch makes a folder for the temporary files of a bot, which goes with
// dropScratch, or when this program is killed.
func makeScratch() (string, error) {
	dir, err := os.MkdirTemp("", "timba-")
	if err != nil {
		return "", fmt.Errorf("referee: a folder for temporary files: %w", err)
	}
	sandbox.Guard(dir)
	return dir, nil
}

func dropScratch(dir string) {
	os.RemoveAll(dir) // what cannot be removed stays in the system's folder for such
	sandbox.Unguard(dir)
}
