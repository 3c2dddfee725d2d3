package referee

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/sandbox"
)

// Bot is a program that plays: how to start it, and how reports identify it.
type Bot struct {
	Name    string   // as in tables; unique in a match
	Version string   // from its manifest, else from its "ready"
	Command []string // the program and its arguments
	Dir     string   // its working directory; "" for the current one
	Hash    string   // SHA-256 of what runs, in hexadecimal

	Language string // of its program, for advice; "" if unknown
	Line     string // the BOT that a user wrote for it, for commands to type next; "" if unknown

	// Temp is the directory in which its process gets one of its own for temporary files, unless its
	// sandbox has one; "" for the system's.
	Temp string

	// Clock is the bot's own; nil for that of the match.
	Clock *Clock
	// Sandbox is how it is sandboxed; nil: it has all the rights of the referee.
	Sandbox *Sandbox

	// Serve, if not nil, plays instead of a process: a person, or a bot that is part of
	// this program. It reads the referee's lines and writes its own, as a process does
	// on stdin and stdout, until the input ends. If it returns an error while the game goes
	// on, the seat forfeits the game: for that reason if it is a fault.Reason, else for fault.Failed.
	Serve func(lines io.Reader, answers io.Writer) error
	// Untimed turns have no limit. The turn lines still have the times of its clock.
	Untimed bool
}

// tagName is the variable that marks all processes of a bot.
const tagName = "TIMBA_BOT"

// command prepares the process. Its TMPDIR is a separate temporary directory.
func (b Bot) command(scratch, tag string) *exec.Cmd {
	cmd := exec.Command(b.Command[0], b.Command[1:]...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), tagName+"="+tag, sandbox.Mark(), "TMPDIR="+scratch)
	return cmd
}

// notStarted returns the reason of a bot that could not be started; why is the system's
// reason.
func notStarted(b Bot, why string) fault.Reason {
	return fault.Reason{Kind: fault.NotStarted, Detail: why, Command: fault.Raw(strings.Join(b.Command, " "))}
}

// makeScratch makes a directory for the temporary files of a bot, "" for one that needs none: it is
// part of this program, or its sandbox has one. dropScratch removes it, or the guardian if this
// program is killed: it is registered before it is made.
func (b Bot) makeScratch() (string, error) {
	if b.Serve != nil || b.Sandbox != nil {
		return "", nil
	}
	dir := filepath.Join(cmp.Or(b.Temp, os.TempDir()), "timba-"+rand.Text())
	sandbox.Guard(dir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		sandbox.Unguard(dir)
		return "", fmt.Errorf("referee: making a directory for temporary files: %w", err)
	}
	return dir, nil
}

func dropScratch(dir string) {
	if dir == "" {
		return
	}
	os.RemoveAll(dir) // errors leave the rest in the system's temporary directory
	sandbox.Unguard(dir)
}
